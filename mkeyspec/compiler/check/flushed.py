"""Which requests of a section are carried out, where its claim has one of them fail.

What is before the failing request is carried out, what is after it is flushed (IBTA volume 1, 10.3.1.7). The local key
of a READ, an atomic or a memcpy is looked at when its answer comes, and what is after it without a fence has left by
then (IBTA volume 1, 10.8.3.3): it may have been carried out.
"""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import STATUS_CLASS
from mkeyspec.compiler.check.state import QpState

DONE, FAILED, FLUSHED, OPEN = "done", "failed", "flushed", "open"
"""OPEN: it may have been carried out, or not."""

_LATE = (plan.Read, plan.FetchAdd, plan.CompareSwap, plan.Memcpy)


def fates(qp: QpState, step: plan.Post) -> tuple[str, ...]:
    """What becomes of each request of a section that was posted, as the case claims it."""
    count = len(step.requests)
    if not count or plan.may_succeed(step.claim):
        return (DONE,) * count
    found = [_failing(qp, step, outcome) for outcome in step.claim]
    first = min(range_.start for range_ in found)
    if any(len(range_) != 1 or range_.start != first for range_ in found):
        return tuple([DONE if number < first else OPEN for number in range(count)])
    return tuple([_fate(qp, step, first, number) for number in range(count)])


def _fate(qp: QpState, step: plan.Post, first: int, number: int) -> str:
    """Of the request of this number, if `first` is the one that fails."""
    if number == first:
        return FAILED
    if number < first:
        return DONE
    failing, one = step.requests[first], step.requests[number]
    if qp.type == "dci" and qp.streams and (failing.options.stream or 0, one.options.stream or 0) != (0, 0):
        return OPEN  # what is in another stream goes on
    behind = step.requests[first + 1 : number + 1]
    fenced = any(later.options.fence and not later.options.stream for later in behind)
    return OPEN if isinstance(failing, _LATE) and _is_local(step.claim) and not fenced else FLUSHED


def _is_local(claim: plan.Claim) -> bool:
    """Whether it may fail for what its own end refuses."""
    said = [outcome.reason for outcome in plan.rejections(claim)]
    for entries in plan.lists(claim):
        error = next(entry for entry in entries if entry.opcode == plan.ERROR)
        status = dict(error.members).get("status")
        said.append(status if isinstance(status, str) else None)
    local = ("local_protection", *STATUS_CLASS["local_protection"])
    return any(one is None or one in local for one in said)


def _failing(qp: QpState, step: plan.Post, outcome: plan.Outcome) -> range:
    """The requests that may be the first to fail in this outcome."""
    count = len(step.requests)
    if plan.is_rejection(outcome):
        if outcome.requests:
            return range(outcome.requests[0], outcome.requests[0] + 1)
        moving = [number for number, one in enumerate(step.requests) if one.ends()] or [*range(count)]
        return range(moving[0], moving[-1] + 1) if len(moving) > 1 else range(moving[0], moving[0] + 1)
    entries = outcome.listed() or ()
    if outcome.unordered() or (qp.type == "dci" and qp.streams):
        return range(count)
    before = next((place for place, entry in enumerate(entries) if entry.opcode == plan.ERROR), len(entries))
    errors = len(entries) - before
    told = [one.options.signaled or qp.sq_sig_all for one in step.requests]
    can = [number for number in range(count) if sum(told[:number]) == before]
    id = dict(entries[before].members).get("id") if before < len(entries) else None
    named = [number for number in can if id is not None and step.requests[number].options.id == id]
    if len(named) == 1:
        return range(named[0], named[0] + 1)
    parts = any(isinstance(one, plan.Configure) for one in step.requests)  # each WQE of one may be flushed by itself
    fitting = [number for number in can if count - number == errors or (parts and count - number < errors)] or can
    return range(fitting[0], fitting[-1] + 1) if fitting else range(count)
