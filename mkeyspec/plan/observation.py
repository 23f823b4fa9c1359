"""What an expectation looks at, and what it compares that with."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Optional, Union

from typing_extensions import TypeIs

from mkeyspec.value.bytestring import ByteString, Literal
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Live, LiveContent, LiveJoin, LiveOp, LiveString


@dataclass(frozen=True, slots=True)
class Content:
    """What is in these parts of registered buffers now, concatenated (an mkey is the parts of its layout)."""

    parts: tuple[Part, ...]
    name: str = ""
    """How the case calls it, for messages."""


@dataclass(frozen=True, slots=True)
class Wire:
    """What the last transmit (or the one labelled) put on the wire, from `start`, `length` bytes."""

    length: int
    start: int = 0
    label: Optional[str] = None


@dataclass(frozen=True, slots=True)
class Any:
    """Whatever is there; `length` None: all of it."""

    length: Optional[int] = None


@dataclass(frozen=True, slots=True)
class Masked:
    """Bytes of which only the bits of `mask`, as long as `data`, are compared; the others of `data` are 0."""

    data: bytes
    mask: bytes

    @property
    def length(self) -> int:
        return len(self.data)

    def filled(self, got: bytes) -> bytes:
        """`data` with what was got in the bits that are not compared; 0 where nothing was got."""
        got = got[: self.length].ljust(self.length, b"\0")
        return bytes([want | (have & ~bits) for want, bits, have in zip(self.data, self.mask, got, strict=True)])


@dataclass(frozen=True, slots=True)
class Unchanged:
    """What was there when the last step began."""


@dataclass(frozen=True, slots=True)
class OneOf:
    alternatives: tuple[Expected, ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """Byte strings, `Any(n)` and `Masked`, concatenated."""

    items: tuple[Union[ByteString, Any, Masked], ...]

    def inside(self) -> tuple[object, ...]:
        """The values that it is made of."""
        return self.items


def masked(data: bytes, mask: bytes) -> Union[Any, Masked, Sequence]:
    """`data` where some bits are not compared: whole bytes are `Any`, or byte strings; `Masked` are only the others."""
    items: list[Union[ByteString, Any, Masked]] = []
    at = 0
    for kind, run in groupby(mask, lambda bits: bits if bits in (0, 0xFF) else 1):
        end = at + len(tuple(run))
        if kind == 1:
            items.append(Masked(data[at:end], mask[at:end]))
        else:
            items.append(Literal(data[at:end]) if kind else Any(end - at))
        at = end
    only = items[0]
    return only if len(items) == 1 and not isinstance(only, ByteString) else Sequence(tuple(items))


Observed = Union[Content, Wire, Live, LiveOp]


Expected = Union[ByteString, LiveString, Any, Masked, Unchanged, OneOf, Sequence, int, str, Live, LiveOp, bool]
"""int, str, Live and LiveOp are compared with a live scalar (`k.max_entries`, `c.errno`: the errno's name or 0)."""


def is_bytes(observed: Observed) -> TypeIs[Union[Content, Wire]]:
    """Whether byte strings are compared; else live scalars."""
    return isinstance(observed, (Content, Wire))


def is_content(observed: Observed) -> TypeIs[Content]:
    """Whether bytes of buffers are looked at."""
    return isinstance(observed, Content)


def parts_of(observed: Observed) -> tuple[Part, ...]:
    """The parts of buffers that it looks at; a wire has none, and neither has a scalar."""
    return observed.parts if isinstance(observed, Content) else ()


def alternatives_of(expected: Expected) -> tuple[Expected, ...]:
    """What is admitted: each of several, or the one thing."""
    return expected.alternatives if isinstance(expected, OneOf) else (expected,)


def is_any(expected: Expected) -> TypeIs[Any]:
    return isinstance(expected, Any)


def is_masked(expected: Expected) -> TypeIs[Masked]:
    return isinstance(expected, Masked)


def takes_all(expected: Expected) -> bool:
    """Whether any bytes match, `any` alone or in a sequence."""
    match expected:
        case Sequence(items):
            return all(is_any(item) or item.length == 0 for item in items)
        case _:
            return is_any(expected)


def items_of(expected: Expected) -> tuple[Expected, ...]:
    """The items of a sequence, or the pieces of live bytes, in order; or the one thing."""
    match expected:
        case Sequence(items):
            return items
        case LiveJoin(parts):
            return parts
        case _:
            return (expected,)


def taken_at(place: str, step: int) -> str:
    """The name of the snapshot of a place which an expectation before step `step` is compared with."""
    return f"{place} at {step}"


def place_taken(name: str) -> str:
    """What a case calls the bytes of a snapshot: the name of its `let`, or the place."""
    return name.partition(" in turn ")[0].partition(" at ")[0]


def snapshots_in(expected: Expected) -> tuple[str, ...]:
    """The snapshots that it takes bytes of, by name."""
    return tuple(item.name for item in items_of(expected) if isinstance(item, LiveContent))
