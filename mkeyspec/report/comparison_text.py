"""A comparison of runs as text, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from mkeyspec.report.compare import BAD, KINDS, Change, Comparison, grouped
from mkeyspec.report.provenance import run_line
from mkeyspec.report.reader import Run
from mkeyspec.report.record import Result
from mkeyspec.report.rows import plain

_SHOWN = 20
"""Lines of each kind in text and Markdown; JSON has all."""

Section = tuple[str, int, list[str]]
"""Title, number of things, lines."""


def text_of(comparison: Comparison) -> str:
    lines = [f"{letter}  {run_line(run)}" for letter, run in lettered(comparison.runs)]
    for title, number, its in _sections(comparison):
        lines += ["", f"{title}  {number}", *(f"    {line}" for line in its)]
    lines += ["", f"mkeyspec: {summary_of(comparison)}"]
    return plain("\n".join(lines) + "\n")


def markdown_of(comparison: Comparison) -> str:
    """For a ticket."""
    lines = [f"- {letter}: {_escaped(run_line(run))}" for letter, run in lettered(comparison.runs)]
    lines += ["", f"**{_escaped(summary_of(comparison))}**"]
    for title, number, its in _sections(comparison):
        lines += ["", f"### {title}: {number}", "", *(f"- {_escaped(line)}" for line in its)]
    return "\n".join(lines) + "\n"


def json_of(comparison: Comparison) -> str:
    def verdict(result: Result | None) -> Any:
        return None if result is None else {"verdict": result.verdict, "code": result.code, "message": result.message}

    data = {
        "runs": [run.begin.run for run in comparison.runs],
        "bad": comparison.bad,
        "same": comparison.same,
        "changes": [
            {"id": one.id, "kind": one.kind, "before": verdict(one.before), "now": verdict(one.now)}
            for one in comparison.changes
        ],
        "provenance": _named(comparison.provenance),
        "capabilities": _named(comparison.capabilities),
        "records": [
            {"id": id, "name": name, "before": before, "now": now} for id, name, before, now in comparison.records
        ],
        "durations": [{"id": id, "before": before, "now": now} for id, before, now in comparison.durations],
    }
    return json.dumps(data, indent=2) + "\n"


def summary_of(comparison: Comparison) -> str:
    """`3 REGRESSED, 1 FIXED, 200 the same`."""
    parts = [f"{len(its)} {kind}" for kind in KINDS if (its := comparison.of(kind))]
    return ", ".join([*parts, f"{comparison.same} the same"])


def lettered(runs: Sequence[Run]) -> Iterator[tuple[str, Run]]:
    for number, run in enumerate(runs):
        yield chr(ord("A") + number) if number < 26 else str(number), run


def _sections(comparison: Comparison) -> Iterator[Section]:
    for kind in KINDS:
        its = comparison.of(kind)
        if its:
            yield kind, len(its), _cut([_group_line(cause, group) for cause, group in grouped(its, comparison)])
    if comparison.provenance:
        lines = [f"{name}: {before or 'none'} → {now or 'none'}" for name, before, now in comparison.provenance]
        yield "changed provenance", len(lines), _cut(lines)
    if comparison.capabilities:
        lines = [f"{name}: {before or 'no'} → {now or 'no'}" for name, before, now in comparison.capabilities]
        yield "changed capabilities", len(lines), _cut(lines)
    if comparison.records:
        lines = [f"{id}  {name}: {old or 'none'} → {new or 'none'}" for id, name, old, new in comparison.records]
        yield "changed records", len(lines), _cut(lines)
    if comparison.durations:
        lines = [f"{id}: {old:.3f} s → {new:.3f} s" for id, old, new in comparison.durations]
        yield "changed durations", len(lines), _cut(lines)


def _group_line(cause: str, group: Sequence[Change]) -> str:
    first = group[0]
    verdicts = f"{_verdict(first.before)} → {_verdict(first.now)}"
    more = f" and {len(group) - 1} more" if len(group) > 1 else ""
    why = f"  {cause}" if first.kind in BAD - {"LOST"} or first.kind in ("STILL WRONG", "FLAKY") else ""
    return f"{len(group):5}  {first.id}{more}  ({verdicts}){why}"


def _verdict(result: Result | None) -> str:
    return "none" if result is None else result.verdict


def _cut(lines: list[str]) -> list[str]:
    rest = len(lines) - _SHOWN
    return lines if rest <= 0 else [*lines[:_SHOWN], f"and {rest} more"]


def _named(values: list[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "before": before, "now": now} for name, before, now in values]


def _escaped(text: str) -> str:
    """As plain text of Markdown, on one line."""
    line = plain(" ".join(text.split()))
    return "".join(f"\\{one}" if one in "\\`*_{}[]<>()#+!|~&" else one for one in line)
