"""The results of runs as text for a terminal or a mail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mkeyspec.report.by_device import matrix_of, on_several
from mkeyspec.report.by_device import text_of as by_device
from mkeyspec.report.causes import causes_of
from mkeyspec.report.colour import coloured
from mkeyspec.report.provenance import points_of, run_line
from mkeyspec.report.reader import Run
from mkeyspec.report.record import VERDICTS, Result
from mkeyspec.report.rows import plain, results_of

_SHOWN = 10
"""Groups that are shown with the text of their first failure; of the others there is a line."""
_ROWS = 50
"""Rows that are shown by device."""


def text_of(runs: Sequence[Run], *, colour: bool = False) -> str:
    """`colour`: with a terminal's escape sequences, which the text itself never has."""
    lines: list[str] = []
    coloured_lines: set[int] = set()
    for run in runs:
        results = list(results_of(run))
        lines += [run_line(run), f"    {counts_line(results)}{_rest(run)}", *_points(run)]
        for number, cause in enumerate(causes_of((run, result) for result in results)):
            first = cause.results[0]
            lines += ["", f"{len(cause.results):5}  {cause.title}", *(f"       {line}" for line in cause.lines())]
            if number < _SHOWN and first.text:
                begin = len(lines)
                lines += [f"       {line}".rstrip() for line in first.text.splitlines()]
                coloured_lines.update(range(begin, len(lines)))
        waived = Counter((result.waiver, result.verdict) for result in results if result.waiver)
        if waived:
            lines += ["", "waivers"]
            lines += [f"{number:5}  {verdict}: {waiver}" for (waiver, verdict), number in waived.most_common()]
        reasons = Counter(result.message for result in results if result.verdict == "skipped")
        if reasons:
            lines += ["", "skipped"]
            lines += [f"{number:5}  {reason}" for reason, number in reasons.most_common(_SHOWN)]
        lines.append("")
    if on_several(runs):
        lines += [*by_device(matrix_of(runs), rows=_ROWS).splitlines(), ""]
    margin = " " * 7
    printed = [plain(line) for line in lines]
    for number in coloured_lines if colour else ():
        printed[number] = margin + coloured(printed[number].removeprefix(margin))
    return "\n".join(printed)


def _points(run: Run) -> list[str]:
    """Where the device differs from the defaults, and how that is known."""
    found = points_of(run)
    if not found:
        return []
    points = [f"{one.point} = {one.value}" for one in found]
    width = min(max(map(len, points)), 44)
    lines = [
        f"       {point:<{width}}  default {one.default}; {one.seen}" for point, one in zip(points, found, strict=True)
    ]
    count = "1 point" if len(found) == 1 else f"{len(found)} points"
    return ["", f"the device differs from the defaults in {count} ({run.begin.device_profile})", *lines]


def counts_line(results: Sequence[Result]) -> str:
    counts = Counter(result.verdict for result in results)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]) or "no results"


def _rest(run: Run) -> str:
    seconds = f" in {run.end.seconds:.1f} s" if run.end is not None else ""
    return f"{f', {run.not_run} not run' if run.not_run else ''}{seconds}"
