"""One finding for one mistake: which errors come of another one, and are not shown.

Each pass goes on after an error, so a name that is not declared is missed at each of its uses, and what is read beside
an unknown word is wrong, too. The user corrects the first error, and the others are gone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from mkeyspec.diagnostics.diagnostic import Diagnostic
from mkeyspec.diagnostics.source import Source

_UNKNOWN = re.compile(r"nothing is called `(\w+)`")
_CASE = re.compile(r"^[ \t]*case\b", re.MULTILINE)
_STATEMENT_ENDS = re.compile(r"[;}\n]|$")
_TWICE = re.compile(r"`(\w+)` is declared twice")
_TOO_SHORT = re.compile(r"layout too short: .* needs? (\d+) bytes in memory, `(\w+)` has (\d+)")
_LENGTHS = re.compile(r"(\d+) bytes compared with (\d+)")
_STRANGE_WORD = ("MKS0210", "MKS0212")
"""A verb or a line that does not exist: the meaning of its words is unknown."""
_OF_A_WORD = frozenset(["MKS0103", "MKS0110", "MKS0111", "MKS0112", "MKS0113"])
"""A word, number, text or sign that can't be read; what is found beside it comes of that."""


def _line(error: Diagnostic) -> tuple[int, int]:
    source = error.span.source
    return id(source), source.location(error.span.start).line


def consequences(errors: Iterable[Diagnostic]) -> set[int]:
    """The identities of those of `errors`, in the order of their places, that come of another one."""
    sources: dict[int, _Source] = {}
    gone: set[int] = set()
    errors = [error for error in errors if error.span.source.text]
    no_edition = {id(error.span.source): error.span.start for error in errors if error.code == "MKS0101"}
    misspelt = {_line(error) for error in errors if error.code in _OF_A_WORD}
    last: tuple[int, int, str] | None = None
    for error in errors:
        here_again = (*_line(error), error.message)
        sign = not error.span.source.text[error.span.start : error.span.start + 1].isalpha()
        above = None if last is None else (last[0], last[1] + 1, last[2])
        if sign and "begins with" in error.message and above == here_again:
            gone.add(id(error))  # `- LST-01` in each line
        last = here_again
        if id(error) in gone:
            continue
        if error.code.startswith("MKS01") and error.code not in _OF_A_WORD and _line(error) in misspelt:
            gone.add(id(error))
            continue
        if _of_the_edition(error, no_edition):
            gone.add(id(error))
            continue
        here = sources.setdefault(id(error.span.source), _Source(error.span.source))
        if here.caused(error):
            gone.add(id(error))
    return gone


def _of_the_edition(error: Diagnostic, missing: dict[int, int]) -> bool:
    """Whether a file begins with something else than `mks`, and `error` is of that, or of the `mks` below it."""
    place = missing.get(id(error.span.source))
    if place is None or error.code == "MKS0101":
        return False
    number = error.span.source.location(error.span.start).line
    first = number == 1 and not error.span.source.line(number).startswith("mks")
    return "`mks`" in error.message or first


class _Source:
    """What has been found so far in a file."""

    def __init__(self, source: Source) -> None:
        self.text = source.text
        self.cases = [found.start() for found in _CASE.finditer(source.text)]
        self.library_lost = False
        """A `use` failed: names may be those of the file that could not be read."""
        self.lost: set[int] = set()
        """Cases with a declaration that failed: names may be what it would have declared."""
        self.twice: set[tuple[int, str]] = set()
        """Names with two declarations, and their cases; 0: of the file. Their uses may mean the other one."""
        self.too_short: set[tuple[int, str, frozenset[str]]] = set()
        """Buffers that are too short for the blocks of a layout, with their cases, their lengths and what is needed."""
        self.missed: set[tuple[int, str]] = set()
        self.unread = 0
        """The end of the text of a statement, or of a line between braces, of which a word is unknown."""
        self.beside = 0
        """The end of a line in which a name is unknown."""

    def caused(self, error: Diagnostic) -> bool:
        """Whether `error` comes of one before."""
        at = error.span.start
        case = bisect_right(self.cases, at)
        if error.code.startswith("MKS08"):
            self.library_lost = True
        elif error.code == "MKS0203":
            self.lost.add(case)
            if (twice := _TWICE.fullmatch(error.message)) is not None:
                self.twice.add((case, twice[1]))
        elif error.code == "MKS0302" and self._means_the_other(error, case):
            return True
        elif (short := _TOO_SHORT.fullmatch(error.message)) is not None:
            self.too_short.add((case, short[2], frozenset([short[1], short[3]])))
        elif (lengths := _LENGTHS.fullmatch(error.message)) is not None and self._of_its_length(error, case, lengths):
            return True
        name = _UNKNOWN.fullmatch(error.message)
        if name is not None and error.code == "MKS0202":
            return self._unknown(error, (case, name[1]), case)
        if error.code.startswith("MKS01"):
            return False
        if at < max(self.unread, self.beside):
            return True
        if error.code in _STRANGE_WORD:
            self.unread = self._end(error.span.end)
        return False

    def _means_the_other(self, error: Diagnostic, case: int) -> bool:
        """Whether a value of another type is one of a name that has been declared twice."""
        word = self.text[error.span.start : error.span.end]
        return (case, word) in self.twice or (0, word) in self.twice

    def _of_its_length(self, error: Diagnostic, case: int, lengths: re.Match[str]) -> bool:
        """Whether a buffer is compared with what would be in it if it were as long as it must be."""
        words = set(re.findall(r"\w+", self.text[error.span.start : error.span.end]))
        found = frozenset(lengths.groups())
        return any(one == (case, name, found) for one in self.too_short for name in words)

    def _unknown(self, error: Diagnostic, name: tuple[int, str], case: int) -> bool:
        self.beside = max(self.beside, self.text.find("\n", error.span.end) % (len(self.text) + 1))
        maybe_lost = (self.library_lost or case in self.lost) and not error.help.startswith("did you mean")
        again = name in self.missed
        self.missed.add(name)
        return again or maybe_lost or error.span.start < self.unread

    def _end(self, at: int) -> int:
        found = _STATEMENT_ENDS.search(self.text, at)
        return len(self.text) if found is None else found.start()
