"""Diagnostics of several files as one list, and the summary line of a command."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mkeyspec.cli.session import NOTHING, OK, USAGE

if TYPE_CHECKING:
    from mkeyspec.diagnostics.diagnostic import Diagnostic


def once(findings: Iterable[Iterable[Diagnostic]]) -> list[Diagnostic]:
    """All of them in order; what two suites find in a file that both use is reported once."""
    seen: dict[tuple[str, str, int, int], Diagnostic] = {}
    for some in findings:
        for found in some:
            span = found.span
            seen.setdefault((found.code, str(span.source.path or span.source.name), span.start, span.end), found)
    return list(seen.values())


def summary(done: str, sources: Sequence[Path], found: Sequence[Diagnostic], more: str = "") -> int:
    """Print the last line, with `more` at its end; returns the exit code."""
    errors = sum(one.severity == "error" for one in found)
    counts = [count_of(len(sources), "file") + f" {done}", count_of(errors, "error")]
    if len(found) > errors:
        counts.append(count_of(len(found) - errors, "warning"))
    if more:
        counts.append(more)
    sys.stdout.flush()  # the findings are there: where both streams are one, they come first
    print(f"mkeyspec: {', '.join(counts)}", file=sys.stderr)
    return USAGE if errors else OK if sources else NOTHING


def count_of(number: int, what: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
