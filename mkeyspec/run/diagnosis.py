"""A failed case as text: the location in the `.mks` file, the expected and the actual result, and the requirement.

The first line of each failure is `file:line:column: error[MKSnnnn]: …`, so that editors and CI can jump to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from mkeyspec.plan import At
from mkeyspec.run.verdict import CaseInfo, Failure, Verdict

Statement = Callable[[str], "str | None"]

_LABEL = 9
_WIDEST = 160
_SUSPECTS = 6


def render(case: CaseInfo, verdict: Verdict, statement: Statement, device: str = "", again: str = "") -> str:
    """The whole text of a failed case. `device`: what it ran on; `again`: the command that runs this row alone."""
    lines = _source_lines(case.path)
    blocks = [_failure(case, failure, lines) for failure in verdict.failures]
    tail: list[str] = []
    for id in case.verifies:
        tail.append(_detail("verifies", f"{id}: {statement(id) or 'no such entry in the ledger'}"))
    if verdict.known:
        tail.append(_detail("known", f"seen as listed: {', '.join(verdict.known)}"))
    if verdict.not_run:
        places = ", ".join(f"{at}" for at in verdict.not_run[:8])
        more = f" and {len(verdict.not_run) - 8} more" if len(verdict.not_run) > 8 else ""
        count = len(verdict.not_run)
        tail.append(_detail("not run", f"{count} statement{'s' if count > 1 else ''}: {places}{more}"))
    for failure in verdict.consequences:
        place = f"{failure.at}"
        tail.append(_detail("also", f"{place}  {failure.code} {failure.message}; it may follow from that"))
    for at, text in verdict.quiet:
        tail.append(_detail("quiet", f"{at}  {text}"))
    if verdict.unhealthy:
        tail.append(_detail("device", f"not healthy after this case: {verdict.unhealthy}"))
    for name, value in verdict.records.items():
        tail.append(_detail("record", f"{name} = {value}"))
    if device:
        tail.append(_detail("device", device))
    tail.append(_detail("case", case.id))
    if again:
        tail.append(_detail("again", again))
    codes = dict.fromkeys(failure.code for failure in verdict.failures)
    tail.extend(_detail("explain", f"mkeyspec explain {code}") for code in codes)
    return "\n\n".join([*blocks, "\n".join(tail)])


def _failure(case: CaseInfo, failure: Failure, lines: list[str]) -> str:
    text = [f"{case.source}:{failure.at.line}:{failure.at.column}: error[{failure.code}]: {failure.message}"]
    text.extend(_snippet(failure.at, lines))
    text.extend(_detail(label, detail) for label, detail in failure.details)
    text.extend(_suspects(failure, lines))
    return "\n".join(text)


def _suspects(failure: Failure, lines: list[str]) -> Iterator[str]:
    """The last statements that may have caused it, each with its location and its first line."""
    label, places = failure.suspects
    if len(places) > _SUSPECTS:
        yield _detail(label, f"{len(places) - _SUSPECTS} statements before, and")
        label, places = "", places[-_SUSPECTS:]
    for at in places:
        line = _printable(lines[at.line - 1]) if 0 < at.line <= len(lines) else ""
        yield _detail(label, f"{at}  {_statement(line, at.column)}".rstrip())
        label = ""


def _snippet(at: At, lines: list[str]) -> list[str]:
    """The statement's first line with carets under it; empty if the file is missing or shorter."""
    if not 0 < at.line <= len(lines):
        return []
    shown = _printable(lines[at.line - 1])
    width = len(_statement(shown, at.column))
    margin = " " * len(str(at.line))
    return [
        f"  {margin} |",
        f"  {at.line} | {shown.rstrip()}",
        f"  {margin} | {' ' * (at.column - 1)}{'^' * max(1, width)}",
    ]


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in line.replace("\t", " "))[:_WIDEST]


def _statement(line: str, column: int) -> str:
    """The text from `column` to the end of the line, without a comment and without an opening brace."""
    text = line[column - 1 :]
    quoted = False
    for i, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character == "#" and not quoted:
            text = text[:i]
            break
    return text.rstrip().removesuffix("{").rstrip()


def _source_lines(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        return path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []


def _detail(label: str, text: str) -> str:
    return f"    {label:<{_LABEL}} {text}".rstrip()
