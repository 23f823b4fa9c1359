"""Which rows went wrong by one cause.

A near miss (`mkeyspec.lookslike`) that gives exactly what each of several rows got explains all of them. The one that
explains most rows is taken first, then the one that explains most of those that are left, and so on. Rows without a
near miss have a cause in common if they say the same of a statement of the same kind (`refusals`), or, of values, if
they have the requirements, the code and the message in common. Rows in which nothing was written at all are one cause.
Each cause has the requirement that it is about, and what passed beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mkeyspec.report import refusals
from mkeyspec.report.beside import Passed, beside, passed_rows
from mkeyspec.report.reader import Run, case_of
from mkeyspec.report.record import WRONG, Result
from mkeyspec.report.shares import Shares

SHOWN = 3
"""Near misses that are named."""

Row = tuple[Run, Result]

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
"""That nothing was written at all is reported before any guess. Of other facts about the bytes, the first one is
reported where rows that passed speak against the best guess."""
_NO_RECORD = "record.none"
"""The plainest near miss of an error that is not told: it is always among those that are named."""


@dataclass(slots=True)
class Cause:
    """`title`: the requirement that the rows have most in common, what they look like, or the code and the message, and
    the one value that sets them apart, if one does; `looks_like`: the near misses that explain every row of it, at most
    three, the most likely one first; `about`: lines about the requirement and the cases; `results`: the simplest row
    first; `beside`: lines about the rows of the same cases that passed."""

    title: str
    looks_like: tuple[str, ...] = ()
    results: list[Result] = field(default_factory=list)
    beside: tuple[str, ...] = ()
    about: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """The first row, and what is known of the cause."""
        yield from self.about
        first, *others = self.results
        yield f"{first.id}{f' and {len(others)} more' if others else ''}"
        yield from self.beside


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows that have `said` in common, and the near misses that explain all of them."""

    rows: Sequence[Row]
    said: str
    looks_like: tuple[str, ...] = ()


def causes_of(results: Iterable[Row]) -> list[Cause]:
    """The causes of the rows that went wrong; the one with most rows first. Statements that were accepted stand after
    those that were refused in the same way. Rows that are blocked come after the cause of the row that has left the
    device unhealthy."""
    everything = list(results)
    wrong = [(run, result) for run, result in everything if result.verdict in WRONG]
    if not wrong:
        return []
    passed, shares = passed_rows(everything), Shares(everything)
    near = [(run, result) for run, result in wrong if _near_misses(result)]
    against = Counter(name for _, result in everything if result.verdict == "passed" for name in result.against)
    groups = list(_explained(near, against))
    others: dict[str, list[Row]] = {}
    unwritten: list[Row] = []
    for run, result in wrong:
        if _near_misses(result):
            continue
        if _UNCHANGED in result.looks_like:
            unwritten.append((run, result))
            continue
        said = refusals.said(result)
        key = said if refusals.is_of_all(result) else f"{_requirements(run, result)}: {said}"
        if result.verdict == "blocked":
            key = f"blocked {result.culprit}"
        others.setdefault(key, []).append((run, result))
    groups = _joined(groups, unwritten)
    groups += [_Group(rows, refusals.title_of([result for _, result in rows])) for rows in others.values()]
    found = [_cause(group, shares, passed) for group in groups]
    found.sort(key=lambda cause: -len(cause.results))
    return _after_blocked(_side_by_side(found))


def _cause(group: _Group, shares: Shares, passed: Passed) -> Cause:
    rows = group.rows
    results = sorted((result for _, result in rows), key=_simplicity)
    if _are_blocked(results):
        culprit = results[0].culprit
        said = f"blocked, not run: the device is not healthy since {culprit}" if culprit else group.said
        return Cause(f"consequence: {said}", (), results)
    share = shares.of(rows)
    apart = beside(rows, passed)
    only = f"; only with {apart.binding}" if apart.binding else ""
    title = f"{share.id}: {group.said}{only}" if share.id else f"{group.said}{only}"
    return Cause(title, group.looks_like, results, apart.lines, share.lines)


def _simplicity(result: Result) -> tuple[bool, bool, int, int, int]:
    """Bytes tell more than a record, and have a drawing; what is refused and must be accepted tells more than what is
    refused otherwise than it must be. Of these the row with fewest requests and entries, then that with fewest bytes,
    then that with the shortest id."""
    size = result.size
    steps = size.get("requests", 0) + size.get("entries", 0)
    return result.difference is None, result.code == "MKS2003", steps, size.get("bytes", 0), len(result.id)


def _joined(groups: Sequence[_Group], unwritten: Sequence[Row]) -> list[_Group]:
    """With one group of all rows in which nothing was written, whatever else explains some of them."""
    its = [group for group in groups if _UNCHANGED in group.looks_like[:1]]
    if len(its) + bool(unwritten) < 2 and not unwritten:
        return list(groups)
    rows = [row for group in its for row in group.rows] + list(unwritten)
    names = [name for name in (its[0].looks_like if its else (_UNCHANGED,)) if _all_have(name, rows)]
    return [*(group for group in groups if group not in its), _Group(rows, _sentence(rows, names), tuple(names))]


def _side_by_side(causes: Sequence[Cause]) -> list[Cause]:
    """Those that were accepted, and should be refused, after the cause whose rows were refused so, and should not."""
    left = list(causes)
    ordered: list[Cause] = []
    while left:
        cause = left.pop(0)
        ordered.append(cause)
        refused = refusals.refusal(cause.results[0])
        accepted = refusals.missing_refusal(cause.results[0])
        for other in list(left) if refused or accepted else ():
            first = other.results[0]
            reverse = refused and refusals.missing_refusal(first) == refused
            if reverse or (accepted and refusals.refusal(first) == accepted):
                left.remove(other)
                word = "accepted, and must be refused" if reverse else "refused, and must be accepted"
                other.about = (*other.about, f"the reverse of the cause above: {word}")
                ordered.append(other)
    return ordered


def _after_blocked(found: Sequence[Cause]) -> list[Cause]:
    ordered = [cause for cause in found if not _are_blocked(cause.results)]
    for cause in reversed(found):
        if not _are_blocked(cause.results):
            continue
        culprit = cause.results[0].culprit
        before = (place for place, one in enumerate(ordered) if any(row.id == culprit for row in one.results))
        ordered.insert(next(before, len(ordered) - 1) + 1, cause)
    return ordered


def _are_blocked(results: Sequence[Result]) -> bool:
    return all(result.verdict == "blocked" for result in results)


def _near_misses(result: Result) -> list[str]:
    """What the bytes are (zeros, unchanged) says little of why: unrelated defects do that."""
    return [name for name in result.looks_like if not name.startswith("bytes.")]


def _explained(rows: Sequence[Row], against: Counter[str]) -> Iterator[_Group]:
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
        its = [row for row in left if best in row[1].looks_like]
        left = [(run, result) for run, result in left if best not in result.looks_like]
        example = min((result for _, result in its), key=_simplicity)
        shown = [name for name in example.looks_like if name in explains and _all_have(name, its)]
        # Those that are equally likely are in the order of the failure that is shown.
        named = tuple(sorted(shown, key=lambda name: likely[name][:2], reverse=True))
        facts = [name for name in its[0][1].looks_like if name.startswith("bytes.") and _all_have(name, its)]
        if _UNCHANGED in facts:
            named = (_UNCHANGED, *named)
        elif facts and against[best]:
            named = (*named[: SHOWN - 1], facts[0], *named[SHOWN - 1 :])
        if _NO_RECORD in named[SHOWN:]:
            named = (*named[: SHOWN - 1], _NO_RECORD, *(name for name in named[SHOWN - 1 :] if name != _NO_RECORD))
        yield _Group(its, _sentence(its, named), named[:SHOWN])


def _sentence(rows: Sequence[Row], names: Sequence[str]) -> str:
    sentences = rows[0][0].near_misses
    shown = [sentences.get(name, name) for name in names[:SHOWN]]
    more = len(names) - SHOWN
    rest = f", or {more} more: these rows can't tell them apart" if more > 0 else ""
    return f"looks like: {', or '.join(shown)}{rest}"


def _all_have(name: str, rows: Sequence[Row]) -> bool:
    return all(name in result.looks_like for _, result in rows)


def _requirements(run: Run, result: Result) -> str:
    case = run.cases.get(case_of(result.id))
    return ", ".join(case.requirements) if case is not None else ""
