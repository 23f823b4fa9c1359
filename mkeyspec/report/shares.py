"""The requirement that the rows of a cause have most in common, with its share, and the cases that verify it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mkeyspec.report.reader import Run, case_of
from mkeyspec.report.record import WRONG, Result
from mkeyspec.requirements.ledger import requirements

_CASES = 3
"""Cases that are named."""

_Key = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Share:
    """A requirement, "" if there is none, and lines about it; `id` ends with " …" if most of the rows verify others."""

    id: str
    lines: tuple[str, ...]


class Shares:
    """Counts the rows of a report by case: passed, and wrong. Rows that were not run count as neither."""

    def __init__(self, results: Iterable[tuple[Run, Result]]) -> None:
        self._passed: Counter[_Key] = Counter()
        self._wrong: Counter[_Key] = Counter()
        runs: dict[int, Run] = {}
        for run, result in results:
            if result.verdict == "passed":
                self._passed[id(run), case_of(result.id)] += 1
            elif result.verdict in WRONG and result.verdict != "blocked":
                self._wrong[id(run), case_of(result.id)] += 1
            else:
                continue
            runs[id(run)] = run
        self._cases: dict[str, list[_Key]] = defaultdict(list)
        for number, run in runs.items():
            for name, case in run.cases.items():
                for requirement in dict.fromkeys(case.requirements):
                    self._cases[requirement].append((number, name))

    def of(self, rows: Sequence[tuple[Run, Result]]) -> Share:
        """Of the requirements that rows of one cause verify, the one whose rows are most nearly these rows."""
        its = Counter((id(run), case_of(result.id)) for run, result in rows)
        verified: Counter[str] = Counter()
        for run, name in {(id(run), case_of(result.id)): run for run, result in rows}.items():
            case = name.cases.get(run[1])
            for requirement in dict.fromkeys(case.requirements if case is not None else ()):
                verified[requirement] += its[run]
        if not verified:
            return Share("", ())
        total = {one: self._total(one) for one in verified}
        best = max(verified, key=lambda one: (2 * verified[one] / (len(rows) + total[one]), verified[one]))
        entry = requirements().get(best)
        verify = "verifies" if total[best] == 1 else "verify"
        fail = "fails" if verified[best] == 1 else "fail"
        number = f"{verified[best]} of {_rows(total[best])} that {verify} it {fail} so"
        lines = [f"{best}: {entry.statement}" if entry is not None else best, number]
        good = [key for key in self._cases[best] if self._passed[key] and not self._wrong[key]]
        if good:
            lines[-1] += f"; all rows passed of {_named([key[1] for key in good])}"
        others = [key for key, _ in its.most_common()]
        if len(others) > 1:
            told = [f"{key[1].partition('::')[2]} ({its[key]} of {self._rows(key)})" for key in others[:_CASES]]
            more = len(others) - _CASES
            lines.append(f"rows of {', '.join(told)}{f' and of {more} cases more' if more > 0 else ''}")
        if 2 * verified[best] >= len(rows):
            return Share(best, tuple(lines))
        lines[1] += f"; {len(rows) - verified[best]} rows of this cause verify others"
        return Share(f"{best} …", tuple(lines))

    def _total(self, requirement: str) -> int:
        return sum(map(self._rows, self._cases[requirement]))

    def _rows(self, key: _Key) -> int:
        return self._passed[key] + self._wrong[key]


def _named(cases: Sequence[str]) -> str:
    more = len(cases) - _CASES
    names = ", ".join(name.partition("::")[2] for name in cases[:_CASES])
    return f"{names}{f' and {more} cases more' if more > 0 else ''}"


def _rows(number: int) -> str:
    return f"{number} row{'s' if number > 1 else ''}"
