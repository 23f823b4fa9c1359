"""Async events: one that is awaited, and those that no statement names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from mkeyspec.abi.constants import QP_EVENTS
from mkeyspec.device.protocol import AsyncEvent, Qp
from mkeyspec.plan import Await
from mkeyspec.run import wait
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.event_kinds import QP_ERROR_EVENTS
from mkeyspec.run.evidence import Event
from mkeyspec.run.pair import Pair
from mkeyspec.run.verdict import Failure

LAST_WQE = "qp_last_wqe_reached"
MOST_TOLD = 8
"""Events too many that are reported one by one."""


def awaited(state: CaseState, step: Await) -> Failure | None:
    """Wait for an event and check it. An event of a QP is the default pair's if the statement names none."""
    pair = state.pair(step.qp, step.at) if step.event in QP_EVENTS else None

    def found() -> list[Event]:
        return [
            entry
            for entry in state.events
            if not (entry.judged or entry.early)
            and entry.event.kind == step.event
            and (pair is None or (entry.event.qp is not None and _is_of(entry.event.qp, pair, step.event)))
        ]

    if wait.until(state, lambda: bool(found()), state.look_for_events):
        found()[0].mark_judged("await")
        return None
    others = _counted(_name(state, entry.event) for entry in state.events if not entry.judged)
    of = "" if pair is None else " of " + (f"`{pair.name}`" if pair.name else "the default QP")
    details = (("expected", step.event + of), ("got", f"{others}, within {state.deadline:g} s"))
    return Failure("MKS2006", step.at, f"the async event {step.event} did not come", details, True)


def _counted(names: Iterable[str]) -> str:
    """Each name once, with its count; at most MOST_TOLD names."""
    counts = Counter(names)
    told = [name if count == 1 else f"{name} ({count} times)" for name, count in counts.most_common(MOST_TOLD)]
    return ", ".join(told + ["…"] * (len(counts) > MOST_TOLD)) or "none"


def _is_of(qp: Qp, pair: Pair, event: str) -> bool:
    """Whether an event that is awaited on a pair is this one's. Only the owner's send queue is ever drained."""
    ends = (pair.owner,) if event == "sq_drained" else pair.ends
    return any(qp.handle == end.qp.handle for end in ends)


def _name(state: CaseState, event: AsyncEvent) -> str:
    """An event, with the QP that it names."""
    if event.kind not in QP_EVENTS:
        return event.kind
    if event.qp is None:
        return f"{event.kind} of no QP of this case"
    pair = state.pair_of(event.qp)
    name = f" of `{pair.name}`" if pair is not None and pair.name else ""
    return f"{event.kind} of QP {event.qp.number:#x} ({event.qp.side}){name}"


def left_over(state: CaseState) -> Iterator[Failure]:
    """Events that no statement names, without those that follow from a failure of their QP."""
    state.look_for_events()
    found = Counter(_left(state))
    for number, (failure, count) in enumerate(found.items()):
        if number == MOST_TOLD:
            rest = sum(found.values()) - sum(list(found.values())[:MOST_TOLD])
            yield replace(failure, message=f"{rest} more async events are left over, first {failure.message}")
            return
        yield failure if count == 1 else replace(failure, message=f"{failure.message} ({count} times)")


def _may_follow(state: CaseState, event: AsyncEvent) -> bool:
    """Whether a failure of its QP can raise it: the last WQE is that of a shared receive queue, which the targets of
    DCIs have here."""
    pair = state.pair_of(event.qp)
    return event.kind != LAST_WQE or pair is None or pair.attributes.type == "dci"


def _left(state: CaseState) -> Iterator[Failure]:
    raised: Counter[tuple[int, bool]] = Counter()
    for entry in state.events:
        if entry.judged:
            continue
        event = entry.event
        if event.kind in QP_ERROR_EVENTS and entry.of_failure and event.qp is not None and _may_follow(state, event):
            # IBTA: an error of a QP is an access, a request or a fatal error, and raises one event.
            which = event.qp.handle, event.kind == LAST_WQE
            raised[which] += 1
            if raised[which] <= state.failed_qps[event.qp.handle] + state.late[event.qp.handle]:
                entry.mark_judged("consequence of the QP's failure")
                continue
        entry.mark_judged("the closing rule")
        after = () if entry.after is None else (("seen after", f"{entry.after}"),)
        message = f"an async event is left over: {_name(state, event)}"
        yield Failure("MKS2203", entry.at, message, after)
