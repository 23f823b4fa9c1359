"""What an author most likely meant, where the parser had to stop."""

from __future__ import annotations

from mkeyspec.lang.diagnostic import Diagnostics
from mkeyspec.lang.lexer import Token
from mkeyspec.lang.source import Source
from mkeyspec.lang.tree import Span

MOST = 100


def report(
    source: Source, tokens: list[Token], bad: int, accepts: frozenset[str], joins: frozenset[int], diagnostics: Diagnostics
) -> None:
    t = tokens[bad] if bad < len(tokens) else tokens[-1]
    diagnostics.error("MKS0100", f"stop at {t.value!r} accepts {sorted(accepts)}", Span(source, t.start_pos, t.end_pos))
