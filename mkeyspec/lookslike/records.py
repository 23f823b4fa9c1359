"""The error record of a case by the rules of each near miss: which of them give the record that was got."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mkeyspec.lookslike.evaluation import Budget, Evaluation, Part, Spent
from mkeyspec.lookslike.hypothesis import USUAL, FieldsJob, Rules
from mkeyspec.lookslike.other_signature import other_signature
from mkeyspec.lookslike.record_ways import GUARD, PARTS, WAYS, Fits, LaidDown, Report, Told, Way, escaped_blocks
from mkeyspec.lookslike.search import AS_DECLARED, DECLARED, Finding, finding_of, leave_open
from mkeyspec.lookslike.transfer import Arrival, Stage, moves_of, replayed
from mkeyspec.value.signature import T10Dif

MOST = 64 << 20
"""Bytes that are computed for one record."""
ONE = 2 << 20
"""Of those, for one hypothesis."""
LARGEST = 256 << 20
"""Bytes that are computed for the record by the usual rules."""
LAST = 1 << 20
"""All messages that have not been asked for."""
FEW = 64
"""Blocks that are looked at first."""


def errors_of(arrival: Arrival, evaluation: Evaluation) -> list[Report]:
    """All errors of a message, block by block."""
    domain, fields = arrival.domain, arrival.fields
    if not len(fields):
        return []
    signature = domain.signature
    job = FieldsJob(signature, arrival.data, domain.block, 0, (), fields)
    computed = evaluation.fields(job)
    mask = arrival.signature.check_mask
    if evaluation.rules.masked is not None:
        mask = evaluation.rules.masked(mask, domain)
    looked = np.array([bool(mask & 0x80 >> i) for i in range(signature.field_size)])
    differs = ((fields != computed) | evaluation.rules.found) & looked
    if isinstance(signature, T10Dif):
        differs[escaped_blocks(signature, domain, fields, evaluation.rules)] = False
    reports = []
    parts = PARTS if signature.tags else {GUARD: (0, signature.field_size)}
    for block in np.flatnonzero(differs.any(axis=1))[:256].tolist():
        for kind, (first, end) in parts.items():
            if differs[block, first:end].any():
                found, ought = fields[block].tobytes(), computed[block].tobytes()
                reports.append(
                    Report(
                        kind,
                        block,
                        found[first:end],
                        ought[first:end],
                        domain,
                        (found, ought),
                        0 < block == len(fields) - 1,
                    )
                )
    return reports


_RECORD = "this record"


def record_looks_like(stage: Stage, mkey: str, got: Told, fits: Fits, laid_down: LaidDown) -> Finding:
    """The near misses that give the record that was got. `stage`: what was done before the check; `fits`: whether a
    record is what the case expects: only if the usual rules give one that does is anything tried. Raises nothing."""
    try:
        return replace(finding_of(list(_causes(stage, mkey, got, fits, laid_down)), len(WAYS)), what=_RECORD)
    except Exception:  # what only the device knows, and did not tell; a message too long for the limit
        return Finding((), len(WAYS), what=_RECORD)


def _causes(stage: Stage, mkey: str, got: Told, fits: Fits, laid_down: LaidDown) -> Iterator[tuple[str, str]]:
    search = Search(stage, mkey, laid_down)
    last = usual_messages(search, fits)
    if last is None:
        yield from _as_declared(search, got)
        return
    if got.kind != "ok" and search.told(Way("", ""), last).kind == "ok" and search.is_right(got):
        yield "check.false_alarm", "an error is told of a field that is right: expected and actual are the same"
    for way in WAYS:
        try:
            if search.told(way, last) == got:
                yield way.name, way.sentence
        except Spent:
            if search.budget.left < ONE:
                return
        except Exception:  # no record by these rules
            continue


def _as_declared(search: Search, got: Told) -> Iterator[tuple[str, str]]:
    """Whether the references give the record that was got, from all that the case declares and does: then the case is
    wrong. Of one bad field or more it is said of what domain they are."""
    if leave_open(search.stage.steps) or search.told(Way("", ""), LAST) != got:
        return
    bad = search.first_bad() if got.kind != "ok" else None
    if bad is None:
        yield DECLARED, f"{AS_DECLARED}: the expectation differs from that"
        return
    setter, declared = bad.signature, bad.domain.signature.describe()
    side = " in memory" if setter.wire is None else " on the wire" if setter.mem is None else " that came in"
    other = other_signature(bad, ONE)
    if other is None:
        yield DECLARED, f"{AS_DECLARED}: not all fields{side} are those of {declared}"
    else:
        yield DECLARED, f"{AS_DECLARED}: the fields{side} are those of {other.describe()}, and not of {declared}"


def usual_messages(search: Search, fits: Fits) -> int | None:
    """How many of the last messages a check looks at, so that the usual rules give what the case expects; None if no
    number does."""
    usual = Way("", "")
    return next((count for count in (LAST, 1, 2) if fits(search.told(usual, count))), None)


class Search:
    """What each way tells of the messages of one mkey."""

    def __init__(self, stage: Stage, mkey: str, laid_down: LaidDown) -> None:
        self.stage = stage
        self.mkey = mkey
        self.laid_down = laid_down
        self.moves = moves_of(stage)
        self.budget = Budget(MOST)
        self._usual: list[Arrival] | None = None
        self._errors: dict[int, list[Report]] = {}

    def told(self, way: Way, last: int) -> Told:
        arrivals = self._arrivals(way.rules) if way.messages != 1 else self._every_arrival()
        start = {1: 0, -1: len(arrivals) - 1}.get(way.messages, len(arrivals) - last)
        reports: list[Report] = []
        for arrival in arrivals[max(start, 0) :]:
            reports = self._reports(way.rules, arrival)
            if reports:
                break
        report = way.pick(reports)
        return Told("ok") if report is None else way.lay(self.laid_down(report), report)

    def first_bad(self) -> Arrival | None:
        """The message with the first error by the usual rules."""
        return next((one for one in self._arrivals(USUAL) if self._reports(USUAL, one)), None)

    def is_right(self, got: Told) -> bool:
        """Whether a record tells of a field as it is computed, and as it should be."""
        rules = Rules(found=True)
        return any(
            self.laid_down(report) == got for one in self._arrivals(rules)[-1:] for report in self._reports(rules, one)
        )

    def _reports(self, rules: Rules, arrival: Arrival) -> list[Report]:
        if rules is USUAL:
            known = self._errors.get(id(arrival))
            if known is None:
                known = self._errors[id(arrival)] = errors_of(arrival, Evaluation(rules, Budget(LARGEST)))
            return known
        few = replace(arrival, data=arrival.data[: FEW * arrival.domain.block], fields=arrival.fields[:FEW])
        reports = errors_of(few, Evaluation(rules, Part(self.budget, ONE)))
        if reports or len(few.fields) == len(arrival.fields):
            return reports
        return errors_of(arrival, Evaluation(rules, Part(self.budget, ONE)))

    def _every_arrival(self) -> list[Arrival]:
        """The messages of the mkey, those too that a check has told of."""
        moves = [move for move in self.moves if not move.check]
        made = replayed(self.stage, moves, Evaluation(USUAL, Part(self.budget, ONE)), anew=True)
        return [one for one in made.arrivals if one.mkey == self.mkey]

    def _arrivals(self, rules: Rules) -> list[Arrival]:
        """The messages of the mkey. Rules of the check alone leave them as they are."""
        if rules == Rules(rules.fields, escaped=rules.escaped, masked=rules.masked, found=rules.found):
            if self._usual is None:
                usual = replayed(self.stage, self.moves, Evaluation(USUAL, Budget(LARGEST)), anew=True)
                self._usual = [one for one in usual.arrivals if one.mkey == self.mkey]
            return self._usual
        made = replayed(self.stage, self.moves, Evaluation(rules, Part(self.budget, ONE)), anew=True)
        return [one for one in made.arrivals if one.mkey == self.mkey]
