"""An mkey of a running case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Optional

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device import protocol
from mkeyspec.plan import At
from mkeyspec.value.signature import Domain

if TYPE_CHECKING:
    from mkeyspec.run.evidence import Due

Domains = tuple[Optional[Domain], Optional[Domain]]
Fills = Sequence[tuple[Optional["MkeyState"], int]]
"""The pieces that a message fills in turn: each the signature mkey that it is of, or None, and its wire bytes."""


class Setting(NamedTuple):
    """What a configuration sets: how many `earlier` keys it has replaced, and the domains and the entries; None: as
    they were."""

    by: Due
    replaced: int
    domains: Domains | None
    entries: tuple[MkeyState, ...] | None


class MkeyState:
    """An mkey of the case. `refused`: the errno's name, if the last mlx5dv_mkey_check of it was refused; `destroyed`:
    by the case; `earlier`: its keys (lkey, rkey) before each change of its tag; `settings`: what was posted to it. What
    was flushed or cancelled has set nothing."""

    __slots__ = ("at", "destroyed", "earlier", "flags", "handle", "name", "refused", "settings")

    def __init__(self, name: str, at: At, flags: int, handle: protocol.Mkey) -> None:
        self.name = name
        self.at = at
        self.flags = flags
        self.handle = handle
        self.earlier: list[tuple[int, int]] = []
        self.settings: list[Setting] = []
        self.refused = ""
        self.destroyed = False

    @property
    def configured(self) -> int:
        """How many of the `earlier` keys a configuration has replaced on the device."""
        return next((one.replaced for one in self._in_force()), 0)

    def domains_at(self, request: Due) -> list[Domains]:
        """Its signature's memory and wire when this request is carried out: one, or several where the configuration
        before it may have been cancelled or not."""
        found: list[Domains] = []
        for one in self._in_force():
            if one.domains is not None and one.by.is_before(request):
                found.append(one.domains)
                if not (one.by.doubtful or one.by.perhaps):
                    return found
        return [*found, (None, None)]

    @property
    def entries(self) -> tuple[MkeyState, ...]:
        """The mkeys that its layout names."""
        return next((one.entries for one in self._in_force() if one.entries is not None), ())

    def _in_force(self) -> Iterator[Setting]:
        """The last one first."""
        return (one for one in reversed(self.settings) if not one.by.still)

    @property
    def signed(self) -> bool:
        return bool(self.flags & MkeyFlag.BLOCK_SIGNATURE)


def byte_lens(fills: Fills, length: int, request: Due) -> tuple[int, ...]:
    """The allowed values of byte_len for `length` wire bytes of this request that fill these pieces in turn: each the
    signature mkey that it is of, or None, and its wire bytes. Of each such mkey the count on the wire or in memory
    (X-OPEN-17). By the configurations that are known now to be carried out before it."""
    of_key: Counter[MkeyState] = Counter()
    left = length
    for mkey, room in fills:
        part = min(room, left)
        left -= part
        if mkey is not None:
            of_key[mkey] += part
    found = [length]
    for mkey, part in of_key.items():
        more = [_stored(part, *domains) - part for domains in mkey.domains_at(request)]
        found += [one + some for one in found for some in more]
    return tuple(dict.fromkeys(found))


def _stored(part: int, memory: Domain | None, wire: Domain | None) -> int:
    """Bytes in memory of so many on the wire."""
    data = part - (part // wire.frame) * wire.signature.field_size if wire is not None else part
    return data + (data // memory.block) * memory.signature.field_size if memory is not None else data
