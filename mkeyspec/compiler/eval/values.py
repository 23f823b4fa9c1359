"""Values of expressions: between the tree and the plan.

Values that reach the plan are the classes of `mkeyspec.value` and `mkeyspec.plan` themselves. This module adds those
of the compiler: words, flag sets, handles of declared objects, functions. Every value is immutable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, TypeGuard, Union

from typing_extensions import TypeIs

from mkeyspec import plan
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Chunk, Interleaved, List, Part, Repeated
from mkeyspec.value.live import Int, Live, LiveBytes, LiveContent, LiveJoin, LiveOp
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif

if TYPE_CHECKING:
    from mkeyspec.compiler.eval.buffer_contents import BufferContents
    from mkeyspec.compiler.eval.scope import Scope
    from mkeyspec.diagnostics.diagnostic import Diagnostic
    from mkeyspec.diagnostics.source import Span


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the pages: `send` (kind op), `remote_read` (kind access, value 4), `zeros` (kind seed)…

    `value` is the page's number if the word has one.
    """

    kind: str
    name: str
    value: Optional[int] = None


@dataclass(frozen=True, slots=True)
class Flags:
    """`remote_read | remote_write`: flag words of one kind, ORed. `names` in the order they were written."""

    kind: str
    value: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Errno:
    """`EINVAL`."""

    name: str


@dataclass(frozen=True, slots=True)
class Handle:
    """A declared object: memory, mkey, qp, pd, dek, dct, label, or the word `device`.

    `length` in bytes where it is fixed at the declaration (memory); an mkey's is its layout's, which
    `BufferContents.length` knows. `peer`: it belongs to the other endpoint. Of a label, `step`: the verb of the
    statement, and `shows`: the members that it has.
    """

    kind: str
    name: str
    length: Optional[int] = None
    peer: bool = False
    step: str = field(default="", repr=False)
    shows: tuple[str, ...] = field(default=(), repr=False)
    moment: Optional[Moment] = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WireRef:
    """`wire` (label None: the last transmit's), `t.wire`, or a range of it; `length` None: to its end."""

    label: Optional[str] = None
    start: int = 0
    length: Optional[int] = None
    moment: Optional[Moment] = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class PartThen(Part):
    """A part that a `let` has named; a plan has only its place."""

    moment: Optional[Moment] = field(default=None, compare=False)


class Moment(NamedTuple):
    """The position of a `let` of a place: before step `position` of the row; `ledger` is the content known there.

    `name` is what the bytes are called in the plan, `place` all that the `let` (or this item of its list) names.
    `moved`: a request has written there and no expectation has looked since, so only the rig knows the bytes.
    """

    name: str
    place: Reference
    at: plan.At
    position: int
    ledger: BufferContents
    span: Span
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function: its name, the kind of value it takes (`coercion.KINDS`), its default as written."""

    name: str
    kind: str
    default: Optional[str] = None
    keyword_only: bool = False
    several: bool = False
    """Takes all further positional arguments."""


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of the language. `call` gets the coerced arguments by position, `None` where one is left out."""

    name: str
    parameters: tuple[Parameter, ...]
    result: str
    doc: str
    call: Callable[..., Value] = field(repr=False)

    def __str__(self) -> str:
        """`framed(data, domain, app_tags=[]) -> bytes`."""
        return f"{self.name}({', '.join(parameter_text(p) for p in self.parameters)}) -> {self.result}"


def parameter_text(parameter: Parameter) -> str:
    """A parameter as a signature shows it: `data`, `bit=0`, `seed=`, `ref…`."""
    if parameter.several:
        return parameter.name + "…"
    if parameter.default is not None:
        return f"{parameter.name}={parameter.default}"
    return parameter.name + "=" if parameter.keyword_only else parameter.name


@dataclass(frozen=True, slots=True, eq=False)
class UserFunction:
    """`let f(x) = …`, and the scope it was written in."""

    name: str
    parameters: tuple[str, ...]
    body: ast.Expr
    scope: Scope = field(repr=False)


@dataclass(frozen=True, slots=True)
class Poison:
    """The meaning of a name whose value is in error: using it repeats the diagnostic, which is kept once."""

    diagnostic: Diagnostic


Signature = Union[Crc, T10Dif]
Layout = Union[List, Interleaved]
Pattern = Union[plan.Any, plan.Masked, plan.Unchanged, plan.OneOf, plan.Sequence]
Reference = Union[Handle, Part, WireRef]
"""A reference to bytes: in a buffer, in an mkey's layout, on the wire."""

Value = Union[
    int, bool, str, None, Word, Flags, Errno, ByteString, Range, tuple["Value", ...], Crc, T10Dif, Domain, List,
    Interleaved, Part, Chunk, Repeated[Any], Handle, WireRef, Live, LiveOp, LiveBytes, LiveContent, LiveJoin,
    plan.Any,
    plan.Masked, plan.Unchanged, plan.OneOf, plan.Sequence, Function, UserFunction, Poison,
]  # fmt: skip

LIVE_INT = (Live, LiveOp)
LIVE_BYTES = (LiveBytes, LiveContent, LiveJoin)

BUFFER_KINDS = ("memory", "mkey")
"""Kinds of handle that are byte strings."""

FLAG_KINDS = ("access", "t10dif_flag", "mask", "qp_op", "mkey_flag", "send_flag")
"""Kinds of word that are ORed with `|` and can be used as a number."""


# What a value is. A value that is narrowed by a TypeGuard may be of the same class where the answer is no.


def is_number(value: object) -> TypeGuard[int]:
    """An int that is known at expansion; yes and no are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_live(value: object) -> TypeIs[Union[Live, LiveOp]]:
    """A number, or an errno or status, that the rig reads."""
    return isinstance(value, LIVE_INT)


def is_live_bytes(value: object) -> TypeIs[Union[LiveBytes, LiveContent, LiveJoin]]:
    """Bytes of which the rig reads some."""
    return isinstance(value, LIVE_BYTES)


def is_known_bytes(value: object) -> TypeIs[ByteString]:
    """Bytes as a value, not as what a buffer holds."""
    return isinstance(value, ByteString)


def is_list(value: Value) -> TypeIs[tuple[Value, ...]]:
    return isinstance(value, tuple)


def is_buffer(value: object) -> TypeGuard[Union[Part, Handle]]:
    """A memory or an mkey, or a part of one."""
    return isinstance(value, Part) or (isinstance(value, Handle) and value.kind in BUFFER_KINDS)


def is_wire(value: object) -> TypeIs[WireRef]:
    return isinstance(value, WireRef)


def is_reference(value: object) -> TypeGuard[Reference]:
    """A buffer, an mkey, a part of one, or the wire."""
    return is_wire(value) or is_buffer(value)


def is_signature(value: object) -> TypeIs[Signature]:
    return isinstance(value, (Crc, T10Dif))


def is_handle(value: object, *kinds: str) -> TypeGuard[Handle]:
    """A declared object, of one of `kinds` if there are some."""
    return isinstance(value, Handle) and (not kinds or value.kind in kinds)


def is_word(value: object, *kinds: str) -> TypeGuard[Word]:
    """A word of the pages, of one of `kinds` if there are some."""
    return isinstance(value, Word) and (not kinds or value.kind in kinds)


def is_flags(value: object) -> TypeGuard[Union[Word, Flags]]:
    """A flag word, or several ORed."""
    return isinstance(value, Flags) or is_word(value, *FLAG_KINDS)


def number_of(value: object) -> Optional[int]:
    """The number of an int or of flags; None for other values."""
    if isinstance(value, Flags) or is_word(value, *FLAG_KINDS):
        return value.value
    return int(value) if is_number(value) else None


def moment_of(value: Value) -> Optional[Moment]:
    """The time at which the bytes of a place count: at the `let` that named it; None: now."""
    return value.moment if isinstance(value, (PartThen, WireRef, Handle)) else None


__all__ = [
    "BUFFER_KINDS", "FLAG_KINDS", "LIVE_BYTES", "LIVE_INT", "Errno", "Flags", "Function", "Handle", "Int", "Layout",
    "Moment", "Parameter", "PartThen", "Pattern", "Poison", "Reference", "Signature", "UserFunction", "Value",
    "WireRef", "Word", "is_buffer", "is_flags", "is_handle", "is_known_bytes", "is_list", "is_live", "is_live_bytes",
    "is_number", "is_reference", "is_signature", "is_wire", "is_word", "moment_of", "number_of", "parameter_text",
]  # fmt: skip
