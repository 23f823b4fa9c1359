"""The abstract machine: what memory holds, what each key is configured to, and the bytes of each message.

It is written from docs/design/data-path.md and shares nothing with any device: the layouts and the arithmetic are those
of the references.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mkeyspec.generate.blocks import Report, moved, readings
from mkeyspec.generate.domain import Domain, Signature
from mkeyspec.reference import xts
from mkeyspec.reference.layout import Segment, Strip, interleaved, window


class Open(Exception):
    """What the pages leave open decides this message: it is not to be drawn."""


@dataclass(slots=True)
class Memory:
    """Registered memory. `known`: the case knows its bytes."""

    name: str
    data: bytearray
    known: bool = True


@dataclass(frozen=True, slots=True)
class Layout:
    """`strips`: an entry each, of a memory or of another key. `turns` of an interleaved layout; 1 of a list."""

    strips: tuple[Strip, ...]
    turns: int = 1
    strided: bool = False


@dataclass(frozen=True, slots=True)
class Crypto:
    """Crypto attributes. `before`: signature_before_crypto_on_tx."""

    name: str
    key: bytes
    tweak: int
    unit: int
    encrypt: bool
    before: bool
    keytag: bool = False

    def fits(self, length: int) -> bool:
        """Whether so many bytes are data units: whole ones, or whole AES blocks with 16 to unit - 16 bytes in the last
        unit (mlx5dv_wr_set_mkey_crypto(3), data_unit_size)."""
        rest = length % self.unit
        return length > 0 and (not rest or (length % 16 == 0 and 16 <= rest <= self.unit - 16))

    def encrypted(self, data: bytes) -> bytes:
        return xts.encrypt(data, self.key, self.tweak, self.unit)

    def decrypted(self, data: bytes) -> bytes:
        return xts.decrypt(data, self.key, self.tweak, self.unit)


@dataclass(slots=True)
class Key:
    """A key and its state. `usable`: configured, and in a state that the pages define."""

    name: str
    block_signature: bool = False
    crypto_flag: bool = False
    update_tag: bool = False
    remote_invalidate: bool = False
    access: frozenset[str] = frozenset()
    layout: Layout | None = None
    signature: Signature | None = None
    crypto: Crypto | None = None
    unread: Report | None = None
    told_by: Domain | None = None
    """The domain whose block the unread error is of."""
    came: set[tuple[str, int]] = field(default_factory=set)
    """Kind and frame of the domains that messages had since the last mkey_check: the language takes one for a block."""
    usable: bool = False
    spent: bool = False
    """A configuration must come before the next message: an error was reported (HW-06)."""
    counted: bool = False
    """A signature setter must come before the next message: its tags were counted (X-OPEN-07)."""
    above: list[str] = field(default_factory=list)
    """Keys whose layout names this one."""


class Machine:
    """All memories and keys of one case."""

    def __init__(self) -> None:
        self.memories: dict[str, Memory] = {}
        self.keys: dict[str, Key] = {}

    def pieces(self, layout: Layout) -> list[Segment]:
        """The layout as segments of memories, through any keys that it names."""
        found: list[Segment] = []
        for name, start, length in interleaved(layout.turns, layout.strips):
            inner = self.keys.get(name)
            if inner is None:
                found.append((name, start, length))
            else:
                assert inner.layout is not None
                found += window(self.pieces(inner.layout), start, length)
        return found

    def length(self, layout: Layout) -> int:
        """Bytes of its space."""
        return layout.turns * sum(count for _, _, count, _ in layout.strips)

    def gathered(self, layout: Layout, start: int, length: int) -> bytes:
        """Bytes of the space, in order."""
        return b"".join(
            bytes(self.memories[name].data[at : at + size])
            for name, at, size in window(self.pieces(layout), start, length)
        )

    def scatter(self, layout: Layout, start: int, data: bytes) -> None:
        """Write to the space, in order."""
        done = 0
        for name, at, size in window(self.pieces(layout), start, len(data)):
            self.memories[name].data[at : at + size] = data[done : done + size]
            done += size

    def forget(self, layout: Layout) -> None:
        """The content of the space is unknown."""
        for name, _, _ in self.pieces(layout):
            self.memories[name].known = False

    def mem_length(self, key: Key, wire: int) -> int:
        """Bytes of memory under so many wire bytes, of whole frames."""
        if key.signature is None:
            return wire
        return key.signature.raw_of_wire(wire) // key.signature.block * key.signature.mem_frame

    def sent(self, key: Key, wire: int, offset: int = 0) -> tuple[bytes, Report | None]:
        """What goes out on the wire, of `wire` bytes, and the report. Raises Open."""
        assert key.layout is not None
        stream = self.gathered(key.layout, offset, self.mem_length(key, wire))
        return through(key.signature, key.crypto, stream, tx=True)

    def landed(self, key: Key, wire: bytes, offset: int = 0) -> tuple[bytes, Report | None]:
        """What is put into memory, and the report. Raises Open."""
        assert key.layout is not None
        stream, report = through(key.signature, key.crypto, wire, tx=False)
        self.scatter(key.layout, offset, stream)
        if report is not None:  # whether it is put there all the same: X-OPEN-10
            self.forget(key.layout)
        return stream, report


def through(
    signature: Signature | None, crypto: Crypto | None, stream: bytes, *, tx: bool
) -> tuple[bytes, Report | None]:
    """A message through a key's attributes, in the order of mlx5dv_wr_set_mkey_crypto(3). Raises Open."""
    if crypto is None:
        return _signed(signature, stream, tx=tx)
    turned = crypto.encrypted if crypto.encrypt == tx else crypto.decrypted
    # The signature is nearer to memory than the cipher where it comes first on TX.
    if crypto.before == tx:
        out, report = _signed(signature, stream, tx=tx)
        return turned(out), report
    return _signed(signature, turned(stream), tx=tx)


def _signed(signature: Signature | None, stream: bytes, *, tx: bool) -> tuple[bytes, Report | None]:
    if signature is None:
        return stream, None
    first, *others = (moved(signature, stream, tx=tx, reading=one) for one in readings(signature))
    if any(one != first for one in others):
        raise Open
    return first
