"""The proof of the claims of a case: its rows against faults of the entries that it says it verifies, on the model.

A claim is a case and an entry of its `verifies`. It is supported by a fault that violates the entry, if a row of the
case reports the fault by what it says (`evidence.py`) in a way in which the ledger says that the entry is observed. Its
positive half and, where the ledger has one, its negative half are proved each on their own.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from time import process_time
from types import FrameType

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import OFFERS, Profile
from mkeyspec.plan import At, Need, Step, lacked, offered
from mkeyspec.requirements.coverage import HOLDS
from mkeyspec.requirements.ledger import requirements
from mkeyspec.requirements.proofs import NEGATIVE, POSITIVE, Proof, Proofs
from mkeyspec.requirements.space import spaces
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import Blocked, CaseFailed
from mkeyspec.sabotage import catalogue, model
from mkeyspec.sabotage.claims.evidence import Evidence, evidence, is_negative, plain_peer, statements
from mkeyspec.sabotage.conditions import catalogue as conditions
from mkeyspec.sabotage.conditions.reach import reach
from mkeyspec.sabotage.suite import Item, outcome

DEADLINE = 0.01
"""Longest wait, in seconds: the model has done all its work before a call returns."""
_HANG = 20.0
"""Seconds of processor time after which a row counts as hung."""
_FEW = 24
"""Rows of each half that are run against each fault first, from all over the case. They show nearly everything; the
other rows are for claims that these leave without support."""
_LONG = 0.3
"""Seconds of processor time: rows that take longer are run only for claims without support, too."""
_MOST_RUNS = 300
"""Rows that are run against faults under a condition, for one case and one entry: one case has 25 rows for each of some
hundred faults, and what 300 runs did not show hardly comes."""


@dataclass(slots=True)
class Claim:
    """A case and an entry of its `verifies`. `halves`: those that its rows can show; `proofs`: of those that are."""

    case: str
    at: At
    requirement: str
    halves: tuple[str, ...] = ()
    proofs: dict[str, Proof] = field(default_factory=dict)

    @property
    def supported(self) -> bool:
        return bool(self.proofs)

    def open(self, both: bool = True) -> list[str]:
        """The halves to prove: of `both`, or none if one is proved."""
        if self.proofs and not both:
            return []
        return [half for half in self.halves if half not in self.proofs]


@dataclass(slots=True)
class Proved:
    """Of one case. `failing`: rows that fail without any fault."""

    claims: list[Claim]
    failing: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Fault:
    """`violates`: the entries that it is a fault of."""

    id: str
    violates: tuple[str, ...]
    make: Callable[[Profile], Model]


class WorkerEnded(Exception):
    """A process that proves claims ended; `str()` is one line."""


class _Hung(BaseException):
    """Not an Exception: the rig catches those."""


class _Watched(Rig):
    """A rig that keeps the steps of its case."""

    steps: list[Step]

    def step(self, step: Step) -> None:
        self.steps.append(step)
        super().step(step)


@cache
def _base(requirement: str) -> tuple[_Fault, ...]:
    """The faults of the catalogue that violate an entry."""
    return tuple(_plain(one) for one in catalogue.faults().values() if requirement in one.violates)


def _plain(one: catalogue.Fault) -> _Fault:
    return _Fault(one.name, one.violates, lambda profile: model.faulty_model(one.name, profile))


def _conditional(one: conditions.ConditionalFault) -> _Fault:
    spaced = tuple(
        name for name in one.base.violates if name in spaces() and conditions.counts(spaces()[name], one.condition)
    )
    return _Fault(one.id, spaced, one.make)


def _named(id: str) -> _Fault | None:
    """None if there is no such fault any more."""
    if id in catalogue.faults():
        return _plain(catalogue.faults()[id])
    found = conditions.faults().get(id)
    return None if found is None else _conditional(found)


def _spread(rows: Collection[int]) -> list[int]:
    """First one, then the middle, then the quarters…: wherever it is cut, it has rows from all over the case."""
    ordered = sorted(rows)
    width = len(ordered).bit_length()
    return [ordered[place] for place in sorted(range(len(ordered)), key=lambda place: f"{place:0{width}b}"[::-1])]


def _fitting(profile: Profile, needs: Sequence[Need]) -> Profile:
    """A device on which the rows run: without what they want to be lacking, and with wrapped DEKs if they want them."""
    method = "wrapped" if "crypto.wrapped" in offered(needs) else profile.import_method
    lacks = OFFERS.intersection(lacked(needs)).difference(profile.without)
    return replace(profile, without=(*profile.without, *sorted(lacks)), import_method=method)


class Case:
    """The rows of one case, and what is proved of its claims."""

    def __init__(
        self,
        items: Sequence[Item],
        wanted: Sequence[str],
        profile: Profile,
        *,
        both: bool = True,
        thorough: bool = False,
    ) -> None:
        """`wanted`: entries of its `verifies`. `both`: look for a proof of each half, not only of either. `thorough`:
        look for the other half of a supported claim in every row, too."""
        self.items = items
        self.both = both
        self.thorough = thorough
        self.claims = {name: Claim(items[0].case, items[0].info.at, name) for name in wanted}
        self.failing: list[str] = []
        self.rows: list[int] = []
        """Those that pass without a fault."""
        self.long: set[int] = set()
        self.positive: set[int] = set()
        self.negative: set[int] = set()
        # What a device does not announce it may still do, if it does it right: the faults are in what it does. Where
        # that is wrong, the device is one that can't.
        self.profile, fitting = profile, _fitting(profile, items[0].info.needs)
        self.announced = None if fitting == profile else Model(fitting).capabilities()
        self._straight()
        if self.failing and self.announced is not None:
            self.profile, self.announced = fitting, None
            self.failing.clear()
            self._straight()

    def _straight(self) -> None:
        """Run every row without a fault, and see which halves they can show."""
        shown: set[str] = set()
        self.rows.clear()
        rig = self._rig(Model(self.profile))
        for row, item in enumerate(self.items):
            begun = process_time()
            how, _ = self._run(rig, item)
            if process_time() - begun > _LONG:
                self.long.add(row)
            if how == "skip":
                continue
            if how != "pass":
                self.failing.append(item.id)
                rig = self._rig(Model(self.profile))
                continue
            self.rows.append(row)
            negative = any(map(is_negative, rig.steps))
            if not negative or any(isinstance(step, HOLDS) for step in rig.steps):
                self.positive.add(row)
                shown.add(POSITIVE)
            if negative:
                self.negative.add(row)
                shown.add(NEGATIVE)
        for name, claim in self.claims.items():
            entry = requirements()[name]
            if not entry.wants_negative:
                claim.halves = (POSITIVE,)
                continue
            wants = {POSITIVE: bool(entry.positive), NEGATIVE: True}
            claim.halves = tuple(half for half in wants if wants[half] and half in shown) or tuple(sorted(shown))

    def _rig(self, device: Model) -> _Watched:
        if (announced := self.announced) is not None:
            device.capabilities = lambda: announced  # type: ignore[method-assign]
        rig = _Watched(device, self.profile, Expectations.load([], device.info()), deadline=DEADLINE)
        rig.likens = False  # only the codes are looked at
        return rig

    def _run(self, rig: _Watched, item: Item) -> tuple[str, list[Evidence]]:
        """How a row ended, and what its failures say."""
        rig.steps = []
        signal.setitimer(signal.ITIMER_VIRTUAL, _HANG)
        try:
            return outcome(item, rig), []
        except CaseFailed as failed:
            said = evidence(failed.failures, statements(rig.steps), rig.verdict.statuses, plain_peer(rig.steps))
            return failed.failures[0].code, said
        except Blocked:
            return "blocked", []
        except _Hung:
            return "hang", []
        except Exception as error:
            return f"error: {type(error).__name__}", []
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def prove(self, hints: Proofs) -> None:
        """First what is known to prove, then a few rows against the catalogue, then every row, and faults under a
        condition."""
        asked, self.both = self.both, True
        self._known(hints)
        self.both = asked
        halves = (_spread(self.positive - self.long), _spread(self.negative - self.long))
        few = list(dict.fromkeys(row for half in halves for row in half[:_FEW]))
        self._catalogue(few)
        self.both = self.both and self.thorough
        self._catalogue([row for row in _spread(self.rows) if row not in few])
        left = [name for name, claim in self.claims.items() if claim.open(self.both)]
        if left and self.rows:
            self._under_conditions(left)

    def _catalogue(self, rows: Sequence[int]) -> None:
        for name, claim in self.claims.items():
            for fault in _base(name):
                if not claim.open(self.both):
                    break
                self._against(fault, rows)

    def _known(self, hints: Proofs) -> None:
        by_id = {item.id: row for row, item in enumerate(self.items)}
        for claim in self.claims.values():
            for half in claim.halves:
                hint = hints.of(claim.case, claim.requirement, half)
                fault = None if hint is None else _named(hint.fault)
                if hint is None or fault is None or claim.requirement not in fault.violates:
                    continue
                row = by_id.get(hint.item(claim.case))
                if row in self.rows:
                    self._against(fault, [row])

    def _under_conditions(self, left: Sequence[str]) -> None:
        faults = [one for one in conditions.faults().values() if set(left).intersection(one.base.violates)]
        items = [self.items[row] for row in self.rows]
        reached = reach(items, faults, self.profile, DEADLINE, 1)
        runs = dict.fromkeys(left, _MOST_RUNS)
        for one in faults:
            fault = _conditional(one)
            mine = [name for name in fault.violates if name in runs and runs[name] > 0]
            if any(self.claims[name].open(self.both) for name in mine):
                rows = sorted(reached.of(one))[: max(runs[name] for name in mine)]
                self._against(fault, [self.rows[place] for place in rows])
                for name in mine:
                    runs[name] -= len(rows)

    def _against(self, fault: _Fault, rows: Iterable[int]) -> None:
        """Run rows on a device with a fault, until nothing is open that it could prove."""
        rig: _Watched | None = None
        for row in rows:
            mine = [self.claims[name] for name in fault.violates if name in self.claims]
            mine = [claim for claim in mine if claim.open(self.both)]
            if not mine:
                return
            if not any(self._shows(claim, row) for claim in mine):
                continue
            if rig is None:
                rig = self._rig(fault.make(self.profile))
            how, said = self._run(rig, self.items[row])
            if how in ("pass", "skip"):
                continue
            rig = None
            for claim in mine:
                for one in said:
                    self._enter(claim, fault, row, one)

    def _shows(self, claim: Claim, row: int) -> bool:
        """Whether a row can show what is open of a claim."""
        if not requirements()[claim.requirement].wants_negative:
            return True
        return any(row in (self.negative if half == NEGATIVE else self.positive) for half in claim.open(self.both))

    def _enter(self, claim: Claim, fault: _Fault, row: int, said: Evidence) -> None:
        entry = requirements()[claim.requirement]
        half = NEGATIVE if said.negative else POSITIVE
        if not entry.wants_negative:
            half = POSITIVE  # an error record may be all that its sentence is about
        elif half == POSITIVE and row not in self.positive:
            return
        if half in claim.open(self.both) and said.kinds.intersection(entry.observe):
            name = self.items[row].id.removeprefix(claim.case)[1:-1]
            claim.proofs[half] = Proof(fault.id, name, said.code)


# The whole suite -------------------------------------------------------------------------------


def prove(
    items: Sequence[Item],
    wanted: Container[tuple[str, str]],
    hints: Proofs,
    profile: Profile,
    workers: int,
    *,
    both: bool = True,
    thorough: bool = False,
) -> Iterator[Proved]:
    """The claims of each case, in the order of the suite. `wanted`: cases and entries; `both` and `thorough` as for a
    Case. Raises WorkerEnded."""
    groups = []
    for _, group in groupby(items, key=lambda item: item.case):
        rows = list(group)
        names = [name for name in dict.fromkeys(rows[0].info.verifies) if (rows[0].case, name) in wanted]
        if names:
            groups.append((rows, names))
    prover = _Prover(groups, hints, profile, both, thorough)
    if workers == 1:
        before = signal.getsignal(signal.SIGVTALRM)
        try:
            _begin(prover)
            yield from map(_case, range(len(groups)))
        finally:
            signal.signal(signal.SIGVTALRM, before)
        return
    # A process takes the next case when it is free: some cases take a thousand times as long as others.
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(prover,)) as pool:
        told = pool.map(_case, range(len(groups)))
        for rows, _ in groups:
            try:
                yield next(told)
            except (BrokenProcessPool, SystemExit):
                case = rows[0].case
                raise WorkerEnded(
                    f"a process that proves claims ended, at {case} or a later case: run it without -n"
                ) from None


@dataclass(frozen=True, slots=True)
class _Prover:
    """What each process has."""

    groups: Sequence[tuple[list[Item], list[str]]]
    hints: Proofs
    profile: Profile
    both: bool
    thorough: bool

    def case(self, number: int) -> Proved:
        rows, names = self.groups[number]
        case = Case(rows, names, self.profile, both=self.both, thorough=self.thorough)
        case.prove(self.hints)
        return Proved(list(case.claims.values()), case.failing)


_prover: _Prover
"""Of this process: a fork has it without its being sent."""


def _begin(prover: _Prover) -> None:
    global _prover
    _prover = prover
    signal.signal(signal.SIGVTALRM, _hung)


def _case(number: int) -> Proved:
    return _prover.case(number)


def _hung(number: int, frame: FrameType | None) -> None:
    raise _Hung
