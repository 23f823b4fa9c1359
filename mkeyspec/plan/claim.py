"""What a step must do where it isn't plain success, and how a known driver departs from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from mkeyspec.plan.observation import Expected
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Int


@dataclass(frozen=True, slots=True)
class Rejected:
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


@dataclass(frozen=True, slots=True)
class Accepted:
    """Goes through without a refusal."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One expected completion: an opcode's name and the members that are compared (status, id, byte_len, imm)."""

    opcode: str
    members: tuple[tuple[str, Union[Int, str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Completes:
    """Exactly these completions, in order."""

    entries: tuple[Entry, ...]


Outcome = Union[Rejected, Accepted, Completes]


Claim = tuple[Outcome, ...]
"""Any of these; empty: plain success."""


@dataclass(frozen=True, slots=True)
class Known:
    """How a known driver departs from the page (`id` of X-DIFF/X-BUG). All None: of an `await`, whose
    event does not come."""

    id: str
    outcome: Optional[Outcome] = None
    value: Optional[Expected] = None
    members: tuple[tuple[str, Union[Int, str, ByteString]], ...] = ()


def is_rejected(claim: Claim) -> bool:
    """The claim leaves no way but a refusal."""
    return bool(claim) and all(isinstance(outcome, Rejected) for outcome in claim)
