"""Which rows went wrong by one cause.

A near miss (`mkeyspec.lookslike`) that gives exactly what each of several rows got explains all of them. The one that
explains most rows is taken first, then the one that explains most of those that are left, and so on. Rows without a
near miss have a cause in common if they say the same of a statement of the same kind (`refusals`), or, of values, if
they have the requirements, the code and the message in common. Of each cause it is told what passed beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mkeyspec.report import refusals
from mkeyspec.report.beside import Passed, beside, passed_rows
from mkeyspec.report.reader import Run, case_of
from mkeyspec.report.record import WRONG, Result

SHOWN = 3
"""Near misses and requirements that are named."""

_GENERAL = (
    "record.none",
    "check.nothing",
    "check.all",
    "field.kept",
    "frame.",
    "domains.",
    "escape.both_always",
    "escape.app_always",
)
"""Beginnings of the names of near misses that any signature shows. If one of them were the cause, rows would fail that
nothing else explains; where several explain the same rows, they are the least likely."""

_UNCHANGED = "bytes.unchanged"
"""That nothing was written at all is said before any guess why. Of other facts about the bytes, the first one is said
where rows that passed speak against the best guess."""
_NO_RECORD = "record.none"
"""The plainest near miss of an error that is not told: it is always among those that are named."""


@dataclass(slots=True)
class Cause:
    """`title`: the requirements, and what the rows look like, or the code and the message; `looks_like`: the near
    misses that explain every row of it, at most three, the most likely one first; `beside`: lines about the rows of the
    same cases that passed."""

    title: str
    looks_like: tuple[str, ...] = ()
    results: list[Result] = field(default_factory=list)
    beside: tuple[str, ...] = ()


def causes_of(results: Iterable[tuple[Run, Result]]) -> list[Cause]:
    """The causes of the rows that went wrong; the one with most rows first. Rows that are blocked come after the cause
    of the row that has left the device unhealthy."""
    everything = list(results)
    wrong = [(run, result) for run, result in everything if result.verdict in WRONG]
    passed = passed_rows(everything)
    near = [(run, result) for run, result in wrong if _near_misses(result)]
    against = Counter(name for _, result in everything if result.verdict == "passed" for name in result.against)
    found = list(_explained(near, against, passed))
    others: dict[str, list[tuple[Run, Result]]] = {}
    for run, result in wrong:
        if not _near_misses(result):
            said = refusals.said(result)
            key = said if refusals.is_of_step(result) else _title(_requirements([(run, result)]), said)
            if result.verdict == "blocked":
                key = f"blocked {result.culprit}"
            others.setdefault(key, []).append((run, result))
    for rows in others.values():
        its = [result for _, result in rows]
        title = _title(_requirements(rows), refusals.title_of(its))
        found.append(Cause(title, (), its, beside(rows, passed)))
    found.sort(key=lambda cause: -len(cause.results))
    ordered = [cause for cause in found if not _is_blocked(cause)]
    for cause in filter(_is_blocked, reversed(found)):
        culprit = cause.results[0].culprit
        before = (place for place, one in enumerate(ordered) if any(row.id == culprit for row in one.results))
        ordered.insert(next(before, len(ordered) - 1) + 1, cause)
    return ordered


def _is_blocked(cause: Cause) -> bool:
    return all(result.verdict == "blocked" for result in cause.results)


def _near_misses(result: Result) -> list[str]:
    """What the bytes are (zeros, unchanged) says little of why: unrelated defects do that."""
    return [name for name in result.looks_like if not name.startswith("bytes.")]


def _explained(rows: Sequence[tuple[Run, Result]], against: Counter[str], passed: Passed) -> Iterable[Cause]:
    """The near misses that explain most rows, again and again. `against`: how many rows that passed speak against each.
    These make it less likely and do not rule it out: a defect may be narrower than its near miss."""
    left = list(rows)
    while left:
        explains: Counter[str] = Counter()
        weight: Counter[str] = Counter()
        for _, result in left:
            names = _near_misses(result)
            for place, name in enumerate(names):
                explains[name] += 1
                # Of two that explain as many rows, the one that is named with fewer others and before them.
                weight[name] -= len(names) + place
        certain = {name: number * number / (number + against[name]) for name, number in explains.items()}
        likely = {name: (number, not name.startswith(_GENERAL), weight[name]) for name, number in certain.items()}
        best = max(likely, key=lambda name: likely[name])
        its = [(run, result) for run, result in left if best in result.looks_like]
        left = [(run, result) for run, result in left if best not in result.looks_like]
        same = sorted((name for name in explains if _all_have(name, its)), key=lambda name: likely[name], reverse=True)
        named = (best, *(name for name in same if name != best))
        facts = [name for name in its[0][1].looks_like if name.startswith("bytes.") and _all_have(name, its)]
        if _UNCHANGED in facts:
            named = (_UNCHANGED, *named)
        elif facts and against[best]:
            named = (*named[: SHOWN - 1], facts[0], *named[SHOWN - 1 :])
        if _NO_RECORD in named[SHOWN:]:
            named = (*named[: SHOWN - 1], _NO_RECORD, *(name for name in named[SHOWN - 1 :] if name != _NO_RECORD))
        sentences = its[0][0].near_misses
        shown = [sentences.get(name, name) for name in named[:SHOWN]]
        more = f", or {len(named) - SHOWN} more" if len(named) > SHOWN else ""
        said = f"looks like: {', or '.join(shown)}{more}"
        # The first one is shown: bytes tell more than a record, and have a drawing.
        results = sorted((result for _, result in its), key=lambda result: result.difference is None)
        yield Cause(_title(_requirements(its), said), named[:SHOWN], results, beside(its, passed))


def _all_have(name: str, rows: Sequence[tuple[Run, Result]]) -> bool:
    return all(name in result.looks_like for _, result in rows)


def _requirements(rows: Sequence[tuple[Run, Result]]) -> str:
    """Those that most of the rows verify."""
    counts: Counter[str] = Counter()
    for run, result in rows:
        case = run.cases.get(case_of(result.id))
        counts.update(case.requirements if case is not None else ())
    ids = [id for id, _ in counts.most_common(SHOWN)]
    return f"{', '.join(ids)}{' …' if len(counts) > SHOWN else ''}"


def _title(requirements: str, said: str) -> str:
    return f"{requirements}: {said}" if requirements else said
