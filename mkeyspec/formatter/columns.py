"""Words of neighbouring lines that their author put in one column, and the columns that they get.

Two words are partners if they begin in the same column of two lines, they are of one kind, or after the same sign,
and at least one of them was moved there: it has more than one blank before it. Comments at the end of a line are
partners wherever they begin in the same column. Nothing is between the two lines; or comments and other lines, if both
lines begin with the same word. An empty line and one that is indented less end it.

All words that are partners, directly or through others, get one column: the first in which none comes too near to the
word before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec.formatter.spacing import gap
from mkeyspec.formatter.words import COMMENT, Line, Word

MOVED = 2
"""Blanks before a word that was moved."""

REACH = 12
"""Lines that may be between two partners."""

_SIGNS = frozenset({"COMMA", "COLON", "SEMI", "EQ", "CMP", "LBRACE"})
"""After these, words of any kind are alike."""

Rounds = Sequence[Sequence[bool]]
"""Of each word of each line, whether it is in round brackets."""


def find_partners(lines: Sequence[Line], rounds: Rounds) -> None:
    """Sets `partners` of the words of `lines`."""
    for number, line in enumerate(lines):
        if line.is_comment:
            continue
        for at in range(1, len(line.words)):
            found = _above(lines, number, at)
            if found is None:
                continue
            upper, other = found
            one, two = lines[upper].words[other], line.words[at]
            if gap(lines[upper].words, other, rounds[upper][other]) and gap(line.words, at, rounds[number][at]):
                one.partners.append(two)
                two.partners.append(one)


def _above(lines: Sequence[Line], number: int, at: int) -> tuple[int, int] | None:
    """The nearest partner above of word `at` of a line: its line, and its number there."""
    line = lines[number]
    column = line.words[at].column
    for upper in range(number - 1, max(-1, number - 2 - REACH), -1):
        if lines[upper + 1].blank:
            return None
        there = lines[upper]
        if there.is_comment:
            continue
        if there.first.column < line.first.column and upper < number - 1:
            return None
        for other in range(1, len(there.words)):
            if there.words[other].column != column or not _meant(there.words, other, line.words, at):
                continue
            if upper == number - 1 or there.first.text == line.first.text:
                return upper, other
    return None


def _meant(upper: Sequence[Word], other: int, lower: Sequence[Word], at: int) -> bool:
    one, two = upper[other], lower[at]
    if COMMENT in (one.kind, two.kind):
        return one.kind == two.kind
    before = upper[other - 1].kind, lower[at - 1].kind
    alike = one.kind == two.kind or (before[0] == before[1] and before[0] in _SIGNS)
    return alike and max(one.gap, two.gap) >= MOVED


def columns(lines: Sequence[Line]) -> dict[int, int]:
    """By the place of each word that has partners: the number of its column, which its partners share."""
    found: dict[int, int] = {}
    number = 0
    for line in lines:
        for word in line.words:
            if not word.partners or word.place in found:
                continue
            found[word.place] = number
            waiting = [word]
            while waiting:
                for partner in waiting.pop().partners:
                    if partner.place not in found:
                        found[partner.place] = number
                        waiting.append(partner)
            number += 1
    return found
