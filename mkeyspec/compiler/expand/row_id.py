"""The names of a row's values in its id: `n=1,op=send,domain=crc32(ones)_every_512`.

The text of a value is the text in the file, if it is short and on one line, or the value's own text if it came from a
list. Other values need labels. Ids are ASCII without blanks and quotes, so they are safe in a shell, in `pytest -k`
and in an XML report.
"""

from __future__ import annotations

import re
from typing import Optional

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.compiler.eval.values import (
    Errno,
    Flags,
    Function,
    Handle,
    Poison,
    UserFunction,
    Value,
    WireRef,
    Word,
)
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString, Literal
from mkeyspec.value.layout import Chunk, Interleaved, List, Part, Repeated
from mkeyspec.value.live import Live, LiveBytes, LiveContent, LiveJoin, LiveOp
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif

LONGEST = 60
"""Characters; a longer text is replaced by the value's number (`item3`)."""

_COMMENT = re.compile(r"#[^\n]*")
_BLANKS = re.compile(r"\s+")
_AROUND_SIGNS = re.compile(r"_?([-+*/%&|^~<>=!,.:]+)_?")


def clean(text: str) -> str:
    """`text` in the characters of an id: no blanks around signs, `_` for the others, no quotes, ASCII."""
    text = _BLANKS.sub("_", text.strip().replace('"', ""))
    if not text.isascii() or not text.isprintable() or "\\" in text:
        text = "".join(c if c.isascii() and c.isprintable() and c != "\\" else f"u{ord(c):04x}" for c in text)
    return text or "empty"


def text_of(expr: ast.Expr) -> Optional[str]:
    """The text of an expression in its file; None if it is too long."""
    match expr:
        case ast.Text(value=text):
            return _short(clean(text))
        case ast.Ref(name=name):
            return name
        case _:
            return _as_written(expr)


def _as_written(expr: ast.Expr) -> Optional[str]:
    text = expr.span.source.text[expr.span.start : expr.span.end]
    if "\n" in text:
        text = _COMMENT.sub("", text)
    return _short(_AROUND_SIGNS.sub(r"\1", clean(text)))


def name_of(value: Value) -> Optional[str]:
    """The text of a value that came out of a list; None where it has no short one."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case int():
            return str(value)
        case str():
            return _short(clean(value))
        case Word() | Errno() | Handle() | Function() | UserFunction():
            return value.name
        case Flags():
            return "|".join(value.names) or "0"
        case Literal():
            return _short(value.value.hex() or "empty")
        case Range():
            return f"{value.start}+:{value.length}"
        case Crc() | T10Dif() | Domain():
            return None if value.but else _short(_AROUND_SIGNS.sub(r"\1", clean(value.describe())))
        case tuple():
            texts = [name_of(item) for item in value]
            return _short("-".join(text for text in texts if text)) if texts and all(texts) else None
        case ByteString() | LiveBytes() | LiveContent() | LiveJoin() | Live() | LiveOp() | WireRef():
            return None
        case Part() | Chunk() | Repeated() | List() | Interleaved():
            return None
        case plan.Any() | plan.Masked() | plan.Unchanged() | plan.OneOf() | plan.Sequence() | Poison():
            return None
        case _:
            assert_never(value)


def _short(text: str) -> Optional[str]:
    return text if len(text) <= LONGEST else None
