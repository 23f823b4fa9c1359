"""Coverage: which statements of the ledger have their cases, and which corners of the parameter space they visit.

An item is negative if it claims a refusal or checks for a signature error; it is positive if it expects something
to hold, or claims nothing negative. It may be both. A half of an entry is covered by at least one item of that
kind among the cases that name it in `verifies`. A claim (a case and an entry of its `verifies`) is supported if
`mkeyspec sabotage --claims` has proved it (`proofs.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product

from mkeyspec import plan
from mkeyspec.requirements.ledger import Requirement
from mkeyspec.requirements.proofs import NEGATIVE, POSITIVE, Proofs
from mkeyspec.value.layout import Interleaved
from mkeyspec.value.signature import Crc, Domain, T10Dif


@dataclass(slots=True)
class Covered:
    """What the cases do for one entry. `cases` are `cases/x.mks::name`."""

    requirement: Requirement
    positive: int = 0
    negative: int = 0
    cases: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    """Of its items on the last run: passed, failed, skipped."""
    supported: int = 0
    """How many of its cases are proved to notice a fault of it; their halves: `supported_positive`, `_negative`."""
    supported_positive: int = 0
    supported_negative: int = 0

    @property
    def missing(self) -> str:
        """What it lacks: "", "positive", "negative" or both."""
        lacks = []
        if self.requirement.wants_positive and not self.positive:
            lacks.append("positive")
        if self.requirement.wants_negative and not self.negative:
            lacks.append("negative")
        return ", ".join(lacks)


HOLDS = (plan.Expect, plan.Query, plan.LoginState)
"""Statements that expect something to hold."""


def is_negative(row: plan.Row) -> bool:
    """Whether an item claims a refusal or a signature error."""
    for step in row.steps:
        claim: plan.Claim = getattr(step, "claim", ())
        if any(isinstance(outcome, plan.Rejected) for outcome in claim):
            return True
        if isinstance(step, plan.Check) and step.kind != ("ok",):
            return True
    return False


def is_positive(row: plan.Row) -> bool:
    """Whether an item expects something to hold."""
    return not is_negative(row) or any(isinstance(step, HOLDS) for step in row.steps)


def cover(
    suites: Iterable[plan.Suite],
    requirements: dict[str, Requirement],
    outcomes: dict[str, str],
    proofs: Proofs | None = None,
) -> list[Covered]:
    """An entry each, in the ledger's order. `outcomes`: item id to passed, failed or skipped. `proofs`: those known."""
    proofs = proofs or Proofs()
    found = {key: Covered(requirement) for key, requirement in requirements.items()}
    for suite in suites:
        for case in suite.cases:
            name = f"{suite.source}::{case.name}"
            negative = sum(is_negative(row) for row in case.rows)
            positive = sum(is_positive(row) for row in case.rows)
            results = Counter(
                outcomes[item]
                for item in (f"{name}[{row.id}]" if row.id else name for row in case.rows)
                if item in outcomes
            )
            for key in dict.fromkeys(case.verifies):
                entry = found[key]
                entry.cases.append(name)
                entry.negative += negative
                entry.positive += positive
                entry.outcomes += results
                halves = [proofs.of(name, key, half) is not None for half in (POSITIVE, NEGATIVE)]
                entry.supported += any(halves)
                entry.supported_positive += halves[0]
                entry.supported_negative += halves[1]
    return list(found.values())


# Parameter bins --------------------------------------------------------------------------------

KINDS = (
    *(f"{crc} {seed}" for crc in ("crc32", "crc32c", "crc64_xp10") for seed in ("zeros", "ones")),
    "t10dif crc zeros",
    "t10dif crc ones",
    "t10dif csum zeros",
)
"""A checksum with a seed of ones is an open point (X-OPEN-14)."""
SIZES = ("512", "520", "4048", "4096", "4160")
DOMAINS = ("mem", "wire", "both")
DIRECTIONS = ("tx", "rx")
LAYOUTS = ("list", "interleaved")
BLOCKS = ("1", "2", "many")


def space() -> Iterator[tuple[str, ...]]:
    """Every corner that the cases should visit."""
    yield from product(KINDS, SIZES, DOMAINS, DIRECTIONS, LAYOUTS, BLOCKS)


def kind_of(domain: Domain) -> str:
    """Signature type with its seed or guard: "crc32 ones", "t10dif csum zeros"."""
    signature = domain.signature
    if isinstance(signature, Crc):
        return f"{signature.kind} {'ones' if signature.init else 'zeros'}"
    assert isinstance(signature, T10Dif)
    return f"t10dif {'csum' if signature.bg_type else 'crc'} {'ones' if signature.bg else 'zeros'}"


def bins(row: plan.Row) -> Iterator[tuple[str, ...]]:
    """(kind, block size, domain, direction, layout, number of blocks) of every transfer through a signature mkey."""
    signatures: dict[str, plan.SetSignature] = {}
    layouts: dict[str, str] = {}
    for step in row.steps:
        if isinstance(step, plan.Post):
            for request in step.requests:
                if isinstance(request, plan.Configure):
                    if request.reset_signature:
                        signatures.pop(request.mkey, None)
                    for setter in request.setters:
                        if isinstance(setter, plan.SetSignature):
                            signatures[request.mkey] = setter
                        elif isinstance(setter, plan.SetLayout):
                            walk = isinstance(setter.layout, Interleaved)
                            layouts[request.mkey] = "interleaved" if walk else "list"
        elif isinstance(step, (plan.Transmit, plan.Receive)):
            used = signatures.get(step.part.name)
            if used is None or not isinstance(step.part.length, int):
                continue
            direction = "rx" if step.by in plan.RECEIVE else "tx"
            for place, domain in (("mem", used.mem), ("wire", used.wire)):
                if domain is None:
                    continue
                where = "both" if used.mem is not None and used.wire is not None else place
                frame = used.wire.frame if used.wire is not None else domain.block
                blocks = step.part.length // frame
                many = "many" if blocks > 2 else str(blocks)
                yield kind_of(domain), str(domain.block), where, direction, layouts.get(step.part.name, "-"), many


def count_bins(suites: Iterable[plan.Suite]) -> Counter[tuple[str, ...]]:
    """How many items visit each bin."""
    found: Counter[tuple[str, ...]] = Counter()
    for suite in suites:
        for case in suite.cases:
            for row in case.rows:
                found.update(set(bins(row)))
    return found
