"""What a claim admits, as numbers of a program: errnos of a call, statuses of a completion."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from mkeyspec.abi.constants import STATUS_CLASS, WC_STATUS
from mkeyspec.device.profile.profile import Profile
from mkeyspec.plan import Claim, Outcome, Rejected, rejections
from mkeyspec.run.outcomes import reason_matches

ANY = -1
"""Any errno."""


def errnos(claim: Claim, phase: str, profile: Profile) -> list[int]:
    """The errnos of a refusal at `phase` that a claim admits."""
    found: list[int] = []
    for outcome in rejections(claim):
        if outcome.phase != phase:
            continue
        if outcome.reason is not None:
            found.append(getattr(errno, outcome.reason, ANY))
        else:
            found.append(ANY if outcome.rule is None else profile.errno_of(outcome.rule))
    return list(dict.fromkeys(found))


def statuses(claim: Claim, profile: Profile) -> list[str]:
    """The statuses of a completion in error that a claim admits."""
    return [name for name in WC_STATUS[1:] if any(_is_status(one, name, profile) for one in rejections(claim))]


def _is_status(outcome: Rejected, name: str, profile: Profile) -> bool:
    return outcome.phase == "completion" and reason_matches(outcome, name, profile)


def goes_on(claim: Claim) -> bool:
    """Whether success is admitted of a call that posts or creates: at its completion it may fail."""
    return not claim or any(not isinstance(one, Rejected) or one.phase == "completion" for one in claim)


def may_complete(claim: Claim) -> bool:
    """Whether a completion with success is admitted."""
    return not claim or any(not isinstance(one, Rejected) for one in claim)


def phases(claim: Claim) -> list[str]:
    """Each way that a claim leaves open: "", complete, completion…"""
    found = ["" if not isinstance(one, Rejected) else one.phase for one in claim] or [""]
    return list(dict.fromkeys(found))


def of_known(outcome: Outcome | None) -> Claim:
    return () if outcome is None else (outcome,)


def class_of(word: str) -> Sequence[str]:
    """The statuses that a word means."""
    return STATUS_CLASS.get(word, (word,))
