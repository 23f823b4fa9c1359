"""Builds values (expressions) from the grammar's rules; `builder.py` builds lines and statements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mkeyspec.diagnostics import limits
from mkeyspec.diagnostics.diagnostic import Diagnostics, Edit
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.syntax import ast
from mkeyspec.syntax.ast import Name
from mkeyspec.syntax.lexer import Token

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

_COMPARED = str.maketrans(dict.fromkeys("0123456789abcdefABCDEF", "f") | {"?": "0"})
"""Of each digit, and of `?`, the bits that are compared."""

Children = list[Any]
"""The children of a rule: tokens, and the nodes of the rules in it."""


class Values:
    """The callbacks for values. `source` and `diagnostics` are set for the file that is parsed now."""

    source: Source
    diagnostics: Diagnostics

    def _name(self, token: Token) -> Name:
        return Name(Span(self.source, token.start_pos, token.end_pos), token.value)

    def _error(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        help: str = "",
        page: str = "",
        fix: tuple[Edit, ...] = (),
    ) -> None:
        self.diagnostics.error(code, message, Span(self.source, start, end), help=help, page=page, fix=fix)

    # Expressions

    def binary(self, c: Children) -> ast.Binary:
        left, operator, right = c
        return ast.Binary(Span(self.source, left.span.start, right.span.end), operator.value, left, right)

    def not_in(self, c: Children) -> ast.Binary:
        left, _, _, right = c
        return ast.Binary(Span(self.source, left.span.start, right.span.end), "not in", left, right)

    def unary(self, c: Children) -> ast.Unary:
        operator, operand = c
        return ast.Unary(Span(self.source, operator.start_pos, operand.span.end), operator.value, operand)

    def but(self, c: Children) -> ast.But:
        span = Span(self.source, c[0].span.start, c[3].span.end)
        return ast.But(span, c[0], self._name(c[2]), c[3])

    def range_to(self, c: Children) -> ast.Range:
        return ast.Range(Span(self.source, c[0].span.start, c[2].span.end), c[0], end=c[2])

    def range_width(self, c: Children) -> ast.Range:
        return ast.Range(Span(self.source, c[0].span.start, c[2].span.end), c[0], length=c[2])

    def number(self, c: Children) -> ast.Int:
        token = c[0]
        text = token.value
        span = Span(self.source, token.start_pos, token.end_pos)
        if text.isdecimal() and len(text) < 20:  # nearly all of them
            if text[0] == "0" and len(text) > 1:
                self._leading_zero(token)
            return ast.Int(span, int(text))
        if len(text) > 2 * limits.INT_BITS.most:
            value = 1 << (limits.INT_BITS.most + 1)
        elif text[-1] in _UNITS:
            value = int(text[:-1]) * _UNITS[text[-1]]
        elif text[:2] in ("0x", "0b"):
            value = int(text, 0)
        else:
            value = int(text)
            if text[0] == "0":
                self._leading_zero(token)
        if value.bit_length() > limits.INT_BITS.most:
            message = f"this number has {limits.INT_BITS.broken()}"
            self._error(limits.INT_BITS.code, message, token.start_pos, token.end_pos)
            value = 0
        return ast.Int(span, value)

    def _leading_zero(self, token: Token) -> None:
        self._error(
            "MKS0111",
            f"`{token.value}` begins with a zero",
            token.start_pos,
            token.end_pos,
            help="hexadecimal numbers begin with `0x`, binary ones with `0b`; there are no octal ones",
        )

    def ref(self, c: Children) -> ast.Ref:
        token = c[0]
        return ast.Ref(Span(self.source, token.start_pos, token.end_pos), token.value)

    def errno(self, c: Children) -> ast.Errno:
        token = c[0]
        return ast.Errno(Span(self.source, token.start_pos, token.end_pos), token.value)

    def text(self, c: Children) -> ast.Text:
        token = c[0]
        span = Span(self.source, token.start_pos, token.end_pos)
        return ast.Text(span, self._unescaped(token.value[1:-1], token.start_pos + 1))

    def _unescaped(self, text: str, start: int) -> str:
        if "\\" not in text:
            return text
        parts: list[str] = []
        at = 0
        while (slash := text.find("\\", at)) >= 0:
            parts += (text[at:slash], text[slash + 1])
            if text[slash + 1] not in '"\\':
                self._error(
                    "MKS0112",
                    f"no escape `{text[slash : slash + 2]}` in a text",
                    start + slash,
                    start + slash + 2,
                    help='only `\\"` and `\\\\` are',
                )
            at = slash + 2
        return "".join(parts) + text[at:]

    def hex_bytes(self, c: Children) -> ast.Bytes:
        token = c[0]
        span = Span(self.source, token.start_pos, token.end_pos)
        digits = token.value[4:-1]
        try:
            value = bytes.fromhex(digits.replace("?", "0"))
            return ast.Bytes(span, value, bytes.fromhex(digits.translate(_COMPARED)) if "?" in digits else None)
        except ValueError:
            pass
        bare = digits.replace(" ", "")
        wrong = next((i for i, d in enumerate(digits) if d not in "0123456789abcdefABCDEF? "), None)
        if wrong is not None:
            at = token.start_pos + 4 + wrong
            if digits[:2] in ("0x", "0X"):
                help = f'hex"{digits[2:]}"'
                fix = (Edit(Span(self.source, at - 1, at + 1), ""),)
                self._error("MKS0113", f"`{digits[:2]}` is not a digit", at - 1, at + 1, help=help, fix=fix)
            else:
                help = "hexadecimal digits are 0 to 9 and a to f"
                self._error("MKS0113", f"`{digits[wrong]}` is not a hexadecimal digit", at, at + 1, help=help)
        elif len(bare) % 2:
            self._error(
                "MKS0113",
                f"an odd number of hexadecimal digits: {len(bare)}",
                span.start,
                span.end,
                help="two digits make a byte",
            )
        else:
            self._error(
                "MKS0113",
                "a blank between the two digits of a byte",
                span.start,
                span.end,
                help="blanks are allowed between bytes only",
            )
        return ast.Bytes(span, b"")

    def ascii_bytes(self, c: Children) -> ast.Bytes:
        token = c[0]
        span = Span(self.source, token.start_pos, token.end_pos)
        text = self._unescaped(token.value[6:-1], token.start_pos + 6)
        if not text.isascii():
            wrong = next(i for i, d in enumerate(token.value) if not d.isascii())
            at = token.start_pos + wrong
            self._error(
                "MKS0113", f"`{token.value[wrong]}` is not an ASCII character", at, at + 1, help='write it as hex"…"'
            )
        return ast.Bytes(span, text.encode("ascii", "ignore"))

    def group(self, c: Children) -> ast.Expr:
        expr: ast.Expr = replace(c[1], span=Span(self.source, c[0].start_pos, c[2].end_pos))
        return expr

    def tuple_items(self, c: Children) -> list[ast.Expr]:
        if isinstance(c[0], list):
            items: list[ast.Expr] = c[0]
            items.append(c[2])
            return items
        return [c[0], c[2]]

    def tuple_of(self, c: Children) -> ast.Tuple:
        return ast.Tuple(Span(self.source, c[0].start_pos, c[-1].end_pos), tuple(c[1]))

    def items(self, c: Children) -> list[ast.Argument]:
        if len(c) == 1:
            return [c[0]]
        items: list[ast.Argument] = c[0]
        items.append(c[2])
        return items

    def item(self, c: Children) -> ast.Argument:
        return ast.Argument(c[0].span, c[0])

    def item_named(self, c: Children) -> ast.Argument:
        return ast.Argument(Span(self.source, c[0].start_pos, c[2].span.end), c[2], self._name(c[0]))

    def item_pair(self, c: Children) -> ast.Argument:
        item: ast.Argument = c[0]
        pair = ast.Pair(self._name(c[1]), c[2])
        span = Span(self.source, item.span.start, c[2].span.end)
        return ast.Argument(span, item.value, item.keyword, (*item.pairs, pair))

    def list_empty(self, c: Children) -> ast.List:
        return ast.List(Span(self.source, c[0].start_pos, c[1].end_pos), ())

    def list_of(self, c: Children) -> ast.List:
        return ast.List(Span(self.source, c[0].start_pos, c[-1].end_pos), tuple(c[1]))

    def comprehension(self, c: Children) -> ast.Comprehension:
        return ast.Comprehension(Span(self.source, c[0].start_pos, c[6].end_pos), c[1], self._name(c[3]), c[5])

    def call_empty(self, c: Children) -> ast.Call:
        return ast.Call(Span(self.source, c[0].span.start, c[2].end_pos), c[0], ())

    def call(self, c: Children) -> ast.Call:
        return ast.Call(Span(self.source, c[0].span.start, c[-1].end_pos), c[0], tuple(c[2]))

    def index(self, c: Children) -> ast.Index:
        return ast.Index(Span(self.source, c[0].span.start, c[3].end_pos), c[0], c[2])

    def index_open(self, c: Children) -> ast.Index:
        open_end = ast.Range(Span(self.source, c[2].span.start, c[3].end_pos), c[2])
        return ast.Index(Span(self.source, c[0].span.start, c[4].end_pos), c[0], open_end)

    def attribute(self, c: Children) -> ast.Attribute:
        return ast.Attribute(Span(self.source, c[0].span.start, c[2].end_pos), c[0], self._name(c[2]))
