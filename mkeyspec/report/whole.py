"""Whether results are those of whole runs: rows that were not run, or are in none of the parts (`--shard K/N`), are not
reported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mkeyspec.report.reader import Run


def missing(runs: Sequence[Run]) -> str:
    """What is not there, in one line; "" if all rows are, or if one part alone is looked at.

    A run that was killed or stopped may have rows that were not run. Parts are looked at together.
    Parts of two splits don't fit each other: they were made of other cases, or by other durations (`--balance`).
    """
    for run in runs:
        if run.cut_short:
            return f"{run.path}: {run.cut_short}"
    splits: dict[tuple[str, int, str], dict[int, Run]] = defaultdict(dict)
    for run in runs:
        part, slash, all_parts = run.shard.partition("/")
        if slash and part.isdecimal() and all_parts.isdecimal() and run.split:
            splits[run.begin.unit, int(all_parts), run.split][int(part)] = run
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
