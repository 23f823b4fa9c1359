"""Compares the outcome of a step with the claim of the case and with the known departures.

If the claim holds, the step passes. If it does not hold, the step is KNOWN if the statement names a known departure
(`known X-DIFF-nn …`), the device is listed for it, and it departed exactly so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Union

from typing_extensions import assert_never

from mkeyspec.abi.constants import STATUS_CLASS
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion
from mkeyspec.plan import (
    ERROR,
    Accepted,
    At,
    Claim,
    Completes,
    Entry,
    Known,
    Outcome,
    Rejected,
    accepts,
    lists,
    rejections,
)
from mkeyspec.run.departures import Expectations
from mkeyspec.run.errnos import errno_name
from mkeyspec.run.evidence import SUCCESS, Due
from mkeyspec.run.verdict import Failure
from mkeyspec.value.live import Int

Number = Callable[[Int], int]
Entries = tuple[Entry, ...]

ACCEPTED = (Accepted(),)
ANY_ERROR = "an error"


@dataclass(slots=True)
class Attempt:
    """The outcome of one step. `phase` is where it was refused (None: it succeeded), `reason` the errno's name or
    completion status. `fault` is a failure that no claim covers (a deadline, a wrong opcode). `listed` is filled if
    the claim lists completions.
    """

    at: At
    what: str
    phase: str | None = None
    reason: str = ""
    fault: Failure | None = None
    earlier: Failure | None = None
    """The failure of an earlier request that made this step fail."""
    listed: Sequence[Due] = ()
    """Completions in the order in which they came."""
    of: str = ""
    """Whose completion has the status `reason`, if it is of no request of the step: " (the receive at 9:5)"."""

    def describe(self) -> str:
        if self.phase is None:
            return "accepted"
        return f"rejected at {self.phase} with {self.reason}{self.of}"


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision about a step. `departure`: the known departure that was seen. `fits`: the outcome is also that of
    the known departure, although the claim holds (X-DIFF-06: "at complete or at completion", known "at completion").
    """

    failure: Failure | None = None
    departure: str | None = None
    fits: bool = False
    outcome: Outcome | None = None
    """The outcome of the claim that occurred."""


def decide(
    attempt: Attempt,
    claim: Claim,
    known: Known | None,
    profile: Profile,
    expectations: Expectations,
    number: Number,
) -> Ruling:
    """Compare an attempt with its claim."""
    failure, outcome = _hold(attempt, tuple([as_came(one, attempt, number) for one in claim]), profile, number)
    if known is None:
        return Ruling(failure, outcome=outcome)
    stated = False
    if known.outcome is not None and attempt.fault is None:
        stated = matches(as_came(known.outcome, attempt, number), attempt, profile, number)
    if failure is None:
        return Ruling(fits=stated, outcome=outcome)
    return depart(failure, known, stated, expectations)


def depart(failure: Failure, known: Known, stated: bool, expectations: Expectations) -> Ruling:
    """A statement that failed and names a known departure: whether this is it."""
    listed = expectations.lists(known.id)
    if listed and stated:
        return Ruling(None, known.id)
    if not listed:
        note = f"this is what {known.id} describes" if stated else f"{known.id} describes another departure"
        details = (*failure.details, ("known", f"{note}; no file of expectations lists {known.id} for this device"))
        return Ruling(replace(failure, details=details))
    file, seen = expectations.departures[known.id]
    details = (
        *failure.details,
        ("known", f"{file} lists {known.id} for this device: {seen}"),
        ("", f"without that, it is {failure.code}"),
    )
    message = f"departs from the page otherwise than {known.id} says: {failure.message}"
    return Ruling(replace(failure, code="MKS2302", message=message, details=details))


def _hold(attempt: Attempt, claim: Claim, profile: Profile, number: Number) -> tuple[Failure | None, Outcome | None]:
    if attempt.fault is not None:
        return attempt.fault, None
    for outcome in claim or ACCEPTED:
        if matches(outcome, attempt, profile, number):
            return None, outcome
    return _disagree(attempt, claim, profile, number), None


def matches(outcome: Outcome, attempt: Attempt, profile: Profile, number: Number) -> bool:
    """Whether this outcome occurred."""
    match outcome:
        case Accepted():
            return attempt.phase is None
        case Rejected():
            return attempt.phase == outcome.phase and reason_matches(outcome, attempt.reason, profile)
        case Completes():
            return attempt.phase in (None, "completion") and not _differences(outcome.entries, attempt, number)
        case _:
            assert_never(outcome)


def as_came(outcome: Outcome, attempt: Attempt, number: Number) -> Outcome:
    """A list `in any order`, in the order in which its completions came; what came of none of its entries is last."""
    entries = outcome.unordered()
    if not entries:
        return outcome
    came = [due for due in attempt.listed if due.got is not None]
    fits = [[i for i, entry in enumerate(entries) if _is_of(entry, due, number)] for due in came]
    taken: dict[int, int] = {}

    def place(due: int, tried: set[int]) -> bool:
        """Whether there is an entry for it, after others have moved to another one that fits them, too."""
        for entry in fits[due]:
            if entry not in tried:
                tried.add(entry)
                if entry not in taken or place(taken[entry], tried):
                    taken[entry] = due
                    return True
        return False

    for due in range(len(came)):
        place(due, set())
    left = (i for i in range(len(entries)) if i not in taken)
    of = {due: entry for entry, due in taken.items()}
    ordered = [of[due] if due in of else next(left, None) for due in range(len(came))]
    return Completes(tuple([entries[i] for i in (*ordered, *left) if i is not None]))


def _is_of(entry: Entry, due: Due, number: Number) -> bool:
    """Whether a completion is the one of an entry, also by its queue."""
    assert due.got is not None
    own = entry.opcode == ERROR or (due.queue == "recv") == entry.opcode.startswith("recv")
    return own and not compare((entry,), (due.got,), number)


def _differences(entries: Entries, attempt: Attempt, number: Number) -> list[tuple[int, str, str, str]]:
    """How what came, in the order of a list, differs from it."""
    dues = arrange(entries, attempt.listed)
    return compare(entries, tuple(due.got for due in dues if due.got is not None), number)


def admits_success(claim: Claim) -> bool:
    """Whether plain success is what is claimed, or one of it."""
    return not claim or accepts(claim)


def reason_matches(outcome: Rejected, reason: str, profile: Profile) -> bool:
    """Whether `reason` is one that the claim admits. A flush follows from another failure, so it must be named. No
    claim admits a negative errno (ibv_wr_post(3): "the value of errno")."""
    if reason.startswith("-"):
        return False
    if outcome.reason is not None:
        return reason == outcome.reason or reason in STATUS_CLASS.get(outcome.reason, ())
    if outcome.phase == "completion":
        return reason != "wr_flush_err"
    if outcome.rule is not None:
        return reason == errno_name(profile.errno_of(outcome.rule))
    return True


def arrange(entries: tuple[Entry, ...], dues: Sequence[Due]) -> list[Due]:
    """What came in the order of a list: each queue keeps its order; the order between two queues is undefined."""
    lines: dict[str, deque[Due]] = {"send": deque(), "recv": deque()}
    for due in dues:
        lines[due.queue].append(due)
    arranged: list[Due] = []
    for entry in entries:
        ids = [value for name, value in entry.members if name == "id"]
        wanted = "recv" if entry.opcode.startswith("recv") else "send"
        if entry.opcode == ERROR:
            heads = [line[0] for line in lines.values() if line and line[0].failed]
            named = [due for due in heads if due.wr_id in ids] or heads
            wanted = named[0].queue if named else "send"
        line = lines[wanted] or lines["recv" if wanted == "send" else "send"]
        if line:
            arranged.append(line.popleft())
    return [*arranged, *(due for due in dues if due not in arranged)]


def compare(
    entries: tuple[Entry, ...], completions: tuple[Completion, ...], number: Number
) -> list[tuple[int, str, str, str]]:
    """How the completions differ from the entries: (index from 0, member, expected, got)."""
    found = []
    for i in range(max(len(entries), len(completions))):
        if i >= len(completions):
            found.append((i, "completion", entries[i].opcode, "none"))
            continue
        got = completions[i]
        if i >= len(entries):
            found.append((i, "completion", "none", describe(got)))
            continue
        entry = entries[i]
        members: dict[str, Union[Int, str]] = dict(entry.members)
        status = members.pop("status", ANY_ERROR if entry.opcode == ERROR else SUCCESS)
        if status == ANY_ERROR:
            if got.status == SUCCESS:
                found.append((i, "status", ANY_ERROR, got.status))
        elif got.status != status and got.status not in STATUS_CLASS.get(str(status), ()):
            found.append((i, "status", str(status), got.status))
            continue
        if got.status == "success" and got.opcode != entry.opcode:
            found.append((i, "opcode", entry.opcode, got.opcode))
        for name, want in members.items():
            have = completion_member(got, name)
            wanted = want if isinstance(want, str) else number(want)
            if have != wanted:
                text = str if name == "id" else show  # one form of an id in all of a message: the text's
                found.append((i, name, text(wanted), text(have)))
    return found


def completion_member(completion: Completion, name: str) -> int | str | None:
    """A member of a completion by the language's name for it."""
    if name == "id":
        return completion.wr_id
    if name in ("byte_len", "imm", "opcode", "vendor_error"):
        value = getattr(completion, name)
        assert value is None or isinstance(value, (int, str))
        return value
    return completion.invalidated_rkey if name == "invalidated" else None


def show(value: int | str | None) -> str:
    if isinstance(value, int) and not -10 < value < 10:
        return f"{value} ({value:#x})"
    return "none" if value is None else str(value)


def describe(completion: Completion) -> str:
    """A completion in one phrase."""
    if completion.status != "success":
        vendor = f", vendor error {completion.vendor_error:#x}" if completion.vendor_error else ""
        return f"{completion.status} ({completion.queue} queue, id {completion.wr_id}{vendor})"
    return f"{completion.opcode or 'success'} ({completion.queue} queue, id {completion.wr_id})"


def claim_text(claim: Claim, profile: Profile) -> str:
    """A claim in the language's words."""
    return " or ".join(_outcome_text(outcome, profile) for outcome in claim) or "accepted"


def _outcome_text(outcome: Outcome, profile: Profile) -> str:
    match outcome:
        case Accepted():
            return "accepted"
        case Completes():
            how = "in any order " if outcome.any_order else ""
            return f"completes {how}{{ {'; '.join(entry.opcode for entry in outcome.entries)} }}"
        case Rejected():
            return _rejection_text(outcome, profile)
        case _:
            assert_never(outcome)


def _rejection_text(outcome: Rejected, profile: Profile) -> str:
    text = f"rejected at {outcome.phase}"
    if outcome.reason is not None:
        return f"{text} with {outcome.reason}"
    if outcome.rule is not None and outcome.phase != "completion":
        return f"{text} with {errno_name(profile.errno_of(outcome.rule))} (rule {outcome.rule})"
    return text


def _disagree(attempt: Attempt, claim: Claim, profile: Profile, number: Number) -> Failure:
    at, what = attempt.at, attempt.what
    expected = claim_text(claim, profile)
    details = [("expected", expected), ("got", attempt.describe())]
    listed = lists(claim)
    if attempt.phase is None:
        if not listed:
            return Failure("MKS2002", at, f"`{what}` was accepted, and should be {expected}", tuple(details), True)
        return _completes_otherwise(attempt, listed, number)
    if listed or rejections(claim):
        if listed and attempt.phase == "completion":
            return _completes_otherwise(attempt, listed, number)
        return Failure(
            "MKS2003", at, f"`{what}` was {attempt.describe()}, and should be {expected}", tuple(details), True
        )
    if attempt.phase == "completion":
        message = f"`{what}` completed with {attempt.reason}{attempt.of}, and should succeed"
        return Failure("MKS2005", at, message, tuple(details), True)
    message = f"`{what}` was rejected at {attempt.phase} with {attempt.reason}, and nothing claims it"
    return Failure("MKS2001", at, message, tuple(details), True)


def _completes_otherwise(attempt: Attempt, listed: Sequence[Entries], number: Number) -> Failure:
    """Described against the nearest of the lists."""
    details = []
    came = [due.got for due in attempt.listed if due.got is not None]
    nearest = min(listed, key=lambda one: len(_differences(one, attempt, number)))
    differences = _differences(nearest, attempt, number)
    for i, member, want, have in differences:
        details.append(("expected", f"completion {i + 1}: {member} {want}"))
        details.append(("got", f"completion {i + 1}: {member} {have}"))
    details.append(("arrived", ", ".join(map(describe, came)) or "none"))
    if len(came) != len(nearest):
        how = f"{len(came)} of {len(nearest)} completions came"
        if len(came) > len(nearest):
            how = f"{len(came)} completions came, {len(nearest)} {'is' if len(nearest) == 1 else 'are'} listed"
    else:
        i, member, want, have = differences[0]
        how = f"{member} of completion {i + 1} is {have}, not {want}"
    message = f"`{attempt.what}` completed otherwise than listed: {how}"
    return Failure("MKS2005", attempt.at, message, tuple(details), True)
