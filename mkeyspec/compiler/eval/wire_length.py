"""How many bytes a transfer has on either side of the signature (language reference, "Short forms").

A work request's length counts wire bytes. With B and s the block and field size of a domain,
data without any fields is `raw` bytes, memory holds raw / B_m * (B_m + s_m), the wire raw / B_w * (B_w + s_w).
"""

from __future__ import annotations

from mkeyspec.value.signature import Domain, Domains


class Uneven(Exception):
    """A length that is not a whole number of blocks; `message` names the domain.

    `blocks`: how many there are in front of the rest. `unit`: bytes of one, as they are counted here. `domain`: whose
    they are.
    """

    def __init__(self, message: str, blocks: int, unit: int, domain: Domain) -> None:
        super().__init__(message)
        self.message = message
        self.blocks = blocks
        self.unit = unit
        self.domain = domain


def wire_of_memory(length: int, domains: Domains) -> int:
    """Wire bytes of `length` bytes of layout; `Uneven` if they are not a whole number of the domains' blocks."""
    mem, wire = domains
    raw = length
    if mem is not None:
        raw = _whole(length, mem.frame, mem, "in memory") * mem.block
    return raw if wire is None else _whole(raw, wire.block, wire, "on the wire") * wire.frame


def _whole(length: int, unit: int, domain: Domain, where: str) -> int:
    count, rest = divmod(length, unit)
    if rest:
        message = f"{length} bytes are not a whole number of {unit}, which is one block of {domain.describe()} {where}"
        raise Uneven(message, count, unit, domain)
    return count


def explain_wire(length: int, domains: Domains) -> str:
    """Why the wire has `length` bytes: "wire is 2 × (512 + 4): the wire domain adds …"; "" where it is plain."""
    mem, wire = domains
    if wire is not None and length % wire.frame == 0:
        return (
            f"wire is {length // wire.frame} × ({wire.block} + {wire.signature.field_size}): "
            f"the wire domain {wire.describe()} adds {wire.signature.field_size} bytes to each block"
        )
    if mem is not None and length % mem.block == 0:
        return (
            f"wire is {length // mem.block} × {mem.block}: "
            f"the memory domain {mem.describe()} takes {mem.signature.field_size} bytes from each block"
        )
    return ""
