"""Python text of typed values, laid out for people.

Everything here is a `repr`: a leaf is Python's own, a value of the value room is its class's, and
what is too long for a line is broken into one argument a line. Nothing else can reach a generated
module, so a title, a name or a byte string can never become code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import Enum
from typing import Any, Union

from mkeyspec import plan
from mkeyspec.abi.constants import Access, CryptoOrder, MkeyFlag, QpOps
from mkeyspec.plan import At
from mkeyspec.value.expression import HEX, PLAIN, Expression, Style, number

WIDTH = 110
"""Columns of a line of generated code."""

_MEMBERS: Style = "members"
"""Of pairs of a member's name and its value."""

_STYLES: dict[tuple[type, str], Style] = {
    (plan.Memory, "access"): Access.__name__,
    (plan.Mkey, "flags"): MkeyFlag.__name__,
    (plan.Qp, "members"): _MEMBERS,
    (plan.SetAccess, "flags"): Access.__name__,
    (plan.SetCrypto, "order"): CryptoOrder.__name__,
    (plan.MrList, "access"): Access.__name__,
    (plan.MrInterleaved, "access"): Access.__name__,
}
"""How numbers of members of the plan's classes are written; a value's class says it itself."""

_HEX_MEMBERS = frozenset({"check_mask", "copy_mask", "imm", "tag", "tweak"})
"""Members that engineers read in hexadecimal. What a bit of a mask means depends on the signature."""

_MEMBER_STYLES: dict[str, Style] = {"send_ops": QpOps.__name__}

_HEX_RUN = 64
"""Hex digits on one line of a long byte string."""


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """Text in brackets that may be broken: `head(`, items, `)`. Items are (prefix, document); prefix is `name=`."""

    head: str
    items: tuple[tuple[str, Document], ...]
    tail: str
    flat: str
    """The same on one line."""


Document = Union[str, Group]


def call(name: str, items: list[tuple[str, Document]]) -> Group:
    return _group(name + "(", items, ")")


def _group(head: str, items: list[tuple[str, Document]], tail: str) -> Group:
    inside = ", ".join([prefix + flat(document) for prefix, document in items])
    if head == "(" and len(items) == 1:
        inside += ","
    return Group(head, tuple(items), tail, f"{head}{inside}{tail}")


def flat(document: Document) -> str:
    return document if isinstance(document, str) else document.flat


def layout(document: Document, indent: int, before: int = 0, after: int = 0) -> str:
    """The text of a document; `before` and `after` columns of its first and last line are taken by something else."""
    text = flat(document)
    if isinstance(document, str) or indent + before + len(text) + after <= WIDTH:
        return text
    if len(document.items) == 1 and isinstance(document.items[0][1], Group) and document.head != "(":
        # Only one argument: hug it, as in rig.step(Memory(...)).
        prefix, inner = document.items[0]
        opening = document.head + prefix
        return f"{opening}{layout(inner, indent, before + len(opening), after + 1)}{document.tail}"
    pad = " " * (indent + 4)
    comma = "" if document.head == "bytes.fromhex(" else ","
    lines = [document.head]
    for prefix, item in document.items:
        lines.append(f"{pad}{prefix}{layout(item, indent + 4, len(prefix), 1)}{comma}")
    lines.append(" " * indent + document.tail)
    return "\n".join(lines)


class Printer:
    """Turns values into documents and remembers which names they need. One per module: texts are shared by identity."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._memo: dict[tuple[int, Style, bool], tuple[Any, Document]] = {}
        self._in_column = False
        self._styles: dict[tuple[type, str], Style] = {}
        self._fields: dict[type, tuple[tuple[str, Any], ...]] = {}

    def style(self, kind: type, member: str) -> Style:
        """How the numbers of a member of a class are written."""
        key = kind, member
        found = self._styles.get(key)
        if found is None:
            otherwise = HEX if member in _HEX_MEMBERS else PLAIN
            styles = kind.styles.get(member, PLAIN) if issubclass(kind, Expression) else _STYLES.get(key, otherwise)
            found = self._styles[key] = styles
        return found

    def _note(self, text: str) -> None:
        """A number is written by name: `CrcType.CRC32`, `Access.REMOTE_READ | 0x200`, `ONES_32`."""
        name = text.partition(".")[0]
        if name.isidentifier():
            self.names.add(name)

    def step(self, step: Any) -> Group:
        """The document of a step of the plan."""
        document = self.document(step)
        assert isinstance(document, Group)
        return document

    def column(self, value: Any, style: Style) -> Document:
        """The document of a value of a column, which stands above the loops: no `turn` is known there."""
        self._in_column = True
        try:
            return self.document(value, style)
        finally:
            self._in_column = False

    def document(self, value: Any, style: Style = PLAIN) -> Document:
        """The document of a value, its numbers written in `style`."""
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return repr(value)
        if kind is int:
            if not style:
                return repr(value)
            text = number(value, style)
            if style not in (PLAIN, HEX):
                self._note(text)
            return text
        if kind is bytes:
            return _bytes(value)
        if kind is range:
            return repr(value)
        if kind is At:
            return self._at(value)
        if isinstance(value, Enum):
            return self.document(value.value, style)
        key = (id(value), style, self._in_column)
        held = self._memo.get(key)
        if held is None:
            # The value is held too, so that its id stays its own.
            held = self._memo[key] = (value, self._structure(value, style))
        return held[1]

    def _at(self, value: At) -> str:
        place = f"{int(value.line)}, {int(value.column)}"
        if value.turn is None:
            self.names.add("At")
            return f"At({place})"
        if not self._in_column:  # such a step is in the loop of its `repeat`
            return f"turn.at({place})"
        self.names |= {"At", "Turn"}
        return f"At({place}, Turn({', '.join(str(int(number)) for number in value.turn)}))"

    def _structure(self, value: Any, style: Style) -> Document:
        kind = type(value)
        if kind is tuple:
            if style == _MEMBERS and len(value) == 2 and type(value[0]) is str:
                style = _MEMBER_STYLES.get(value[0], PLAIN)
            return _group("(", [("", self.document(item, style)) for item in value], ")")
        if not dataclasses.is_dataclass(kind):
            raise TypeError(f"a generated module can't hold a {kind.__name__}")
        self.names.add(kind.__name__)
        items = self._members(value) if isinstance(value, Expression) else self.arguments(value)
        return call(kind.__name__, items)

    def _members(self, value: Expression) -> list[tuple[str, Document]]:
        """Arguments of a value as its own `repr` has them: positional, trailing defaults left out."""
        fields = self.fields(type(value))[: positional(value, self.fields(type(value)))]
        return [("", self.document(getattr(value, name), value.styles.get(name, PLAIN))) for name, _ in fields]

    def arguments(self, value: Any) -> list[tuple[str, Document]]:
        """Arguments of a plan's class: positional as far as it asks for them, then by name those off their default."""
        items: list[tuple[str, Document]] = []
        for name, default in self.fields(type(value)):
            member = getattr(value, name)
            if default is dataclasses.MISSING:
                items.append(("", self.document(member, self.style(type(value), name))))
            elif not same(member, default):
                items.append((f"{name}=", self.document(member, self.style(type(value), name))))
        return items

    def fields(self, kind: type) -> tuple[tuple[str, Any], ...]:
        """(name, default or MISSING) of each constructor argument."""
        known = self._fields.get(kind)
        if known is None:
            # What is not compared is not part of the value: the origin of a step.
            found = [field for field in dataclasses.fields(kind) if field.init and field.compare]
            known = tuple((field.name, field.default) for field in found)
            self._fields[kind] = known
        return known


def positional(value: Expression, fields: Sequence[tuple[str, Any]]) -> int:
    """How many arguments of a value its `repr` has: trailing defaults are left out."""
    count = len(fields)
    while count and fields[count - 1][1] is not dataclasses.MISSING:
        name, default = fields[count - 1]
        if getattr(value, name) != default:
            break
        count -= 1
    return count


def same(a: object, b: object) -> bool:
    """Equal and of one type: `True` is not 1 in a generated module."""
    return a is b or (type(a) is type(b) and a == b)


def all_same(values: Sequence[object]) -> bool:
    first = values[0]
    return all(value is first for value in values) or all(same(value, first) for value in values)


def _bytes(value: bytes) -> Document:
    if value.isascii() and value.decode("ascii").isprintable():
        return repr(value)
    digits = value.hex()
    runs = [repr(digits[at : at + _HEX_RUN]) for at in range(0, len(digits), _HEX_RUN)]
    whole = _group("bytes.fromhex(", [("", run) for run in runs], ")")
    return dataclasses.replace(whole, flat=f"bytes.fromhex({digits!r})")
