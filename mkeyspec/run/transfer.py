"""The short forms: one message between an mkey and a fresh plain buffer of the peer (docs/design/language.md).

The peer's buffer is plain memory: the bytes that it receives are the wire, and the bytes that it sends are put on the
wire. It has a canary and guards like any other buffer. A receive covers its bytes and the guard after them, so a
message that is too long is found by its byte_len and the changed guard.
"""

from __future__ import annotations

from mkeyspec.device import protocol
from mkeyspec.plan import At, Receive, Transmit, lists, rejections
from mkeyspec.run import drain, settle
from mkeyspec.run import section as sections
from mkeyspec.run.addresses import Addresses
from mkeyspec.run.buffer import GUARD, inside
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.endpoint import End
from mkeyspec.run.label import Label
from mkeyspec.run.mkey_state import MkeyState
from mkeyspec.run.open_receive import OpenReceive as PostedReceive
from mkeyspec.run.outcomes import Attempt
from mkeyspec.run.overrides import Members
from mkeyspec.run.request import Planned, flags_of
from mkeyspec.run.section import Section
from mkeyspec.run.verdict import Failure
from mkeyspec.run.wire_view import WireView

Transfer = tuple[Section, Attempt]


def _receive(
    state: CaseState,
    end: End,
    at: At,
    sges: tuple[protocol.Sge, ...],
    *,
    mkey: bool,
    fills: tuple[tuple[MkeyState | None, int], ...] = (),
) -> str:
    receive = PostedReceive(at, state.number(), sges, mkey, fills, own=True)
    return sections.post_receive(state, end, receive)


def transmit(state: CaseState, addresses: Addresses, step: Transmit) -> Transfer:
    """Send data through the mkey of `step.part`; the peer's buffer becomes the wire."""
    pair = state.pair(step.qp, step.at)
    but = Members(step.options.but, state)
    addr, length, lkey, rkey = addresses.resolve(step.part)
    mkeys: list[MkeyState] = []
    addresses.named = mkeys
    mkey = addresses.names_mkey(step.part.name)
    lkey, rkey = but.retag(lkey, rkey)
    lkey, rkey = but.take("lkey", lkey), but.take("rkey", rkey)
    addr, count = but.take("addr", addr), but.take("length", length)
    but.done("transmit")
    wire = state.buffer("wire", step.at, "peer", length)
    state.fresh.append(wire)
    inside(wire, wire.addr, count, meant=count != length)
    view = WireView(wire, length, step.at, False)
    state.wires[""] = view
    if step.label is not None:
        state.wires[step.label] = view

    imm = None if step.imm is None else state.member(step.imm, "imm")
    wr_id = state.number() if step.options.id is None else step.options.id
    flags = flags_of(step.options, True)
    local = (protocol.Sge(addr, count, lkey),)
    refused = ""
    if step.by == "peer_read":
        end = pair.peer
        request: protocol.WorkRequest = protocol.Read(
            wr_id, flags, (protocol.Sge(wire.addr, count, wire.memory.lkey),), addr, rkey
        )
        planned = Planned(step.at, request, "rdma_read", wr_id, True, mkey, byte_lens=(count,), mkeys=mkeys)
    elif step.by in ("send", "send_imm"):
        end = pair.owner
        room = (protocol.Sge(wire.addr, length + GUARD, wire.memory.lkey),)
        refused = _receive(state, pair.peer, step.at, room, mkey=False)
        request = protocol.Send(wr_id, flags, local, imm, None, addresses.dc(step.options))
        planned = Planned(step.at, request, "send", wr_id, True, mkey, delivers=count, imm=imm, mkeys=mkeys)
    else:
        end = pair.owner
        request = protocol.Write(wr_id, flags, local, wire.addr, wire.memory.rkey, imm, addresses.dc(step.options))
        planned = Planned(step.at, request, "rdma_write", wr_id, True, mkey, imm=imm, by_write=True, mkeys=mkeys)
        if imm is not None:
            planned.delivers = count
            refused = _receive(state, pair.peer, step.at, (), mkey=False)
    there = step.by == "peer_read"
    planned.astray = not addresses.is_key(step.part.name, rkey if there else lkey, remote=there)
    what = f"transmit {step.part.name} by {step.by}"
    done = _run(state, Section(step.at, what, end, (planned,)), step, refused, passive=step.by == "peer_read")
    if done[1].phase is None and done[1].fault is None:
        view.whole = True
        moved = min(count, length)
        wire.free = [(0, moved)] if moved else []
    return done


def receive(state: CaseState, addresses: Addresses, step: Receive) -> Transfer:
    """Send `step.data` from a new buffer of the peer into the mkey of `step.part`."""
    pair = state.pair(step.qp, step.at)
    but = Members(step.options.but, state)
    addr, _, lkey, rkey = addresses.resolve(step.part)
    mkeys: list[MkeyState] = []
    addresses.named = mkeys
    mkey = addresses.names_mkey(step.part.name)
    lkey, rkey = but.retag(lkey, rkey)
    lkey, rkey = but.take("lkey", lkey), but.take("rkey", rkey)
    addr, count = but.take("addr", addr), but.take("length", step.data.length)
    but.done("receive")
    source = state.buffer("the peer's data", step.at, "peer", step.data.length, step.data)
    state.fresh.append(source)
    if step.by == "read":
        inside(source, source.addr, count, meant=count != source.length)

    imm = None if step.imm is None else state.member(step.imm, "imm")
    wr_id = state.number() if step.options.id is None else step.options.id
    flags = flags_of(step.options, True)
    local = (protocol.Sge(addr, count, lkey),)
    sent = (protocol.Sge(source.addr, step.data.length, source.memory.lkey),)
    configured = state.mkeys.get(step.part.name)
    fills = ((configured if configured is not None and configured.signed else None, 1 << 62),)
    refused = ""
    passive = False
    if step.by == "recv":
        end = pair.peer
        refused = _receive(state, pair.owner, step.at, local, mkey=mkey, fills=fills)
        request: protocol.WorkRequest = protocol.Send(wr_id, flags, sent, imm, None, addresses.dc(step.options))
        planned = Planned(step.at, request, "send", wr_id, True, False, delivers=step.data.length, imm=imm, mkeys=mkeys)
    elif step.by == "read":
        end = pair.owner
        request = protocol.Read(wr_id, flags, local, source.addr, source.memory.rkey, addresses.dc(step.options))
        planned = Planned(step.at, request, "rdma_read", wr_id, True, mkey, mkeys=mkeys)
        planned.answer = fills, count
    else:
        end, passive = pair.peer, True
        request = protocol.Write(wr_id, flags, sent, addr, rkey, imm, addresses.dc(step.options))
        planned = Planned(step.at, request, "rdma_write", wr_id, True, mkey, imm=imm, by_write=True, mkeys=mkeys)
        if imm is not None:
            planned.delivers = step.data.length
            refused = _receive(state, pair.owner, step.at, (), mkey=False, fills=fills)
    there = step.by not in ("recv", "read")
    planned.astray = not addresses.is_key(step.part.name, rkey if there else lkey, remote=there)
    what = f"receive into {step.part.name} by {step.by}"
    return _run(state, Section(step.at, what, end, (planned,)), step, refused, passive=passive)


def _run(state: CaseState, section: Section, step: Transmit | Receive, refused: str, *, passive: bool) -> Transfer:
    """Post, wait, and drain the owner's CQs if the owner posted nothing."""
    seen = None if step.label is None else state.labels.setdefault(step.label, Label())
    section.listed = sections.most_listed(step.claim)
    if refused:
        # Of ibv_post_recv, not of the request that a claim speaks of; and nothing is wrong with this receive.
        message = f"the receive of `{section.what}` was refused with {refused}"
        fault = Failure("MKS2001", section.at, message, hard=True)
        attempt = Attempt(section.at, section.what, "complete", refused, fault=fault)
    elif _may_reset(step) and (late := drain.before(state, section.end, section.at)) is not None:
        attempt = Attempt(section.at, section.what, fault=late)
    else:
        attempt = sections.post(state, section) or settle.completions(state, section)
        if sections.departs_by_list(section, step.known):
            settle.gather(state, section, attempt)
    if passive:
        state.poll(section.end.other)
    if seen is not None:
        note(seen, section, attempt)
        seen.dues.extend(section.far)
        if attempt.phase == "completion":
            seen.members["status"] = attempt.reason  # of the request that names the mkey, at whichever end
    return section, attempt


def _may_reset(step: Transmit | Receive) -> bool:
    """Whether a list or a refusal is claimed; then outstanding work is waited for first."""
    return bool(lists(step.claim) or rejections(step.claim))


def note(label: Label, section: Section, attempt: Attempt) -> None:
    """The members of a labelled step: errno's name or 0, and the completions of its own requests. A receive that takes
    its message has a label of its own."""
    label.members["errno"] = attempt.reason if attempt.phase == "complete" else 0
    if attempt.phase != "complete":
        label.dues.extend(section.dues)
