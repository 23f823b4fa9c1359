"""Whether results are those of whole runs: rows that were not run, or are in none of the parts (`--shard K/N`), are not
reported, and those of a part that is named twice are counted twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mkeyspec.report.reader import Run


def missing(runs: Sequence[Run]) -> str:
    """What is not there, or twice, in one line; "" if all rows are there once, or if one part alone is looked at.

    A run that was killed or stopped may have rows that were not run. Parts are looked at together.
    Parts of two splits don't fit each other: they were made of other cases, or by other durations (`--balance`).
    """
    named: dict[tuple[str, ...], Run] = {}
    for run in runs:
        if run.cut_short:
            return f"{run.path}: {run.cut_short}"
        begin = run.begin
        same = named.setdefault((begin.run, begin.started, begin.device, begin.unit, run.shard), run)
        if same is not run:
            also = "" if same.path == run.path else f", also as {run.path}"
            return f"{same.path} is named twice{also}: its rows are counted twice"
    splits: dict[tuple[str, int, str], dict[int, Run]] = defaultdict(dict)
    for run in runs:
        part, slash, all_parts = run.shard.partition("/")
        if slash and part.isdecimal() and all_parts.isdecimal() and run.split:
            same = splits[run.begin.unit, int(all_parts), run.split].setdefault(int(part), run)
            if same is not run:
                return f"{same.path} and {run.path} are both part {run.shard} of a run: its rows are counted twice"
    given = sum(map(len, splits.values()))
    for (unit, number, split), there in splits.items():
        gone = [part for part in range(1, number + 1) if part not in there]
        if not gone or given == 1:
            continue
        one = next(iter(there.values()))
        others = [rest for of, rest in splits.items() if of[0] == unit and of != (unit, number, split)]
        other = next((run for rest in others for run in rest.values()), None)
        name = ", ".join(f"{part}/{number}" for part in gone)
        on = f" on {unit}" if unit else ""
        said = f"{one.path} is part {one.shard} of a run{on}, and there is no part {name} of it"
        return said if other is None else f"{said}; {other.path} is of another split: name the same --balance files"
    return ""
