"""Declarations: objects of the device under the case's names."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mkeyspec import plan
from mkeyspec.abi.constants import DEK_STATE
from mkeyspec.device.protocol import DekAttr, NoSuchCall, QpAttributes, Refused, Side
from mkeyspec.run import distinct
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.errnos import errno_name, errno_of
from mkeyspec.run.granted import Less, granted_as
from mkeyspec.run.login import wrapped_key
from mkeyspec.run.mkey_state import MkeyState
from mkeyspec.run.outcomes import Attempt
from mkeyspec.run.overrides import Members
from mkeyspec.run.pair import Pair
from mkeyspec.run.verdict import Failure

_QP_MEMBERS = {member.name for member in fields(QpAttributes)} - {"pd", "private"}


def _side(peer: bool) -> Side:
    return "peer" if peer else "owner"


def memory(state: CaseState, step: plan.Memory) -> None:
    made = state.buffer(
        step.name,
        step.at,
        _side(step.peer),
        step.length,
        step.data,
        access=step.access,
        misaligned=step.misaligned,
        pd=state.pd(step.pd),
    )
    distinct.new_memory(state, step.name, made.memory)
    state.buffers[step.name] = made


def mkey(state: CaseState, step: plan.Mkey) -> Attempt:
    but = Members(step.but, state)
    flags = but.take("create_flags", step.flags)
    entries = but.take("max_entries", state.member(step.entries, "entries"))
    but.done(f"mkey {step.name}")
    attempt = Attempt(step.at, f"mkey {step.name}")
    try:
        handle = state.device.mkey(_side(step.peer), create_flags=flags, max_entries=entries, pd=state.pd(step.pd))
    except Refused as refusal:
        attempt.phase, attempt.reason = "create", errno_name(errno_of(refusal))
    else:
        distinct.new_mkey(state, step.name, handle)
        state.mkeys[step.name] = MkeyState(step.name, step.at, flags, handle)
        granted_as(f"max_entries of `{step.name}`", handle.max_entries, 16)
        if handle.max_entries < entries:
            text = f"max_entries of `{step.name}` is {handle.max_entries}, and {entries} was asked for"
            state.wrong_numbers[step.name, "max_entries"] = Failure("MKS2109", step.at, text)
    return attempt


def qp(state: CaseState, step: plan.Qp) -> Attempt:
    members: dict[str, Any] = dict(step.members)
    for name in members:
        if name not in _QP_MEMBERS:
            raise NoSuchCall(f"`{name}` of a QP")
    if members.get("type", "rc") != "rc":
        members.setdefault("send_ops", 0)  # only RC QPs can be made with the mkey operations (WRP-03)
    if members.get("type") == "ud":
        members["max_recv_sge"] = members.get("max_recv_sge", QpAttributes().max_recv_sge) + 1  # the rig's, for the GRH
    attributes = QpAttributes(**members, pd=state.pd(step.pd), private=state.isolated)
    attempt = Attempt(step.at, f"qp {step.name}")
    try:
        handle = state.device.qp_pair(attributes)
    except Refused as refusal:
        attempt.phase, attempt.reason = "create", errno_name(errno_of(refusal))
    else:
        state.adopt(Pair(step.name, step.at, attributes, handle))
    return attempt


def pd(state: CaseState, step: plan.Pd) -> None:
    made = state.device.pd(_side(step.peer))
    distinct.new_pd(state, step.name, made)
    state.pds[step.name] = made


def dek(state: CaseState, step: plan.Dek) -> Attempt:
    attempt = Attempt(step.at, f"dek {step.name}")
    given = (step.key.data, step.keytag.data if step.keytag is not None else None)
    try:
        if step.wrapped:
            key = wrapped_key(state, step)
            made = state.device.dek(key, None, _dek_attr(state, step))
        elif step.is_plain():
            made = state.device.dek(*given)
        else:
            made = state.device.dek(*given, _dek_attr(state, step))
    except Refused as refusal:
        attempt.phase, attempt.reason = "create", errno_name(errno_of(refusal))
    else:
        distinct.new_dek(state, step.name, made)
        state.deks[step.name] = made
    return attempt


def _dek_attr(state: CaseState, step: plan.Dek) -> DekAttr:
    but, usual = Members(step.but, state), DekAttr()
    # The language takes key_size from the key's length; -1 is not a value of the enum.
    size = but.take("key_size", -1)
    of_session = bool(step.wrapped) and step.login is None
    attr = DekAttr(
        usual.opaque if step.opaque is None else step.opaque.data,
        None if size == -1 else size,
        but.take("key_purpose", usual.key_purpose),
        but.take("comp_mask", 0 if of_session else usual.comp_mask),
        state.pd(step.pd),
        None if step.login is None else state.logins[step.login],
        bool(step.wrapped),
        step.keytag is not None,
    )
    but.done(f"dek {step.name}")
    return attr


def destroy_dek(state: CaseState, step: plan.DestroyDek) -> Attempt:
    attempt = Attempt(step.at, f"destroy {step.dek}")
    try:
        state.device.destroy_dek(state.deks[step.dek])
    except Refused as refusal:
        attempt.phase, attempt.reason = "destroy", errno_name(errno_of(refusal))
    else:
        state.destroyed_deks.add(step.dek)
    return attempt


def query(state: CaseState, step: plan.Query) -> tuple[Attempt, Failure | None]:
    """One call of mlx5dv_dek_query, and how its answer differs from the case."""
    attempt = Attempt(step.at, f"query {step.dek}")
    try:
        answer = state.device.query_dek(state.deks[step.dek])
    except Refused as refusal:
        attempt.phase, attempt.reason = "query", errno_name(errno_of(refusal))
        return attempt, None
    got = DEK_STATE[answer.state] if 0 <= answer.state < len(DEK_STATE) else f"state {answer.state}"
    details = []
    if got not in step.state:
        details += [("expected", " or ".join(step.state)), ("got", got)]
    if step.opaque is not None and answer.opaque != step.opaque.data:
        details += [("expected", f"opaque {step.opaque.data.hex()}"), ("got", f"opaque {answer.opaque.hex()}")]
    if not details:
        return attempt, None
    message = f"mlx5dv_dek_query of `{step.dek}` says something else"
    return attempt, Failure("MKS2120", step.at, message, tuple(details))


def dct(state: CaseState, step: plan.Dct) -> None:
    number = state.device.dct(step.key)
    distinct.new_dct(state, step.name, number)
    state.dcts[step.name] = (number, step.key)


def destroy(state: CaseState, step: plan.Destroy) -> Attempt:
    attempt = Attempt(step.at, f"destroy {step.mkey}")
    mkey = state.mkeys[step.mkey]
    try:
        state.device.destroy(mkey.handle)
    except Refused as refusal:
        attempt.phase, attempt.reason = "destroy", errno_name(errno_of(refusal))
    else:
        mkey.destroyed = True
    return attempt


def retag(state: CaseState, step: plan.Retag) -> None:
    configured = state.mkeys[step.mkey]
    configured.earlier.append((configured.handle.lkey, configured.handle.rkey))
    tag = state.member(step.tag, "tag")
    handle = state.device.retag(configured.handle, tag)
    for name, before, now in (
        ("lkey", configured.handle.lkey, handle.lkey),
        ("rkey", configured.handle.rkey, handle.rkey),
    ):
        if now != (wanted := before & ~0xFF | tag):
            raise Less(f"the {name} of `{step.mkey}` is {now:#x} after `retag`, and {wanted:#x} was asked for")
    configured.handle = handle
