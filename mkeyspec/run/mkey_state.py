"""An mkey of a running case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device import protocol
from mkeyspec.plan import At
from mkeyspec.value.signature import Domain


class MkeyState:
    """An mkey of the case. `entries`: the mkeys that its layout names; `domains`: its signature's memory and wire;
    `refused`: the errno's name, if the last mlx5dv_mkey_check of it was refused; `destroyed`: by the case;
    `earlier`: its keys (lkey, rkey) before each change of its tag; `configured`: how many of these a configuration has
    replaced on the device."""

    __slots__ = ("at", "configured", "destroyed", "domains", "earlier", "entries", "flags", "handle", "name", "refused")

    def __init__(self, name: str, at: At, flags: int, handle: protocol.Mkey) -> None:
        self.name = name
        self.at = at
        self.flags = flags
        self.handle = handle
        self.earlier: list[tuple[int, int]] = []
        self.configured = 0
        self.entries: tuple[MkeyState, ...] = ()
        self.domains: tuple[Domain | None, Domain | None] = (None, None)
        self.refused = ""
        self.destroyed = False

    @property
    def signed(self) -> bool:
        return bool(self.flags & MkeyFlag.BLOCK_SIGNATURE)


def byte_lens(fills: Sequence[tuple[MkeyState | None, int]], length: int) -> tuple[int, ...]:
    """The allowed values of byte_len for `length` wire bytes that fill these pieces in turn: each the signature mkey
    that it is of, or None, and its wire bytes. Of each such mkey the count on the wire or in memory (X-OPEN-17)."""
    of_key: Counter[MkeyState] = Counter()
    left = length
    for mkey, room in fills:
        part = min(room, left)
        left -= part
        if mkey is not None:
            of_key[mkey] += part
    found = [length]
    for mkey, part in of_key.items():
        memory, wire = mkey.domains
        data = part - (part // wire.frame) * wire.signature.field_size if wire is not None else part
        stored = data + (data // memory.block) * memory.signature.field_size if memory is not None else data
        found += [one + stored - part for one in found]
    return tuple(dict.fromkeys(found))
