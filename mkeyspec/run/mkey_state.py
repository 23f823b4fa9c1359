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

    @property
    def domains(self) -> Domains:
        """Its signature's memory and wire."""
        return next((one.domains for one in self._in_force() if one.domains is not None), (None, None))

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
