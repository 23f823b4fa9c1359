"""What differs between runs: the last of them against the others, row by row.

The baseline of a row is its last result before the newest run. A row is FLAKY if it both passed and went wrong where
nothing differed: among the tries of one run, or in runs of the same suite, device and commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from mkeyspec.report.causes import causes_of
from mkeyspec.report.provenance import provenance_of
from mkeyspec.report.reader import Run, Unusable, case_of, file_of
from mkeyspec.report.record import WRONG, Result

Kind = Literal["REGRESSED", "LOST", "NEW FAILURE", "FLAKY", "STILL WRONG", "FIXED", "NEW", "CHANGED"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""In the order of a report. LOST: a row that had a verdict, and now has no result, or is skipped. NEW FAILURE: a row
without a baseline that went wrong. REGRESSED: also what passed, and is known now. CHANGED: skipped before, and now
passed, known or not there; known before, and now passed."""

BAD: frozenset[Kind] = frozenset({"REGRESSED", "LOST", "NEW FAILURE"})
"""Kinds for which the exit code is 1, beside FLAKY if the row went wrong now."""

_FACTOR, _LEAST = 2.0, 0.05
"""A duration has changed by this factor, and by at least so many seconds."""


@dataclass(frozen=True, slots=True)
class Change:
    """Of one row. `before` and `now` are None where it has no result."""

    id: str
    kind: Kind
    before: Result | None
    now: Result | None


@dataclass(slots=True)
class Comparison:
    runs: list[Run]
    changes: list[Change] = field(default_factory=list)
    records: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Of rows that did not go wrong: id, name, value before, value now."""
    durations: list[tuple[str, float, float]] = field(default_factory=list)
    """Of rows with a verdict in both: id, seconds before, seconds now."""
    capabilities: list[tuple[str, str, str]] = field(default_factory=list)
    """Name, before, now; "" where the device does not offer it."""
    provenance: list[tuple[str, str, str]] = field(default_factory=list)
    causes: dict[str, str] = field(default_factory=dict)
    """By the id of a row that is wrong now: the title of its cause."""
    same: int = 0
    """Rows with the same verdict, which is not wrong."""

    def of(self, *kinds: Kind) -> list[Change]:
        return [change for change in self.changes if change.kind in kinds]

    @property
    def bad(self) -> bool:
        return any(change.kind in BAD or _flaky_and_wrong(change) for change in self.changes)


def _flaky_and_wrong(change: Change) -> bool:
    return change.kind == "FLAKY" and change.now is not None and change.now.verdict in WRONG


def compare(runs: Sequence[Run]) -> Comparison:
    """`runs`: at least two, the oldest first. Raises Unusable (MKS0932) if the newest has no row of the others."""
    *older, newest = runs
    found = Comparison(list(runs))
    baseline: dict[str, Result] = {}
    for run in older:
        baseline.update(run.results)
    if baseline and newest.results and not baseline.keys() & newest.results.keys():
        name, example = newest.path, next(iter(newest.results))
        raise Unusable(
            "MKS0932", f"{name} has no row of the other runs: `{example}` is in none; compare runs of the same cases"
        )
    for id in dict.fromkeys([*baseline, *newest.results]):
        before, now = baseline.get(id), newest.results.get(id)
        kind = _kind(id, before, now, runs)
        if kind is None:
            found.same += 1
        else:
            found.changes.append(Change(id, kind, before, now))
        if before is not None and now is not None:
            _compare_values(found, id, before, now)
    for cause in causes_of((newest, result) for result in newest.results.values()):
        found.causes.update((result.id, cause.title) for result in cause.results)
    found.changes.sort(key=lambda change: KINDS.index(change.kind))
    found.durations.sort(key=lambda one: -abs(one[2] - one[1]))
    found.capabilities = _capabilities(older[-1], newest)
    found.provenance = _provenance(older[-1], newest)
    return found


def _kind(id: str, before: Result | None, now: Result | None, runs: Sequence[Run]) -> Kind | None:
    if now is None or now.verdict == "skipped":
        if before is not None and before.verdict != "skipped":
            return "LOST"
        return "NEW" if before is None else "CHANGED" if now is None else None
    wrong = now.verdict in WRONG
    if _is_flaky(id, runs):
        return "FLAKY"
    if before is None:
        return "NEW FAILURE" if wrong else "NEW"
    if before.verdict in WRONG:
        return "STILL WRONG" if wrong else "FIXED"
    if wrong or (before.verdict, now.verdict) == ("passed", "known"):
        return "REGRESSED"  # a list that excuses the departure does not make it one that was there
    return None if before.verdict == now.verdict else "CHANGED"


def _is_flaky(id: str, runs: Sequence[Run]) -> bool:
    """Whether it came out in both ways where nothing differed."""
    seen: dict[tuple[str, ...], set[bool]] = {}
    for run in runs:
        its = [*run.earlier.get(id, ()), *([run.results[id]] if id in run.results else ())]
        for result in its:
            if result.verdict in ("passed", "known") or result.verdict in WRONG:
                seen.setdefault(_circumstances(run, id), set()).add(result.verdict in WRONG)
    return any(len(both) == 2 for both in seen.values())


def _circumstances(run: Run, id: str) -> tuple[str, ...]:
    """What a row's verdict may depend on. Of a commit with changes nothing is known."""
    begin, device = run.begin, run.device
    suite = run.suites.get(file_of(id))
    changed = run.begin.run if begin.git_changed or not begin.git_commit else ""
    return (
        begin.device, begin.device_profile, begin.host, begin.kernel, begin.mkeyspec, begin.git_commit, changed,
        device.device, device.firmware, repr(device.versions), suite.sha256 if suite is not None else "",
        " ".join(begin.expectations), _option(begin.options, "--fault"),
    )  # fmt: skip


def _option(options: Sequence[str], name: str) -> str:
    """The value of an option of the command line."""
    for place, option in enumerate(options):
        if option == name:
            return " ".join(options[place + 1 : place + 2])
        if option.startswith(f"{name}="):
            return option.partition("=")[2]
    return ""


def _compare_values(found: Comparison, id: str, before: Result, now: Result) -> None:
    if not {before.verdict, now.verdict} & (WRONG | {"skipped"}):
        for name in dict.fromkeys([*before.records, *now.records]):
            old, new = before.records.get(name, ""), now.records.get(name, "")
            if old != new:
                found.records.append((id, name, old, new))
    low, high = sorted((before.seconds, now.seconds))
    if before.verdict == now.verdict == "passed" and high >= _FACTOR * low and high - low >= _LEAST:
        found.durations.append((id, before.seconds, now.seconds))


def _capabilities(before: Run, now: Run) -> list[tuple[str, str, str]]:
    if not before.devices or not now.devices:
        return []  # no row used the device
    old = {**dict.fromkeys(before.device.offers, "yes"), **{k: str(v) for k, v in before.device.values.items()}}
    new = {**dict.fromkeys(now.device.offers, "yes"), **{k: str(v) for k, v in now.device.values.items()}}
    return [
        (name, old.get(name, ""), new.get(name, "")) for name in sorted({*old, *new}) if old.get(name) != new.get(name)
    ]


def _provenance(before: Run, now: Run) -> list[tuple[str, str, str]]:
    old, new = dict(provenance_of(before)), dict(provenance_of(now))
    own = ("run", "started", "options")
    names = [name for name in dict.fromkeys([*old, *new]) if name not in own and old.get(name) != new.get(name)]
    return [(name, old.get(name, ""), new.get(name, "")) for name in names]


# Groups ----------------------------------------------------------------------------------------


def grouped(changes: Sequence[Change], comparison: Comparison) -> list[tuple[str, list[Change]]]:
    """By the cause of what went wrong, or by the case of what did not; the largest group first."""
    groups: dict[str, list[Change]] = {}
    for change in changes:
        groups.setdefault(comparison.causes.get(change.id, case_of(change.id)), []).append(change)
    return sorted(groups.items(), key=lambda group: -len(group[1]))
