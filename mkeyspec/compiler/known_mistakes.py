"""A second look at the lines with errors: what a user who knows C, Python or the man pages meant there.

Each pass reports what it cannot read. Here the text of a line that has an error is compared with the table
`mistakes/mistakes.toml`: known mistakes, each with its cause, what to write, and the correction. The first row that
fits takes the place of all errors of that line, which it caused. A line without an error is never looked at.
"""

from __future__ import annotations

import errno
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from mkeyspec.compiler.causes import consequences
from mkeyspec.compiler.forms import with_form
from mkeyspec.compiler.stopped import elsewhere, why
from mkeyspec.compiler.wanted import with_wanted
from mkeyspec.diagnostics.diagnostic import Diagnostic, Diagnostics, Edit, TooManyErrors, corrected
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.files import resource
from mkeyspec.syntax.parser import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GENERAL = "MKS0122"
"""The code of a row that names none: it is written in another way."""

LONGEST = 300
"""Characters of a line that is compared; the time of a pattern may grow with their square, and people write less."""

TRIED = 200_000
"""Characters that are read again, over all corrections of a file that are tried before they are proposed."""

_TEXT = re.compile(r'"(?:\\.|[^"\\])*"|#.*')


@dataclass(frozen=True, slots=True)
class Mistake:
    """A row of the table. `says`, `help` and the texts of `edits` name groups of `line` in braces."""

    line: re.Pattern[str]
    """Searched in the line; comments are blanks in it, the words of texts are `·`. The group `at` is what is wrong."""
    says: str
    help: str
    code: str
    edits: tuple[tuple[str, str], ...]
    """Groups, and what takes their places."""
    when: frozenset[str]
    """Codes, one of which the line's errors must have; empty: any."""
    before: str
    """A pattern that must fit the text above, with groups in braces; empty: none."""
    after: str
    """A pattern that must fit the beginning of the text below; empty: none."""
    drops: tuple[str, ...]
    """Beginnings of codes of errors on later lines that come of this mistake."""
    near: tuple[str, ...]
    """The same, of the lines above and below alone."""


@cache
def mistakes() -> tuple[Mistake, ...]:
    rows = tomllib.loads(resource.text("mistakes", "mistakes.toml"))["mistake"]
    return tuple(
        Mistake(
            re.compile(row["line"]),
            row["says"],
            row["help"],
            row.get("code", GENERAL),
            tuple((group, text) for group, text in row.get("fix", {}).items()),
            frozenset(row.get("when", ())),
            row.get("before", ""),
            row.get("after", ""),
            tuple(row.get("drops", ())),
            tuple(row.get("near", ())),
        )
        for row in rows
    )


class _Characters:
    """How many characters may still be read again."""

    def __init__(self, most: int) -> None:
        self.left = most

    def spend(self, number: int) -> bool:
        """Whether so many are left; then they are not any more."""
        if number > self.left:
            return False
        self.left -= number
        return True


def with_known_mistakes(diagnostics: Diagnostics) -> Diagnostics:
    """The findings, with one for each line on which a known mistake was made in place of that line's errors."""
    lines: dict[tuple[str, int], list[Diagnostic]] = {}
    for error in sorted(diagnostics.errors, key=lambda one: one.span.start):
        if error.span.source.text:
            lines.setdefault(_line(error.span), []).append(error)
    better: dict[int, Diagnostic] = {}
    gone = consequences(sorted(diagnostics.errors, key=lambda one: one.span.start))
    left_to_try = _Characters(TRIED)
    for (name, number), errors in lines.items():
        left = [error for error in errors if id(error) not in gone]
        above = why(left[0]) if left and elsewhere(left[0]) else None
        if above is not None:
            gone |= {id(error) for error in left[1:]}
            there = _recognised([replace(left[0], span=above.span)], _line(above.span)[1], left_to_try)
            better[id(left[0])] = above if there is None else there[0]
            continue
        known = _recognised(left, number, left_to_try) if left else None
        if known is None:
            gone |= _repeated(left)
            shown = [error for error in left if id(error) not in gone]
            better |= {id(error): why(error) or with_wanted(with_form(error)) for error in shown}
            continue
        gone |= {id(error) for error in left[1:]}
        better[id(left[0])], mistake = known
        for (other, line), others in lines.items():
            codes = mistake.drops if line > number else ()
            codes += mistake.near if abs(line - number) == 1 else ()
            if other == name and codes:
                gone |= {id(error) for error in others if error.code.startswith(codes)}
    if not lines:
        return diagnostics
    result = Diagnostics()
    for one in diagnostics.found:
        if id(one) not in gone:
            result.keep(better.get(id(one), one))
    return result


def _repeated(errors: list[Diagnostic]) -> set[int]:
    """Of two errors at one place the second: what was read in place of a bad word is not wrong by itself."""
    return {id(later) for first, later in pairwise(errors) if first.span.start == later.span.start}


def _line(span: Span) -> tuple[str, int]:
    return span.source.name, span.source.location(span.start).line


def _masked(line: str) -> str:
    """`line` with blanks for its comment and `·` for the words of its texts."""

    def mask(found: re.Match[str]) -> str:
        text = found[0]
        return " " * len(text) if text[0] == "#" else '"' + "·" * (len(text) - 2) + '"'

    return _TEXT.sub(mask, line)


def _recognised(errors: list[Diagnostic], number: int, left_to_try: _Characters) -> tuple[Diagnostic, Mistake] | None:
    """What replaces the errors of a line, if it has a known mistake."""
    source = errors[0].span.source
    codes = {error.code for error in errors}
    line = source.line(number)
    if len(line) > LONGEST:
        return None
    masked = _masked(line)
    for mistake in mistakes():
        if mistake.when and not mistake.when & codes:
            continue
        found = mistake.line.search(masked)
        if found is not None and _fits_around(mistake, found, source, number):
            known = _diagnostic(mistake, found, source, number)
            if _mends(known, errors, left_to_try):
                return replace(known, page=errors[0].page), mistake
    return None


def _mends(known: Diagnostic, errors: list[Diagnostic], left_to_try: _Characters) -> bool:
    """Whether the text can be read further after the correction than before; a row with another one does not fit."""
    source = known.span.source
    if not known.fix or not all(error.code.startswith("MKS01") for error in errors):
        return True
    if not left_to_try.spend(len(source.text)):
        return True
    last = max(edit.span.end for edit in known.fix)
    longer = sum(len(edit.text) - (edit.span.end - edit.span.start) for edit in known.fix)
    after = Diagnostics()
    with suppress(TooManyErrors):
        parse(Source(source.name, corrected(source.text, known.fix)), after)
    number = source.location(known.span.start).line
    left = [error for error in after.errors if error.span.source.location(error.span.start).line == number]
    return not left or min(error.span.start for error in left) >= last + longer


def _fits_around(mistake: Mistake, found: re.Match[str], source: Source, number: int) -> bool:
    below = source.text[source.start_of(number) + len(source.line(number)) :]
    if mistake.after and not re.match(mistake.after, below):
        return False
    if not mistake.before:
        return True
    above = source.text[: source.start_of(number)]
    return re.search(_filled(mistake.before, _Words(found, source.line(number))), above) is not None


def _diagnostic(mistake: Mistake, found: re.Match[str], source: Source, number: int) -> Diagnostic:
    start = source.start_of(number)

    def span(group: str) -> Span:
        begin, end = found.span(group)
        return Span(source, start + begin, start + end)

    words = _Words(found, source.line(number))
    edits = tuple(Edit(span(group), _filled(text, words)) for group, text in mistake.edits)
    return Diagnostic(
        mistake.code, _filled(mistake.says, words), span("at"), help=_filled(mistake.help, words), fix=edits
    )


_HOLE = re.compile(r"\{\{|\}\}|\{([A-Za-z]\w*)\}")


def _filled(text: str, words: _Words) -> str:
    """`text` with the words that it names; `{{` and `}}` are braces."""
    return _HOLE.sub(lambda hole: words[hole[1]] if hole[1] else hole[0][0], text)


class _Words(dict[str, str]):
    """What the texts of a row may name: the groups; in capitals, a group in capitals; and the names of `_MADE`."""

    def __init__(self, found: re.Match[str], line: str) -> None:
        super().__init__({group: line[slice(*found.span(group))].strip() for group in found.groupdict()})

    def __missing__(self, key: str) -> str:
        for prefix, make in _MADE.items():
            if key.startswith(prefix):
                return make(self[key.removeprefix(prefix).lower()])
        return self[key.lower()].upper()


def _as_name(text: str) -> str:
    """`my-size`, `"strip on transmit"` as a name of the language."""
    return re.sub(r"\W+", "_", text.strip('"')).strip("_").lower()


_MADE: dict[str, Callable[[str], str]] = {
    "NAME_OF_": _as_name,
    "UNQUOTED_": lambda text: text.strip('"'),
    "NEXT_": lambda text: str(int(text) + 1),
    "BYTE_OF_": lambda text: f"{int(text, 16 if text.startswith('0x') else 10) & 0xFF:02x}",
    "ERRNO_OF_": lambda text: errno.errorcode.get(abs(int(text)), "EINVAL"),
}


def check_table(rows: Iterable[Mistake]) -> None:
    """Raises ValueError where a row names a group that its pattern lacks."""
    for row in rows:
        groups = set(row.line.groupindex)
        named = {
            name for text in (row.says, row.help, row.before, *(new for _, new in row.edits)) for name in _named(text)
        }
        missing = ({"at"} | named | {group for group, _ in row.edits}) - groups
        if missing:
            raise ValueError(f"no group {', '.join(sorted(missing))}: {row.line.pattern}")


def _named(text: str) -> list[str]:
    names = [hole[1] for hole in _HOLE.finditer(text) if hole[1]]
    return [re.sub("^(?:" + "|".join(_MADE) + ")", "", name).lower() for name in names]
