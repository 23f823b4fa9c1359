"""What passed beside the rows that went wrong by one cause: the value that tells them apart, if one does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

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


def passed_rows(results: Iterable[tuple[Run, Result]]) -> Passed:
    """The rows that passed. Their values are looked at only where one of the same case went wrong."""
    found: Passed = defaultdict(list)
    for run, result in results:
        if result.verdict == "passed" and "[" in result.id:
            found[id(run), case_of(result.id)].append(result.id)
    return found


def beside(wrong: Sequence[tuple[Run, Result]], passed: Passed) -> tuple[str, ...]:
    """Sentences without a full stop: what sets these rows apart from those of the same cases that passed. () if these
    cases have no other rows."""
    cases: _Rows = defaultdict(list)
    for run, result in wrong:
        cases[id(run), case_of(result.id)].append(dict(parameters_of(result.id)))
    others = {key: [dict(parameters_of(id)) for id in passed[key]] for key in cases if passed.get(key)}
    if not others:
        return ("no row of these cases passed",) if any(len(rows) > 1 for rows in cases.values()) else ()
    number = sum(map(len, others.values()))
    names = dict.fromkeys(name for key in others for row in cases[key] for name in row)
    # One binding of all cases says more than one for each of them.
    all_wrong, all_passed = _all(cases, cases), _all(others, others)
    common = [name for name in names if _apart(name, all_wrong, all_passed)]
    if common:
        return (_sentence(common[0], all_wrong, all_passed),)
    lines = []
    for key, rows in others.items():
        apart = [name for name in names if _apart(name, cases[key], rows)]
        if apart:
            lines.append(f"{key[1].partition('::')[2]}: {_sentence(apart[0], cases[key], rows)}")
    if not lines:
        return (f"{_rows(number)} of these cases passed, and no one value tells them apart",)
    rest = len(others) - min(len(lines), _LINES)
    return (*lines[:_LINES], *([f"{rest} more cases have rows that passed"] if rest else ()))


def _all(cases: _Rows, keys: Iterable[_Key]) -> list[dict[str, str]]:
    return [row for key in keys for row in cases[key]]


def _apart(name: str, wrong: Sequence[dict[str, str]], passed: Sequence[dict[str, str]]) -> bool:
    """Whether every row has the binding, and none of its values is on both sides."""
    if not all(name in row for row in (*wrong, *passed)):
        return False
    return not {row[name] for row in wrong} & {row[name] for row in passed}


def _sentence(name: str, wrong: Sequence[dict[str, str]], passed: Sequence[dict[str, str]]) -> str:
    bad, good = _values(name, wrong), _values(name, passed)
    try:
        low, high = [int(one, 0) for one in bad], [int(one, 0) for one in good]
    except ValueError:
        pass
    else:
        if len(bad) + len(good) > 2 and min(low) > max(high):
            return f"these rows have {name} ≥ {min(low)}, and those that passed have {name} ≤ {max(high)}"
        if len(bad) + len(good) > 2 and max(low) < min(high):
            return f"these rows have {name} ≤ {max(low)}, and those that passed have {name} ≥ {min(high)}"
    return f"these rows have {name}={_listed(bad)}, and those that passed have {name}={_listed(good)}"


def _values(name: str, rows: Sequence[dict[str, str]]) -> list[str]:
    return list(dict.fromkeys(row[name] for row in rows))


def _listed(values: Sequence[str]) -> str:
    more = len(values) - _VALUES
    return ", ".join([*values[:_VALUES], *([f"or {more} more"] if more > 0 else [])])


def _rows(number: int) -> str:
    return f"{number} row{'s' if number > 1 else ''}"
