"""The blanks between two words of a line, if nothing is put into columns."""

from __future__ import annotations

from mkeyspec.formatter.words import COMMENT, Word

BEFORE_COMMENT = 2

_OPENS = frozenset({"LPAR", "LSQB"})
_CLOSES = frozenset({"RPAR", "RSQB"})
_VALUES = frozenset({"NAME", "INT", "STRING", "HEX", "ASCII", "ERRNO", "REQ", "CODE", "RPAR", "RSQB"})
"""The words with which a value can end."""


def gap(words: list[Word], at: int, round_brackets: bool) -> int:
    """The blanks before word `at`, which is not the first of its line. `round_brackets`: a `=` there names an
    argument."""
    before, here = words[at - 1], words[at]
    if here.kind == COMMENT:
        return BEFORE_COMMENT
    if here.kind in _CLOSES or here.kind in ("COMMA", "SEMI", "DOT", "DOTDOT", "COLON"):
        return 0
    if before.kind in _OPENS or before.kind in ("DOT", "DOTDOT", "TILDE"):
        return 0
    if before.kind == "MINUS" and _is_sign(words, at - 1):
        return 0
    if here.kind == "EQ" or before.kind == "EQ":
        return 0 if round_brackets and not _in_its_line(words, at - (before.kind == "EQ")) else 1
    if here.kind in _OPENS:
        # `f (x)` is a verb and its operand, `f(x)` a call: only the author knows which.
        return min(here.gap, 1) if before.kind in _VALUES else 1
    return 1


def _in_its_line(words: list[Word], at: int) -> bool:
    """Whether the `=` is that of a named argument with a line of its own, and its author put blanks around it."""
    return at == 1 and words[at].gap > 0


def _is_sign(words: list[Word], at: int) -> bool:
    """Whether the minus is a sign and does not subtract: nothing before it is a value, or it stands at its number."""
    stands = at + 1 < len(words) and words[at + 1].gap == 0
    if at == 0:
        return stands
    return words[at - 1].kind not in _VALUES or (words[at].gap > 0 and stands)
