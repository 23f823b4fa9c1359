"""What is posted by hand or by a short form, each way that the case admits has its branch."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from mkeyspec import plan
from mkeyspec.repro import calls, claims
from mkeyspec.repro.completions import cq, wanted
from mkeyspec.repro.language import Member
from mkeyspec.repro.program import Program
from mkeyspec.repro.recorder import Forced, is_marker
from mkeyspec.repro.statements import carry_out
from mkeyspec.repro.trace import Taken, Unsayable

Step = plan.Post | plan.Transmit | plan.Receive
Ways = dict[str, Sequence[calls.Call]]
"""The calls after a section, by the phase at which it is refused; "": it is not."""


def section(program: Program, index: int, step: Step, taken: Taken) -> None:
    """What step `index` posts, and what follows it."""
    own, line = _own(taken.calls), step.at.line
    if own is None:
        carry_out(program, taken.calls, taken, line)
        return
    posted, after = taken.calls[own], taken.calls[own + 1 :]
    assert isinstance(posted, calls.Post)
    _before(program, taken, own, line)
    program.language.post(posted, step if isinstance(step, plan.Post) else None)
    if isinstance(step, plan.Post) and step.abort:
        carry_out(program, after, taken, line)
        return
    program.note(step.label)
    ways: Ways = {_phase(taken): after}
    for phase in claims.phases(step.claim):
        if phase not in ways:
            ways[phase] = _other_way(program, index, step, phase)
    _departs_later(program, posted, step)
    went = program.result(line, "ibv_wr_complete", step.claim, step.known, "complete")
    if "complete" not in ways:
        program.do(went)
        _after(program, ways, posted, taken)
    elif len(ways) == 1:
        program.do(went)
        _refused(program, ways["complete"], taken, line)
    else:
        with program.when(went):
            _after(program, ways, posted, taken)
        with program.otherwise():
            _refused(program, ways["complete"], taken, line)


def _before(program: Program, taken: Taken, own: int, line: int) -> None:
    """What is done before it is posted; the receive of a short form is not a marker's."""
    for call in taken.calls[:own]:
        carry_out(program, [call], taken, line)


def _own(given: Sequence[calls.Call]) -> int | None:
    """Which of the calls posts what the case says, and no marker."""
    found = (i for i, call in enumerate(given) if isinstance(call, calls.Post) and not is_marker(call.requests))
    return next(found, None)


def _phase(taken: Taken) -> str:
    """Where the model refuses it."""
    if taken.ruled is None:
        return ""
    phase = taken.ruled.attempt.phase or ""
    return "" if phase == "completion" and plan.lists(taken.ruled.claim) else phase


def _other_way(program: Program, index: int, step: Step, phase: str) -> Sequence[calls.Call]:
    """The calls after the section where it ends otherwise than on the model: a run in which it does."""
    if phase == "completion":
        return ()
    force = Forced()
    if phase == "complete":
        numbers = claims.errnos(step.claim, phase, program.subject.profile)
        force = Forced(errno=numbers[0] if numbers and numbers[0] != claims.ANY else errno.EINVAL)
    for number, taken in enumerate(program.new_trace().steps({index: force})):
        if number == index:
            own = _own(taken.calls)
            assert own is not None
            found = taken.calls[own + 1 :]
            return found if phase else [one for one in found if not isinstance(one, calls.Reconnect)]
    raise AssertionError(index)


def _refused(program: Program, given: Sequence[calls.Call], taken: Taken, line: int) -> None:
    """The QPs have not failed."""
    was, program.failed = program.failed, False
    carry_out(program, given, taken, line)
    program.failed = was


def _after(program: Program, ways: Ways, posted: calls.Post, taken: Taken) -> None:
    """What follows a section that was posted: it succeeds, it fails, or either."""
    good, bad, step = ways.get(""), ways.get("completion"), taken.step
    assert step is not None
    line = step.at.line
    if bad is None:
        _accepted(program, taken)
        carry_out(program, good or (), taken, line)
        _free(program, taken)
        return
    program.failed = True
    if good is None:
        carry_out(program, bad, taken, line)
        return
    ids = {getattr(one, "wr_id", None) for one in posted.requests}
    first = next((one for one in good if isinstance(one, calls.Came) and one.completion.wr_id in ids), None)
    if first is None:
        raise Unsayable(step.at, "a request that asks for no completion, and may fail or not")
    language = program.language
    members = wanted(program, first, taken, may_fail=True)
    with program.when(language.completes(line, f"{program.end(first)}.{cq(first)}", members)):
        program.do(language.took(first.number))
        _accepted(program, taken)
        carry_out(program, [one for one in good if one is not first], taken, line)
        _free(program, taken)
    with program.otherwise():
        program.do(language.call("make_again", line, language.place(posted.pair), language.boolean(True)))


def _accepted(program: Program, taken: Taken) -> None:
    if taken.step is not None and taken.step.at in program.looked_at:
        program.do(f"accepted_{taken.step.at.line} = {program.language.boolean(True)}")


def _free(program: Program, taken: Taken) -> None:
    """The wire of a transmit is what it is, where no statement looks at it."""
    if not isinstance(taken.step, plan.Transmit):
        return
    view = program.trace.state.wires[""]
    for start, end in view.buffer.free if view.whole else [(0, view.length)]:
        name = program.language.place(program.trace.recorder.memory_name(view.buffer.memory))
        program.do(program.language.call("let_be", name, start, end - start))


def _departs_later(program: Program, posted: calls.Post, step: Step) -> None:
    """The page says that it is refused when it is posted. A known driver posts it, and it fails then."""
    known = step.known
    if known is None or not plan.is_rejection(known.outcome) or known.outcome.phase != "completion":
        return
    if claims.goes_on(step.claim):
        return
    names = claims.statuses((known.outcome,), program.subject.profile)
    wr_id = next((one.wr_id for one in posted.requests if hasattr(one, "wr_id")), 0)
    members: list[Member] = [("id", program.wr_id(wr_id)), ("must_fail", True), ("known", program.statuses(names))]
    members.append(("departure", program.language.string(known.id)))
    with program.when(program.language.negated("result"), short=True):
        program.do(program.language.completes(step.at.line, f"{program.end(posted)}.sends", members))
