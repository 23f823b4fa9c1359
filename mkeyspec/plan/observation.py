"""What an expectation looks at, and what it holds that against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from typing_extensions import TypeIs

from mkeyspec.value.bytestring import ByteString
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
class Unchanged:
    """What was there when the last step began."""


@dataclass(frozen=True, slots=True)
class OneOf:
    alternatives: tuple[Expected, ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """Byte strings and `Any(n)`, concatenated."""

    items: tuple[Union[ByteString, Any], ...]

    def inside(self) -> tuple[object, ...]:
        """The values that it is made of."""
        return self.items


Observed = Union[Content, Wire, Live, LiveOp]


Expected = Union[ByteString, LiveString, Any, Unchanged, OneOf, Sequence, int, str, Live, LiveOp, bool]
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
    """The name of the snapshot of a place which an expectation before step `step` is held against."""
    return f"{place} at {step}"


def place_taken(name: str) -> str:
    """What a case calls the bytes of a snapshot: the name of its `let`, or the place."""
    return name.partition(" at ")[0]


def snapshots_in(expected: Expected) -> tuple[str, ...]:
    """The snapshots that it takes bytes of, by name."""
    return tuple(item.name for item in items_of(expected) if isinstance(item, LiveContent))
