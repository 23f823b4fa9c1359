"""Compares a completion with what its request must give: missing, with an error, or with a wrong member."""

from __future__ import annotations

from mkeyspec.run.case_state import CaseState
from mkeyspec.run.endpoint import End
from mkeyspec.run.evidence import SUCCESS, Due
from mkeyspec.run.outcomes import describe, show
from mkeyspec.run.verdict import Failure


def misfit(due: Due, what: str, named: tuple[str, ...] = ()) -> Failure | None:
    """How a completion differs from the expected success. The members in `named` are compared elsewhere."""
    got = due.got
    assert got is not None
    if got.status != SUCCESS:
        details = (("expected", SUCCESS), ("got", describe(got)))
        return Failure("MKS2005", due.at, f"`{what}` completed with {got.status}, and should succeed", details, True)
    if due.overtaken:
        details = (("expected", "in the order of the requests"), ("got", describe(got)))
        return Failure("MKS2005", due.at, f"a completion of `{what}` came after a later one's", details, True)
    member, want, have = "", "", ""
    if got.opcode != due.opcode:
        member, want, have = "opcode", due.opcode, got.opcode
    elif (lengths := due.lengths) and got.byte_len not in lengths and "byte_len" not in named:
        member, want, have = "byte_len", " or ".join(map(show, lengths)), show(got.byte_len)
    elif got.imm != due.imm and "imm" not in named and _tells_imm(due):
        member, want, have = "imm", show(due.imm), show(got.imm)
    elif got.invalidated_rkey != due.invalidated and "invalidated" not in named:
        member, want, have = "invalidated", show(due.invalidated), show(got.invalidated_rkey)
    else:
        return None
    side = "receive" if due.queue == "recv" else "request"
    message = f"the completion of `{what}` has another {member}: {have}, not {want}"
    details = (("expected", f"{member} {want}"), ("got", f"{member} {have} ({side} queue)"))
    return Failure("MKS2005", due.at, message, details, True)


def _tells_imm(due: Due) -> bool:
    """Whether `imm` of its completion is compared. The bytes of a raw request may be one with an immediate."""
    return due.queue == "recv" or (due.imm is None and due.opcode != "driver2")


def late(state: CaseState, end: End, missing: Due, what: str) -> Failure:
    """A completion that did not come within the deadline."""
    arrived = ", ".join(describe(due.got) for due in end.unjudged() if due.got is not None) or "nothing"
    details: tuple[tuple[str, str], ...] = (
        ("expected", f"{missing.opcode} ({end.side}'s {missing.queue} queue, id {missing.wr_id})"),
        ("got", f"{arrived}, within {state.deadline:g} s"),
    )
    if missing.waits:
        stopped = "signature pipelining has stopped the queue (sq_drained), and nothing has resumed it"
        details = (*details, ("why", stopped), ("fix", f"resume {end.pair.name}"))
    return Failure("MKS2004", missing.at, f"`{what}` did not complete", details, True)


def unowed(end: End, due: Due) -> str:
    """What is wrong with an error completion whatever the claim is, in a few words; "" if nothing is."""
    if due.overtaken:
        return "came after a later one's"
    if due.stray and due.receive is None and not due.part:
        return "is of no request of its queue"
    return ""
