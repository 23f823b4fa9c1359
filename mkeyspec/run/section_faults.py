"""Checks the completions of a section for failures that no claim covers.

In a section that is refused at completion the failing request is the one that names an mkey. Earlier requests
succeed, later ones are flushed, and the other end gets an error or nothing.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from mkeyspec.abi.constants import STATUS_CLASS
from mkeyspec.device.profile.profile import Profile
from mkeyspec.plan import ERROR, At, Claim, Entry, rejections
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.completion import late, misfit, unowed
from mkeyspec.run.endpoint import ACKNOWLEDGED, End
from mkeyspec.run.evidence import FLUSH, SUCCESS, Due
from mkeyspec.run.outcomes import Attempt, arrange, describe
from mkeyspec.run.section import Section
from mkeyspec.run.verdict import Failure


def told(profile: Profile, *, invalidates: bool) -> tuple[str, ...]:
    """The statuses at the sender of a message that the other end can't take, or whose invalidation it refuses: the
    responder returns a NAK (IBTA 9.7.5.2.8)."""
    point = profile.status_invalidate_sender if invalidates else profile.status_receive_sender
    return tuple(dict.fromkeys((*STATUS_CLASS["remote_access"], point)))


def is_of_invalidation(claim: Claim) -> bool:
    """Whether an error completion is claimed, without a status, because the other end refuses an invalidation. Which of
    the ends sees an error is open (X-OPEN-27)."""
    return any(one.rule == "remote_invalidate_flag" and one.reason is None for one in rejections(claim))


def failed_by(section: Section) -> Due | None:
    """The request that failed first: the one that names an mkey if there are several, a flush only if there is no
    other."""
    found = [due for due in (*section.dues, *section.far) if due.failed and not due.judged]
    return min(found, key=_rank) if found else None


def _rank(due: Due) -> tuple[bool, bool, int]:
    return (due.got is not None and due.got.status == FLUSH, not due.names_mkey, due.order)


def fault_of(state: CaseState, section: Section, failed: Due | None) -> Failure | None:
    """A failure that no claim covers: a missing completion, or one that differs from the expected one."""
    end, what = section.end, section.what
    if section.listed is None:
        for due in section.owed:
            if due.got is None:
                return late(state, end, due, what)
    for due in section.far:
        if due.got is None and failed is None:
            return late(state, end.other, due, what)
    if failed is None:
        dues = section.far if section.listed is not None else (*section.owed, *section.far)
        return next((fault for due in dues if (fault := misfit(due, what)) is not None), None)
    return _elsewhere(section, failed) or _another(section, failed) or _around(state, section, failed)


def _another(section: Section, failed: Due) -> Failure | None:
    """A section of several requests is claimed to fail, and another request than the right one failed.

    The right ones are those that break a rule. If the checker can't tell which break one, they are those that name an
    mkey, if there are any, and each memcpy: only the device knows what a memcpy takes.
    """
    if section.breaking is None or failed.got is None or failed.got.status == FLUSH or len(section.planned) == 1:
        return None
    dues = (*section.dues, *section.far)
    named = {due.order for due in dues if due.names_mkey}
    orders = set(section.breaking) or (named | {due.order for due in dues if due.opcode == "driver3"} if named else ())
    if not orders:
        return None
    which = ", ".join(f"{at}" for at in (section.planned[order].at for order in sorted(orders)))
    if failed.order not in orders:
        why = "breaks no rule" if section.breaking else "names no mkey"
        message = f"the `{failed.opcode}` of `{section.what}` failed, which {why}"
        details = (("expected", f"an error of the request at {which}"), ("got", describe(failed.got)))
        return Failure("MKS2005", failed.at, message, details, True)
    for due in section.dues:
        if due.order in section.breaking and due.order < failed.order and due.over and not due.failed:
            message = f"the `{due.opcode}` of `{section.what}` went through, and should be refused"
            got = "no error" if due.got is None else describe(due.got)
            return Failure("MKS2005", due.at, message, (("expected", "an error"), ("got", got)), True)
    return None


def _elsewhere(section: Section, failed: Due) -> Failure | None:
    """`transmit` or `receive` failed, and the request that names the mkey has no error."""
    if failed.names_mkey or (failed.got is not None and failed.got.status == FLUSH):
        return None
    if not any(due.receive is not None and due.receive.own for due in section.far):
        return None
    for due in (*section.dues, *section.far):
        if due.names_mkey and (due.got is None or due.got.status == FLUSH):
            assert failed.got is not None
            message = f"`{section.what}` failed, and the request that names the mkey has no error of its own"
            got = describe(due.got) if due.got is not None else "none"
            details = (
                ("expected", f"an error of the {due.opcode} ({due.queue} queue)"),
                ("got", got),
                ("other end", describe(failed.got)),
            )
            return Failure("MKS2005", due.at, message, details, True)
    return None


def _around(state: CaseState, section: Section, failed: Due) -> Failure | None:
    """Whether everything before the failed request succeeded as it should, and nothing after it did."""
    what = section.what
    for due in () if section.listed is not None else section.dues:
        if due.got is None or (due is failed and not section.invalidates):
            continue
        status = due.got.status
        if due in (failed, failed.request):
            names = told(state.profile, invalidates=section.invalidates)
            if status in (SUCCESS, *names) or section.end.pair.attributes.type not in ACKNOWLEDGED:
                continue
            message = f"the other end refused the message of `{what}`, and its sender completed with {status}"
            want = " or ".join(STATUS_CLASS["remote_access"])
            return Failure("MKS2005", due.at, message, (("expected", want), ("got", describe(due.got))), True)
        if due.order < failed.order or _is_apart(section.end, due, failed):
            if status == SUCCESS:
                if (fault := misfit(due, section.what)) is not None:
                    return fault
                continue
            want = SUCCESS
        elif due.order > failed.order and status != FLUSH:
            want = FLUSH
        else:
            continue
        message = f"around the failed request of `{what}` another completed with {status}"
        return Failure("MKS2005", due.at, message, (("expected", want), ("got", describe(due.got))), True)
    for due in section.far:
        if due.request is failed and due.failed and not due.is_of_its_end:
            assert due.got is not None
            message = f"the receive that could not take the message of `{what}` completed with {due.got.status}"
            details = (("expected", " or ".join(STATUS_CLASS["local_protection"])), ("got", describe(due.got)))
            return Failure("MKS2005", due.at, message, details, True)
        if section.end.owes(due) and (due.got is None or due.got.status != SUCCESS):
            return misfit(due, what) if due.got is not None else late(state, section.end.other, due, what)
        behind = due.order > failed.order and not _is_apart(section.end, due, failed)
        if behind and due.failed and due.got is not None and due.got.status != FLUSH:
            message = f"`{section.what}` failed, and a receive that no message reached has an error of its own"
            return Failure("MKS2005", due.at, message, (("expected", FLUSH), ("got", describe(due.got))), True)
        if due.got is None or due.got.status != SUCCESS:
            continue
        gone = due.request is not None and section.end.may_have_gone(due.request)
        if due.order >= failed.order and not _is_apart(section.end, due, failed) and not gone:
            message = f"`{section.what}` failed, and yet the other end received the message"
            details = (("expected", "an error, a flush, or no completion"), ("got", describe(due.got)))
            return Failure("MKS2005", due.at, message, details, True)
        if (fault := misfit(due, section.what)) is not None:
            return fault
    return None


def _is_apart(end: End, due: Due, failed: Due) -> bool:
    """Whether these are of two streams: nothing in one follows from a failure in the other."""
    return end.lane(due.request or due) != end.lane(failed.request or failed)


def far_alone(section: Section, attempt: Attempt, failed: Due | None) -> Failure | None:
    """A receive of the other end failed, and all completions of the claim's list succeeded: no claim covers that."""
    if section.listed is None or failed is None or failed not in section.far:
        return None
    return None if any(due.failed for due in attempt.listed) else misfit(failed, section.what)


def earlier(section: Section) -> Failure | None:
    """A failed request that was posted before this section; the outcome of the section follows from it."""
    own = set(map(id, (*section.dues, *section.far)))
    for due in section.end.unjudged():
        got = due.got
        if got is None or got.status in (SUCCESS, FLUSH) or due.stray or id(due) in own:
            continue
        return blame(section.end, due, section.what, section.at)
    return None


def blame(end: End, due: Due, what: str, at: At) -> Failure:
    """The failure of a request that was posted before `what` and was found at `at`."""
    assert due.got is not None
    due.mark_judged(f"`{what}`")
    end.pair.failed = f"the failure at {due.at}"
    message = f"`{due.opcode}` before `{what}` completed with {due.got.status}, and should succeed"
    details = (("expected", SUCCESS), ("got", describe(due.got)), ("seen at", f"{at}"))
    return Failure("MKS2005", due.at, message, details, True)


def around_list(end: End, attempt: Attempt, entries: tuple[Entry, ...], again: int = 0) -> Failure | None:
    """Check what a list that fits does not name: the queue and the other members of each completion. `again`: so many
    completions without an id may have that of one which has come."""
    for entry, due in zip(entries, arrange(entries, attempt.listed), strict=False):
        if entry.opcode != ERROR and due.got is not None and (due.queue == "recv") != entry.opcode.startswith("recv"):
            message = f"a completion of `{attempt.what}` came out of the QP's other queue"
            return Failure("MKS2005", due.at, message, (("got", describe(due.got)),), True)
        if due.got is not None and due.failed and (wrong := unowed(end, due)):
            message = f"an error completion of `{attempt.what}` {wrong}"
            return Failure("MKS2005", due.at, message, (("got", describe(due.got)),), True)
        if due.got is None or due.got.status != SUCCESS:
            continue
        named = ("id", "opcode", *(name for name, _ in entry.members))
        owed: Due | None = due
        if due.stray:
            names_id = any(name == "id" for name, _ in entry.members)
            owed = _echoed(end, due) if names_id or again > 0 else None
            again -= not names_id
            if owed is None and names_id:
                continue  # the case says which one it is
        if owed is None:
            message = f"a completion of `{attempt.what}` is of no request that owes one"
            return Failure("MKS2005", due.at, message, (("got", describe(due.got)),), True)
        if (fault := misfit(owed, attempt.what, named)) is not None:
            return fault
    return None


def _echoed(end: End, stray: Due) -> Due | None:
    """For a completion that no request owes, and that has the id of one which has come: what that request gives."""
    origin = next((due for due in end.arrived if due.wr_id == stray.wr_id and due.queue == stray.queue), None)
    if origin is None or origin is stray or origin.stray:
        return None
    owed = copy(origin)
    owed.got, owed.overtaken = stray.got, False
    return owed


def besides_list(state: CaseState, section: Section, attempt: Attempt) -> Failure | None:
    """A claim has a list of completions and other outcomes, and one of the others is met. Then each request must have
    the completion that it has without a list, and no other completion may have come."""
    found = [due for due in (*section.dues, *section.far) if due.failed]
    fault = fault_of(state, replace(section, listed=None), min(found, key=_rank) if found else None)
    if fault is not None:
        return fault
    for due in attempt.listed:
        if due.got is not None and (due.stray or not due.signaled) and due.got.status == SUCCESS:
            message = f"a completion of `{attempt.what}` came that no request owes: {describe(due.got)}"
            return Failure("MKS2201", due.at, message, hard=True)
    return None
