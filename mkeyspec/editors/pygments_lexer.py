"""A lexer of Pygments, under the name `mks`: of the compiler's own lexer and tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

_KINDS: dict[str, Any] = {
    "STRING": String, "HEX": String.Other, "ASCII": String.Other, "INT": Number, "REQ": Name.Label, "CODE": Name.Label,
    "ERRNO": Name.Constant, "NEWLINE": Whitespace, "SEMI": Punctuation, "COMMA": Punctuation, "COLON": Punctuation,
    "LPAR": Punctuation, "RPAR": Punctuation, "LSQB": Punctuation, "RSQB": Punctuation, "LBRACE": Punctuation,
    "RBRACE": Punctuation, "NAME": Name,
}  # fmt: skip
_WORDS: dict[str, Any] = {
    "keyword": Keyword,
    "verb": Name.Builtin,
    "field": Name.Attribute,
    "function": Name.Function,
    "value": Name.Constant,
}


@cache
def _words() -> dict[str, Any]:
    from mkeyspec.editors.words import classes

    return {word: _WORDS[kind] for kind, words in classes().items() for word in words}


class MksLexer(Lexer):  # type: ignore[misc]  # Pygments has no types
    """`.mks` files. The compiler is loaded when the first text is read, and not when Pygments looks for lexers."""

    name = "mkeyspec"
    aliases = ["mks", "mkeyspec"]  # noqa: RUF012  # as Pygments has it
    filenames = ["*.mks"]  # noqa: RUF012
    url = "https://pypi.org/project/mkeyspec/"

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """Each part of the text, once, in order."""
        from mkeyspec.syntax.parser import words_of

        tokens, comments = words_of(text)
        parts = [(start, end, Comment.Single) for start, end in comments]
        words = _words()
        for token in tokens:
            kind = _KINDS.get(token.type, Error if token.type.startswith("BAD") else Operator)
            if token.value.isidentifier():
                kind = words.get(token.value, kind)
            parts.append((token.start_pos, token.end_pos, kind))
        at = 0
        for start, end, kind in sorted(parts, key=lambda part: part[0]):
            if start > at:
                yield at, Whitespace, text[at:start]
            yield start, kind, text[start:end]
            at = end
        if at < len(text):
            yield at, Text, text[at:]
