"""What passed beside the rows that went wrong by one cause: the value that distinguishes them, if one does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mkeyspec.report.reader import Run, case_of
from mkeyspec.report.record import Result
from mkeyspec.report.rows import parameters_of

_LINES = 3
_VALUES = 4
"""Cases, and values of a binding, that are named one by one."""

_Key = tuple[int, str]
Passed = dict[_Key, list[str]]
"""By run and case: the ids of its rows."""
_Rows = dict[_Key, list[dict[str, str]]]
"""By run and case: the values of each row."""


@dataclass(frozen=True, slots=True)
class Beside:
    """`lines`: sentences without a full stop; `binding`: the values that no row that passed has, if these set all rows
    of all cases apart: `n ≥ 2`."""

    lines: tuple[str, ...] = ()
    binding: str = ""


def passed_rows(results: Iterable[tuple[Run, Result]]) -> Passed:
    """The rows that passed. Their values are looked at only where one of the same case went wrong."""
    found: Passed = defaultdict(list)
    for run, result in results:
        if result.verdict == "passed" and "[" in result.id:
            found[id(run), case_of(result.id)].append(result.id)
    return found


def beside(wrong: Sequence[tuple[Run, Result]], passed: Passed) -> Beside:
    """What sets these rows apart from those of the same cases that passed; empty if these cases have no other rows."""
    cases: _Rows = defaultdict(list)
    for run, result in wrong:
        cases[id(run), case_of(result.id)].append(dict(parameters_of(result.id)))
    others = {key: [dict(parameters_of(id)) for id in passed[key]] for key in cases if passed.get(key)}
    if not others:
        return Beside(("no row of these cases passed",) if any(len(rows) > 1 for rows in cases.values()) else ())
    number = sum(map(len, others.values()))
    names = dict.fromkeys(name for key in others for row in cases[key] for name in row)
    # One binding of all cases says more than one for each of them.
    all_wrong, all_passed = _all(cases, cases), _all(others, others)
    common = [name for name in names if _apart(name, all_wrong, all_passed)]
    if common:
        bad, good = _sides(common[0], all_wrong, all_passed)
        few = len(all_wrong) > 1 or len(_values(common[0], all_passed)) <= _VALUES
        binding = bad if few and not bad.endswith(" more") else ""
        return Beside((f"these rows have {bad}, and those that passed have {good}",), binding)
    lines = []
    for key, rows in others.items():
        apart = [name for name in names if _apart(name, cases[key], rows)]
        if apart:
            bad, good = _sides(apart[0], cases[key], rows)
            lines.append(f"{key[1].partition('::')[2]}: these rows have {bad}, and those that passed have {good}")
    if not lines:
        return Beside((f"{_rows(number)} of these cases passed, and no one value tells them apart",))
    rest = len(others) - min(len(lines), _LINES)
    return Beside((*lines[:_LINES], *([f"{rest} more cases have rows that passed"] if rest else ())))


def _all(cases: _Rows, keys: Iterable[_Key]) -> list[dict[str, str]]:
    return [row for key in keys for row in cases[key]]


def _apart(name: str, wrong: Sequence[dict[str, str]], passed: Sequence[dict[str, str]]) -> bool:
    """Whether every row has the binding, and none of its values is on both sides."""
    if not all(name in row for row in (*wrong, *passed)):
        return False
    return not {row[name] for row in wrong} & {row[name] for row in passed}


def _sides(name: str, wrong: Sequence[dict[str, str]], passed: Sequence[dict[str, str]]) -> tuple[str, str]:
    """The values of a binding on both sides: `n ≥ 2` and `n ≤ 1`, `op=send` and `op=read, write`."""
    bad, good = _values(name, wrong), _values(name, passed)
    try:
        low, high = [int(one, 0) for one in bad], [int(one, 0) for one in good]
    except ValueError:
        pass
    else:
        if len(bad) + len(good) > 2 and min(low) > max(high):
            return f"{name} ≥ {min(low)}", f"{name} ≤ {max(high)}"
        if len(bad) + len(good) > 2 and max(low) < min(high):
            return f"{name} ≤ {max(low)}", f"{name} ≥ {min(high)}"
    return f"{name}={_listed(bad)}", f"{name}={_listed(good)}"


def _values(name: str, rows: Sequence[dict[str, str]]) -> list[str]:
    return list(dict.fromkeys(row[name] for row in rows))


def _listed(values: Sequence[str]) -> str:
    more = len(values) - _VALUES
    return ", ".join([*values[:_VALUES], *([f"or {more} more"] if more > 0 else [])])


def _rows(number: int) -> str:
    return f"{number} row{'s' if number > 1 else ''}"
