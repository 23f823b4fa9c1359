"""Completions: what is waited for, and what it must be."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.repro import calls, claims
from mkeyspec.repro.language import Member, Statuses
from mkeyspec.repro.program import Program
from mkeyspec.repro.trace import Taken
from mkeyspec.run import section_faults
from mkeyspec.run.evidence import FLUSH, SUCCESS, Due
from mkeyspec.run.outcomes import arrange, as_came
from mkeyspec.value.live import is_known

MUST_FAIL: Member = ("must_fail", True)
"""Success is not admitted."""


def came(program: Program, call: calls.Came, taken: Taken, line: int, resets: set[str]) -> None:
    """Wait for a completion that the model gave. `resets`: the pairs that are made again in this step."""
    program.expectations.numbers[id(call.completion)] = call.number
    got = call.completion
    if call.pair in resets and got.queue == "recv" and got.status == FLUSH and not plan.lists(_claim(taken)):
        return  # what a failure leaves is looked at where the QPs are made again
    language, queue = program.language, f"{program.end(call)}.{cq(call)}"
    program.do(language.completes(line, queue, wanted(program, call, taken)))
    program.do(language.took(call.number))


def cq(call: calls.Came) -> str:
    return "sends" if call.completion.queue == "send" else "receives"


def wanted(program: Program, call: calls.Came, taken: Taken, *, may_fail: bool = False) -> list[Member]:
    """What a completion must be. `may_fail`: as the claim says; or it succeeds."""
    program.expectations.numbers[id(call.completion)] = call.number
    got, claim, due = call.completion, _claim(taken), call.due[0] if call.due else None
    if due is not None and not claim:
        claim = program.claims.get(due.at, ())
    entry = _entry(program, call, taken)
    members: list[Member] = [("id", program.wr_id(got.wr_id))]
    if any(one.unordered() for one in claim) or program.is_dci(call.pair):
        members.append(("any_order", True))
    if got.status != SUCCESS or may_fail:
        members += _errors(program, call, taken, claim, may_fail=may_fail)
    if got.status == SUCCESS:
        opcode = due.opcode if due is not None and due.opcode else got.opcode
        members.append(("opcode", program.language.opcode(opcode)))
        members += _members(program, due, entry) if due is not None else []
    members += _departure(program, call, taken, claim, may_fail=may_fail)
    return members


def _claim(taken: Taken) -> plan.Claim:
    claim: plan.Claim = getattr(taken.step, "claim", ())
    return claim


def _members(program: Program, due: Due, entry: dict[str, object] | None) -> list[Member]:
    """What is compared of a completion with success, beside its opcode; of one that is listed, what its entry names."""

    def named(name: str, usual: int | None) -> int | None:
        if entry is None:
            return usual
        value = entry.get(name)
        if value is None:
            return None
        return value if is_known(value) else program.trace.state.evaluate(value)  # type: ignore[arg-type]

    own = named("byte_len", None)
    lengths = (due.lengths if entry is None else ()) if own is None else (own,)
    number = program.language.number
    members: list[Member] = []
    if lengths:
        members.append(("byte_len", [number(one) for one in lengths]))
    if due.queue == "recv" and (entry is None or "imm" in entry):
        members.append(("is_received", True))
        imm = named("imm", due.imm)
        members += [] if imm is None else [("imm", number(imm))]
        members += [] if due.invalidated is None else [("rkey", number(due.invalidated))]
    return members


def _departure(program: Program, call: calls.Came, taken: Taken, claim: plan.Claim, *, may_fail: bool) -> list[Member]:
    """The statuses of a known departure that the claim does not admit."""
    known, profile = taken.ruled.known if taken.ruled is not None else None, program.subject.profile
    if known is None or known.outcome is None:
        return []
    if known.outcome.listed() is not None:  # another completion comes than the one that is due
        return [("departure", program.language.string(known.id))]
    succeeded = call.completion.status == SUCCESS
    names = claims.statuses((known.outcome,), profile)
    ours = [] if succeeded and not may_fail else claims.statuses(claim, profile)
    names = [name for name in names if name not in ours]
    if known.outcome.succeeds() and not succeeded:
        names = [SUCCESS]
    if not names:
        return []
    return [("known", program.statuses(names)), ("departure", program.language.string(known.id))]


def _entry(program: Program, call: calls.Came, taken: Taken) -> dict[str, object] | None:
    """The members of the entry of the claim's list that speaks of a completion; None: it is in no list."""
    if taken.ruled is None or not call.due:
        return None
    attempt = taken.ruled.attempt
    for outcome in taken.ruled.claim:
        entries = as_came(outcome, attempt, program.trace.state.evaluate).listed() or ()
        for entry, due in zip(entries, arrange(entries, attempt.listed), strict=False):
            if due is call.due[0]:
                return dict(entry.members)
    return None


def _errors(program: Program, call: calls.Came, taken: Taken, claim: plan.Claim, *, may_fail: bool) -> list[Member]:
    """The errors that are admitted, and whether success is."""
    got, profile, due = call.completion, program.subject.profile, call.due[0] if call.due else None
    names, entry = claims.statuses(claim, profile), _entry(program, call, taken)
    if got.queue == "send" and section_faults.is_of_invalidation(claim):
        names = list(section_faults.told(profile, invalidates=True))
    program.failed = program.failed or got.status != SUCCESS
    if entry is not None and "status" in entry:
        names = list(claims.class_of(str(entry["status"])))
    elif may_fail or (got.status in names and got.status != FLUSH):
        pass
    elif got.status == FLUSH:
        names = [FLUSH]
    elif due is not None and any(one.request is due for one in _received(taken)):
        # The sender is told, or its request was acknowledged before.
        return [("errors", program.statuses(section_faults.told(profile, invalidates=False)))]
    else:
        return [("errors", Statuses((), True)), MUST_FAIL]
    return [("errors", program.statuses(names)), *([] if may_fail else [MUST_FAIL])]


def _received(taken: Taken) -> list[Due]:
    came = [call for call in taken.calls if isinstance(call, calls.Came) and call.due]
    return [call.due[0] for call in came if call.completion.queue == "recv"]
