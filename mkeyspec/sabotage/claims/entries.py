"""What is proved of each entry of the ledger, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mkeyspec.requirements.ledger import Requirement, requirements
from mkeyspec.requirements.proofs import NEGATIVE, POSITIVE
from mkeyspec.sabotage.claims.proof import Claim


@dataclass(slots=True)
class Entry:
    """Of one entry of the ledger: how many claims have their positive and their negative half supported."""

    requirement: Requirement
    claims: int = 0
    positive: int = 0
    negative: int = 0

    @property
    def missing(self) -> list[str]:
        lacks = []
        if self.requirement.wants_positive and not self.positive:
            lacks.append(POSITIVE)
        if self.requirement.wants_negative and not self.negative:
            lacks.append(NEGATIVE)
        return lacks


def by_requirement(claims: Iterable[Claim]) -> dict[str, Entry]:
    """Every entry of the ledger, in its order."""
    found: Mapping[str, Entry] = {name: Entry(one) for name, one in requirements().items()}
    for claim in claims:
        entry = found[claim.requirement]
        entry.claims += 1
        entry.positive += POSITIVE in claim.proofs
        entry.negative += NEGATIVE in claim.proofs
    return dict(found)
