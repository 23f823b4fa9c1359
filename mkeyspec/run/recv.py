"""`recv`: a receive that waits for a message."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.run import section
from mkeyspec.run.addresses import Addresses
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.label import Label
from mkeyspec.run.open_receive import OpenReceive
from mkeyspec.run.outcomes import Attempt


def post(state: CaseState, addresses: Addresses, step: plan.Recv) -> Attempt | None:
    """Post it. The refusal of ibv_post_recv, if it refuses."""
    end = state.pair(step.qp, step.at).end(step.peer)
    addresses.named = []
    sges = tuple(addresses.sge(part) for part in step.into)
    named = [addresses.names_mkey(part.name) for part in step.into]
    fills = addresses.fills(step.into, sges)
    wr_id = state.number() if step.options.id is None else step.options.id
    receive = OpenReceive(step.at, wr_id, sges, any(named), fills)
    receive.astray = bool(sges) and not addresses.is_key(step.into[0].name, sges[0].lkey)
    if step.label is not None:
        receive.label = state.labels.setdefault(step.label, Label())
    state.judge()
    refused = section.post_receive(state, end, receive)
    receive.gone = bool(refused)
    state.course.take_receive(len(state.taken) - 1, receive)
    state.use(addresses.named, step.at, receive)
    return Attempt(step.at, "recv", "complete", refused) if refused else None
