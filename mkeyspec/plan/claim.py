"""What a step must do where it isn't plain success, and how a known driver departs from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from typing_extensions import TypeIs

from mkeyspec.plan.location import At
from mkeyspec.plan.observation import Expected
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Int

ERROR = "error"
"""The opcode of an entry that is any error: of a failed completion the opcode is not defined (ibv_poll_cq(3))."""


class _Outcome:
    """The facts about an outcome's class that every pass reads. A subclass is a frozen dataclass."""

    __slots__ = ()

    def succeeds(self) -> bool:
        """Whether nothing fails in it."""
        return True

    def listed(self) -> Optional[tuple[Entry, ...]]:
        """The completions that it lists; None: it lists none."""
        return None

    def unordered(self) -> tuple[Entry, ...]:
        """The completions that it lists in any order."""
        return ()


@dataclass(frozen=True, slots=True)
class Rejected(_Outcome):
    """Refused at `phase` (create, complete, completion, mkey_check, cancel).

    `reason`: an errno's name, a completion status or a class of them (`constants.STATUS_CLASS`), or None.
    `rule`: the one rule of the pages that the checker found broken; the profile knows the errno it earns.
    `requests`: of a section of several, at completion: which of them break a rule, counted from 0; () if the checker
    can't tell.
    """

    phase: str
    reason: Optional[str] = None
    rule: Optional[str] = None
    requests: tuple[int, ...] = ()

    def succeeds(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Accepted(_Outcome):
    """Goes through without a refusal."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One expected completion: an opcode's name and the members that are compared (status, id, byte_len, imm)."""

    opcode: str
    members: tuple[tuple[str, Union[Int, str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Completes(_Outcome):
    """Exactly these completions, in order; `any_order`: each comes once, whenever."""

    entries: tuple[Entry, ...]
    any_order: bool = False

    def succeeds(self) -> bool:
        return all(entry.opcode != ERROR for entry in self.entries)

    def listed(self) -> tuple[Entry, ...]:
        return self.entries

    def unordered(self) -> tuple[Entry, ...]:
        return self.entries if self.any_order else ()


Outcome = Union[Rejected, Accepted, Completes]


Claim = tuple[Outcome, ...]
"""Any of these; empty: plain success."""


@dataclass(frozen=True, slots=True)
class Branch:
    """An expectation is of one outcome of the statement at `at`, which leaves open whether it is accepted."""

    at: At
    accepted: bool


@dataclass(frozen=True, slots=True)
class Known:
    """How a known driver departs from the page (`id` of X-DIFF/X-BUG). All None: of an `await`, whose
    event does not come."""

    id: str
    outcome: Optional[Outcome] = None
    value: Optional[Expected] = None
    members: tuple[tuple[str, Union[Int, str, ByteString]], ...] = ()

    def claim(self) -> Claim:
        """What comes in place of the truth; empty where it says nothing of the outcome."""
        return () if self.outcome is None else (self.outcome,)


def is_rejection(outcome: Optional[Outcome]) -> TypeIs[Rejected]:
    return isinstance(outcome, Rejected)


def rejections(claim: Claim) -> list[Rejected]:
    """The refusals among the outcomes of a claim."""
    return [outcome for outcome in claim if is_rejection(outcome)] if claim else []


def is_rejected(claim: Claim) -> bool:
    """The claim leaves no way but a refusal."""
    return bool(claim) and len(rejections(claim)) == len(claim)


def may_be_rejected(claim: Claim) -> bool:
    """The claim names a refusal, at whichever phase."""
    return bool(rejections(claim))


def rejected_at(claim: Claim, phase: str) -> bool:
    """The claim names a refusal at `phase`."""
    return any(outcome.phase == phase for outcome in rejections(claim))


def accepts(claim: Claim) -> bool:
    """The claim names `accepted`; an empty one is plain success, and names nothing."""
    return Accepted() in claim


def lists(claim: Claim) -> list[tuple[Entry, ...]]:
    """The lists of completions among the outcomes of a claim."""
    return [entries for outcome in claim if (entries := outcome.listed()) is not None] if claim else []


def may_succeed(claim: Claim) -> bool:
    """The claim names an outcome in which nothing fails, or is plain success."""
    return not claim or any(outcome.succeeds() for outcome in claim)


def fails_posted(claim: Claim) -> bool:
    """Whichever outcome comes, something fails, and in one of them what was posted: that resets the QP pair."""
    return not may_succeed(claim) and (rejected_at(claim, "completion") or bool(lists(claim)))


def is_undecided(claim: Claim) -> bool:
    """The claim names an outcome in which nothing fails beside one with a failure: the case goes on either way."""
    return 0 < sum(outcome.succeeds() for outcome in claim) < len(claim) if claim else False
