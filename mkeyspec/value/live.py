"""Numbers and bytes that only the device knows: the rig reads them when the case runs.

A `Live` names a member of a declared name, a labelled step, or the device (`k.max_entries`, `c.byte_len`,
`device.max_wr_memcpy_length`). The rig decides what can be read. This module only stores the expression and evaluates
it with a function that reads.
"""

from __future__ import annotations

import operator as op
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

from typing_extensions import TypeIs, assert_never

from mkeyspec.value.expression import Expression

if TYPE_CHECKING:
    from mkeyspec.value.bytestring import ByteString

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class Live(Expression):
    """`subject.member`: subject is a declared name, a label, or "device"."""

    subject: str
    member: str


@dataclass(frozen=True, slots=True, repr=False)
class LiveOp(Expression):
    """Arithmetic on `Int`s: one argument for `-` (negation) and `~`, two for the others (keys of `OPERATORS`)."""

    operator: str
    args: tuple[Int, ...]

    def inside(self) -> tuple[object, ...]:
        return self.args


Int = int | Live | LiveOp


def is_known(value: Int | None) -> TypeIs[int]:
    """Whether a number is known before the case runs; a live one comes from the device, None is not given."""
    return isinstance(value, int)


def lives_in(value: Int) -> Iterator[Live]:
    """The device's numbers that a number is made of."""
    match value:
        case int():
            return
        case Live():
            yield value
        case LiveOp():
            for argument in value.args:
                yield from lives_in(argument)
        case _:
            assert_never(value)


def known_number(value: Int | None) -> int | None:
    """The number where it is there before the case runs, else None."""
    return value if isinstance(value, int) else None


class NoValue(ValueError):
    """An expression has no value on this device: a division by zero, a number that its encoding can't hold."""


Read = Callable[[str, str], int | bytes]
"""Reads what is live: (subject, member) -> its value now; the member `content` of a snapshot is its bytes."""

OPERATORS: dict[tuple[str, int], Callable[..., int]] = {
    ("+", 2): op.add,
    ("-", 2): op.sub,
    ("*", 2): op.mul,
    ("/", 2): op.floordiv,
    ("%", 2): op.mod,
    ("&", 2): op.and_,
    ("|", 2): op.or_,
    ("^", 2): op.xor,
    ("<<", 2): op.lshift,
    (">>", 2): op.rshift,
    ("-", 1): op.neg,
    ("~", 1): op.invert,
}
"""The language's integer operators by (text, number of operands); `/` is whole-number division, rounded down."""

MOST_BITS = 128
"""Bits of the largest number that arithmetic may give, known or live: the language's limit on numbers."""

MEMBER_TYPES = {"errno": "errno", "status": "status"}
"""Live members that are not numbers: an errno's name (0: the call went through), and a completion status."""

WIDTHS = {
    "addr": 64, "lkey": 32, "rkey": 32,  # struct ibv_sge
    "max_entries": 16,  # struct mlx5dv_mkey_init_attr
    "qpn": 24, "number": 24,  # numbers of QPs and DCTs have 24 bits
}  # fmt: skip
"""Bits of live members; those that are not named here have 32."""

ENCODINGS = {"be16": 2, "be32": 4, "be64": 8, "le16": 2, "le32": 4, "le64": 8}
"""The language's integer encodings and their size in bytes."""


def number_at(encoding: str, subject: str, start: int) -> Live:
    """The number that is at byte `start` of a buffer, or of a wire (`wire_subject`), when it is read."""
    return Live(subject, f"{encoding}@{start}")


def wire_subject(label: str | None) -> str:
    """The subject of numbers out of the wire of a labelled transmit, or of the last one; no name is spelt so."""
    return f"@{label or ''}"


def let_subject(name: str) -> str:
    """The subject of numbers out of the bytes that the rig took for the `let` of `name`; no name is spelt so."""
    return f"={name}"


def place_of(value: Live) -> tuple[str, int] | None:
    """The encoding and the first byte of a `number_at`; None of another live number."""
    encoding, at, start = value.member.partition("@")
    return (encoding, int(start)) if at else None


KEYS = ("lkey", "rkey")
"""Live members that a `retag` changes."""


def number_before(member: str, tags: int) -> str:
    """The member of an mkey for one of `KEYS` as it was after so many changes of the tag."""
    return f"{member}~{tags}"


def before_tag(value: T, mkey: str, tags: int) -> T:
    """`value` with the keys of an mkey as they are before its next tag; the same object where it has none of them."""

    def kept(live: Live) -> Live:
        if live.subject == mkey and live.member in KEYS:
            return Live(live.subject, number_before(live.member, tags))
        return live

    return replaced(value, kept)


def replaced(value: T, change: Callable[[Live], Live]) -> T:
    """`value` with each live number in it changed; the same object where none changes."""

    def inside(items: tuple[object, ...]) -> tuple[Any, ...]:
        return tuple([replaced(one, change) for one in items])

    changed: object = value
    match value:
        case Live():
            changed = change(value)
        case LiveOp(operator, args):
            changed = LiveOp(operator, inside(args))
        case LiveBytes(encoding, number):
            changed = LiveBytes(encoding, replaced(number, change))
        case LiveJoin(parts):
            changed = LiveJoin(inside(parts))
        case tuple() if type(value) is tuple:
            changed = inside(value)
        case _:
            pass  # no such number is in it
    return value if changed == value else changed  # type: ignore[return-value]  # of the same class


def bits_of(value: Live) -> int:
    """The bits that a live number has."""
    found = place_of(value)
    return WIDTHS.get(value.member.partition("~")[0], 32) if found is None else 8 * ENCODINGS[found[0]]


def called(value: Live) -> str:
    """As a case writes it: `k.rkey`, `be32_at(m, 8)`."""
    found = place_of(value)
    if found is None:
        member, then, _ = value.member.partition("~")
        return f"{value.subject}.{member}" + (" as it was before `retag`" if then else "")
    subject = value.subject
    if subject.startswith("="):
        return subject[1:]
    if subject.startswith("@"):
        subject = f"{subject[1:]}.wire" if subject != "@" else "wire"
    return f"{found[0]}_at({subject}, {found[1]})"


@dataclass(frozen=True, slots=True, repr=False)
class LiveBytes(Expression):
    """An `Int` encoded as bytes by one of `ENCODINGS`, e.g. `be32(k.rkey)`."""

    encoding: str
    value: Int

    @property
    def length(self) -> int:
        return ENCODINGS[self.encoding]

    def inside(self) -> tuple[object, ...]:
        return (self.value,)

    def __len__(self) -> int:
        return self.length


@dataclass(frozen=True, slots=True, repr=False)
class LiveContent(Expression):
    """`length` bytes from `start` of those that the rig took as `name` (`plan.Snapshot`)."""

    name: str
    length: int
    start: int = 0

    def __len__(self) -> int:
        return self.length


@dataclass(frozen=True, slots=True, repr=False)
class LiveJoin(Expression):
    """Known and live bytes concatenated."""

    parts: tuple[ByteString | LiveBytes | LiveContent, ...]

    @property
    def length(self) -> int:
        return sum(part.length for part in self.parts)

    def inside(self) -> tuple[object, ...]:
        return self.parts

    def __len__(self) -> int:
        return self.length


LiveString = LiveBytes | LiveContent | LiveJoin
"""Bytes of a known length of which some are read from the device."""


def pieces_of(data: ByteString | LiveString) -> tuple[ByteString | LiveBytes | LiveContent, ...]:
    """The byte strings that `data` is made of, in order: those of a join, or itself alone."""
    return data.parts if isinstance(data, LiveJoin) else (data,)


def live_join(parts: tuple[ByteString | LiveString, ...]) -> LiveJoin:
    """`parts` as one string; joins inside it are flattened."""
    flat: list[ByteString | LiveBytes | LiveContent] = []
    for part in parts:
        flat.extend(pieces_of(part))
    return LiveJoin(tuple(flat))


@overload
def evaluate(value: Int, read: Read) -> int: ...
@overload
def evaluate(value: ByteString | LiveString, read: Read) -> bytes: ...
def evaluate(value: Int | ByteString | LiveString, read: Read) -> int | bytes:
    """The value now. Raises NoValue where it has none (division by zero, a number its encoding cannot hold)."""
    match value:
        case int():
            return value
        case Live():
            number = read(value.subject, value.member)
            if not isinstance(number, int):
                raise NoValue(f"{value.subject}.{value.member} is not a number")
            return number
        case LiveOp():
            return apply(value.operator, tuple(evaluate(argument, read) for argument in value.args))
        case LiveBytes():
            return encode(value.encoding, evaluate(value.value, read))
        case LiveContent():
            content = read(value.name, "content")
            if not isinstance(content, bytes):
                raise NoValue(f"{value.name} is not a snapshot")
            return content[value.start : value.start + value.length]
        case LiveJoin():
            return b"".join(evaluate(part, read) for part in value.parts)
        case _:
            return value.data


def apply(operator: str, args: tuple[int, ...]) -> int:
    """One of `OPERATORS` on ints; ValueError if it is none, or the result is not defined."""
    function = OPERATORS.get((operator, len(args)))
    if function is None:
        raise ValueError(f"no operator `{operator}` takes {len(args)} numbers")
    if operator in ("<<", ">>"):
        number, count = args
        if count < 0:
            raise NoValue(f"shifted by a negative number: {count}")
        if operator == "<<" and number and number.bit_length() + count > MOST_BITS:
            raise NoValue(f"a number of more than {MOST_BITS} bits")
    try:
        result = function(*args)
    except ZeroDivisionError:
        raise NoValue("division by zero") from None
    if result.bit_length() > MOST_BITS:
        raise NoValue(f"a number of more than {MOST_BITS} bits")
    return result


def width(value: Int) -> int | None:
    """The bits that `value` may have, carries of a sum left out; None where that is unknown, or it may be negative.

    A number that has more bits here than its place has does not fit there on most devices.
    """
    match value:
        case int():
            return None if value < 0 else value.bit_length()
        case Live():
            return bits_of(value)
        case LiveOp():
            return _width_of_result(value)
        case _:
            assert_never(value)


def _width_of_result(value: LiveOp) -> int | None:
    widths = [width(argument) for argument in value.args]
    if len(widths) == 1:
        return None
    left, right = widths
    by = value.args[1]
    if value.operator == "&":
        known = [bits for bits in (left, right) if bits is not None]
        return min(known) if known else None
    if left is None or right is None:
        return None
    if value.operator == "<<":
        return left + by if is_known(by) else None
    if value.operator == ">>":
        return max(left - by, 0) if is_known(by) else left
    if value.operator == "*":
        return left + right - 1 if is_known(by) and by else left + right
    if value.operator == "/":
        return max(left - right + 1, 0) if is_known(by) else left
    if value.operator == "%":
        return min(left, right)
    return max(left, right)


def encode(encoding: str, value: int) -> bytes:
    """`value` in one of `ENCODINGS`. ValueError if it does not fit; negative numbers do not."""
    size = ENCODINGS.get(encoding)
    if size is None:
        raise ValueError(f"no encoding `{encoding}`")
    if not 0 <= value < 1 << 8 * size:
        raise NoValue(f"{value:#x} does not fit into {encoding}")
    return value.to_bytes(size, "big" if encoding.startswith("be") else "little")
