"""What the author says of a case for those who select and read: `tags slow, regression`, `level recommended`."""

from __future__ import annotations

import re
from difflib import get_close_matches

from mkeyspec.diagnostics.diagnostic import Diagnostics, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast

_HYPHENS = re.compile(r"[a-z]\w*(-[a-z]\w*)+")

LEVELS = ("mandatory", "recommended", "optional")
"""Of a case: the first is that of a case that names none, and only its failures make a run fail."""


class Labels:
    """The tags and the level of a case, or of all cases of a file."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        self.tags: list[str] = []
        self.level = ""
        self.places: dict[str, Span] = {}
        """Of the words said here, not for the whole file."""

    def copy(self) -> Labels:
        """For a case: the labels of the whole file, to which it adds tags, and whose level it may replace."""
        other = Labels(self.diagnostics)
        other.tags = self.tags.copy()
        other.level = self.level
        return other

    def take(self, line: ast.Step) -> bool:
        """Whether `line` is one of these; its mistakes are reported."""
        word = line.verb.text
        if word not in ("tags", "level"):
            return False
        words = [*_words(line)]
        if any(one is None for one in words) or not words or (word == "level" and len(words) > 1):
            help = "tags slow, regression" if word == "tags" else "level recommended"
            takes = "takes names, with commas between them" if word == "tags" else f"is one of {', '.join(LEVELS)}"
            only = line.operand if not more(line) else None
            said = "" if only is None else only.span.source.text[only.span.start : only.span.end]
            if _HYPHENS.fullmatch(said):
                help = f"write `{said.replace('-', '_')}`"
            if isinstance(only, ast.Text) and only.value.isidentifier() and only.value.islower():
                help = f"write `{only.value}`"
            self.diagnostics.error("MKS0123", f"`{word}` {takes}", (only or line).span, help=help)
            return True
        for name in words:
            assert name is not None
            self._tag(name) if word == "tags" else self._level(name)
        return True

    def _tag(self, name: ast.Name) -> None:
        if name.text in self.places:
            self._twice(f"the tag `{name.text}` is given twice", name.span, self.places[name.text])
            return
        self.places[name.text] = name.span
        if name.text not in self.tags:
            self.tags.append(name.text)

    def _level(self, name: ast.Name) -> None:
        if name.text not in LEVELS:
            close = get_close_matches(name.text, LEVELS, 1)
            help = f"did you mean `{close[0]}`?" if close else f"it is one of {', '.join(LEVELS)}"
            self.diagnostics.error("MKS0123", f"there is no level `{name.text}`", name.span, help=help)
        elif " " in self.places:
            self._twice("a case has one level", name.span, self.places[" "])
        else:
            self.places[" "] = name.span
            self.level = name.text

    def _twice(self, message: str, span: Span, first: Span) -> None:
        self.diagnostics.error("MKS0123", message, span, notes=(Note("the first one is here", first),))


def _words(line: ast.Step) -> list[ast.Name | None]:
    """The names after the verb; None for what is none."""
    rest = line.peer or line.phrases or line.value or line.block or line.claim or line.branch or line.known
    if rest or line.operand is None:
        return [None]
    first = line.operand
    found: list[ast.Name | None] = [ast.Name(first.span, first.name) if isinstance(first, ast.Ref) else None]
    return found + [None if one.but or one.value is not None else one.name for one in line.modifiers]


def more(line: ast.Step) -> bool:
    """Whether a step has anything besides its verb and operand."""
    return bool(
        line.peer
        or line.phrases
        or line.value
        or line.modifiers
        or line.block
        or line.claim
        or line.branch
        or line.known
    )
