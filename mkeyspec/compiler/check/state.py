"""What is so at a point of one row, as far as the text tells: memories, mkeys, QPs.

What it holds is immutable and replaced, never changed, so that a copy is a copy of two tables. It follows
the pages: what they leave open is `None` or *unknown* here, and no rule is broken by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag, QpOps
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Layout, Part, layout_length
from mkeyspec.value.live import Int, Live
from mkeyspec.value.signature import Domain

ACCESS, LAYOUT, SIGNATURE, CRYPTO = 1, 2, 4, 8
"""Properties of an mkey, as bits of `AbstractMkey.unknown`."""
ALL = ACCESS | LAYOUT | SIGNATURE | CRYPTO

MKEY_OPS = int(QpOps.MR_INTERLEAVED | QpOps.MR_LIST | QpOps.MKEY_CONFIGURE)
"""The operations of a QP that names none."""

MOST_ENTRIES = 0xFFFF
"""max_entries is a uint16."""

WQE_UNIT = 64
RC_OVERHEAD = 192
"""Bytes of a configuration WQE before its layout: control 16, UMR control 48, mkey context 64, and 64 (X-LIM-01)."""


class MemoryState(NamedTuple):
    """`access` None: everything; `pd` None: the side's own. `misaligned`: bytes behind a page's beginning."""

    at: plan.At
    length: int
    peer: bool = False
    pd: str | None = None
    access: int | None = None
    misaligned: int = 0


class AbstractMkey(NamedTuple):
    """An mkey as its configurations left it.

    `flags`, `entries`: as requested, None when live. `access` None: no setter ever named it; `length`: of the
    layout, None when there is none or it is live. `unknown`: properties that an abort or a refused
    section left undefined at `unknown_at`, or one that may be refused (`unknown_by`: "abort", "section" or
    "undecided"). `transfers`: since the last
    configuration. `reported`: since it, a check found an error. `tag`: set by `retag`.
    """

    at: plan.At
    flags: int | None
    entries: int | None
    peer: bool = False
    pd: str | None = None
    created: bool = True
    configured: bool = False
    access: Int | None = None
    layout: Layout | None = None
    length: int | None = None
    mem: Domain | None = None
    wire: Domain | None = None
    check_mask: int = 0
    copy_mask: int | None = None
    crypto: plan.SetCrypto | None = None
    invalidated: plan.At | None = None
    unknown: int = 0
    unknown_at: plan.At | None = None
    unknown_by: str = ""
    transfers: int = 0
    reported: bool = False
    tag: Int = 0

    def has(self, flag: MkeyFlag) -> bool:
        """Created with `flag`; an mkey whose flags are live has them all."""
        return self.flags is None or bool(self.flags & flag)


class QpState(NamedTuple):
    """A declared QP pair; the defaults are the fixture's (language reference, "Fixture").

    `room`: bytes of a configuration WQE for layout and
    signature (X-LIM-01).
    """

    at: plan.At | None = None
    type: str = "rc"
    send_ops: int = MKEY_OPS
    max_send_sge: int = 4
    max_recv_sge: int = 4
    max_send_wr: int = 64
    max_recv_wr: int = 64
    sq_sig_all: bool = False
    max_inline_data: int = 512
    sig_pipelining: bool = False
    scatter_to_cqe: bool = False
    streams: int = 0
    pd: str | None = None
    room: int = 576
    created: bool = True


class OtherState(NamedTuple):
    """A pd, dek or dct: nothing about it changes."""

    at: plan.At
    kind: str
    peer: bool = False
    keytag: ByteString | None = None
    created: bool = True


Posted = tuple[str | None, bool]
"""An end of a QP pair: the pair's name (None: the default one), and whether it is the peer's."""

Thing = MemoryState | AbstractMkey | QpState | OtherState

DEFAULT_QP = QpState()


def _aligned(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def room_of(max_send_sge: int, max_inline_data: int) -> int:
    """Bytes that layout and signature may take in one configuration WQE of an RC QP created so (X-LIM-01)."""
    wqe = max(RC_OVERHEAD + 16 * max_send_sge, RC_OVERHEAD + _aligned(4 + max_inline_data, 16))
    return _aligned(wqe, WQE_UNIT) - RC_OVERHEAD


def overridden(but: plan.Overrides, member: str, written: Int) -> tuple[int | None, bool]:
    """The member's value as it reaches the struct (None when live), and whether `but` set it."""
    for name, value in but:
        if name == member:
            return (value if isinstance(value, int) else None), True
    return (written if isinstance(written, int) else None), False


class AbstractState:
    """All declared things of a row by name, as they are now.

    `receives`: the parts of each receive posted by hand that no message has met yet, in order, by QP and whether the
    peer posted it; None where a cancelled request or a failed one leaves open which are left.
    """

    __slots__ = ("receives", "things")

    def __init__(
        self,
        things: dict[str, Thing] | None = None,
        receives: dict[Posted, tuple[tuple[Part, ...], ...] | None] | None = None,
    ) -> None:
        self.things: dict[str, Thing] = {} if things is None else things
        self.receives: dict[Posted, tuple[tuple[Part, ...], ...] | None] = {} if receives is None else receives

    def copy(self) -> AbstractState:
        """An independent copy, to look ahead within one step: at the requests of a section, one after the other, or at
        what a step would be refused for."""
        return AbstractState(self.things.copy(), self.receives.copy())

    def mkey(self, name: str) -> AbstractMkey | None:
        """The mkey of that name, None if the name is none of an mkey."""
        thing = self.things.get(name)
        return thing if isinstance(thing, AbstractMkey) else None

    def memory(self, name: str) -> MemoryState | None:
        thing = self.things.get(name)
        return thing if isinstance(thing, MemoryState) else None

    def qp(self, name: str | None) -> QpState:
        """The QP of that name; None: the case's default one."""
        thing = None if name is None else self.things.get(name)
        return thing if isinstance(thing, QpState) else DEFAULT_QP

    # Time passes ---------------------------------------------------------------------------

    def apply(self, step: plan.Step, rejected: bool | None = None) -> None:
        """The world after `step`. `rejected`: it was refused; None: as its claim says.

        `accepted or rejected …` goes on as if accepted.
        """
        if isinstance(step, (plan.Transmit, plan.Receive)):
            self._used(step.part.name)
        elif isinstance(step, plan.Post):
            self._post(step, plan.is_rejected(step.claim) if rejected is None else rejected)
        elif isinstance(step, plan.Check):
            key = self.mkey(step.mkey)
            if key is not None and any(kind != "ok" for kind in step.kind):
                self.things[step.mkey] = key._replace(reported=True)
        elif isinstance(step, plan.Retag):
            key = self.mkey(step.mkey)
            if key is not None:
                self.things[step.mkey] = key._replace(tag=step.tag)
        elif isinstance(step, plan.Cancel):
            self.receives[step.qp, True] = None  # which of its SENDs still took theirs is seen when the case runs
        elif isinstance(step, plan.Recv):
            end = step.qp, step.peer
            waiting = self.receives.get(end, ())
            self.receives[end] = None if waiting is None else (*waiting, step.into)
            self._used(*(part.name for part in step.into))
        else:
            self._declare(step, rejected)

    def _declare(self, step: plan.Step, rejected: bool | None) -> None:
        if isinstance(step, plan.Memory):
            self.things[step.name] = MemoryState(step.at, step.length, step.peer, step.pd, step.access, step.misaligned)
        elif isinstance(step, plan.Mkey):
            flags, _ = overridden(step.but, "create_flags", step.flags)
            entries, _ = overridden(step.but, "max_entries", step.entries)
            if step.entries == Live(step.name, "max_entries"):
                entries = MOST_ENTRIES  # not said: lowering gives it what its largest layout needs
            created = not (plan.is_rejected(step.claim) if rejected is None else rejected)
            self.things[step.name] = AbstractMkey(step.at, flags, entries, step.peer, step.pd, created)
        elif isinstance(step, plan.Qp):
            created = not (plan.is_rejected(step.claim) if rejected is None else rejected)
            self.things[step.name] = _qp_state(step, created)
        elif isinstance(step, plan.Pd):
            self.things[step.name] = OtherState(step.at, "pd", step.peer)
        elif isinstance(step, plan.Dek):
            created = not (plan.is_rejected(step.claim) if rejected is None else rejected)
            self.things[step.name] = OtherState(step.at, "dek", keytag=step.keytag, created=created)
        elif isinstance(step, plan.Dct):
            self.things[step.name] = OtherState(step.at, "dct")

    def _post(self, step: plan.Post, rejected: bool) -> None:
        refused = rejected and _at_complete(step.claim, step.requests)
        if not (step.abort or refused):
            for request in step.requests:
                self.request(request, (step.qp, not step.peer))
            if rejected:
                self.receives[step.qp, True] = self.receives[step.qp, False] = None
            elif may_be_refused(step.claim):
                self._unknown(step, "undecided")
            return
        # "the MKey may be left in an unknown state" (sig_block(3), Notes).
        self._unknown(step, "abort" if step.abort else "section")

    def _unknown(self, step: plan.Post, by: str) -> None:
        for request in step.requests:
            if isinstance(request, plan.Configuring):
                key = self.mkey(request.mkey)
                if key is not None:
                    self.things[request.mkey] = key._replace(unknown=ALL, unknown_at=step.at, unknown_by=by)

    def receive(self, far: Posted) -> tuple[Part, ...] | None:
        """The parts of the receive that the next message meets at that end of a QP."""
        waiting = self.receives.get(far)
        return waiting[0] if waiting else None

    def request(self, request: plan.Wr, far: Posted) -> None:
        """The world after one work request of a section that was carried out. `far`: the end that it goes to."""
        waiting = self.receives.get(far)
        if waiting and request.meets_receive():
            self.receives[far] = waiting[1:]
        self._used(*(end.part.name for end in request.ends()))
        match request:
            case plan.Configure():
                self._configure(request)
            case plan.MrList() | plan.MrInterleaved():
                setters = (plan.SetAccess(request.access), plan.SetLayout(request.layout))
                self._configure(plan.Configure(request.at, request.mkey, setters))
            case plan.Invalidate():
                self._invalidated(request.mkey, request.at)
            case plan.Send(invalidate=str() as name):
                key = self.mkey(name)
                if key is not None and key.has(MkeyFlag.REMOTE_INVALIDATE):
                    self._invalidated(name, request.at)

    def _configure(self, request: plan.Configure) -> None:
        key = self.mkey(request.mkey)
        if key is None:
            return
        announced, _ = overridden(request.options.but, "num_setters", len(request.setters))
        if announced != len(request.setters):
            # Setters are missing: no page says what became of the request.
            self.things[request.mkey] = key._replace(unknown=ALL, unknown_at=request.at, unknown_by="section")
            return
        changes: dict[str, Any] = {"configured": True, "invalidated": None, "transfers": 0, "reported": False}
        unknown = key.unknown
        if request.reset_signature:
            changes.update(mem=None, wire=None, check_mask=0, copy_mask=None)
            unknown &= ~SIGNATURE
        for setter in request.setters:
            if isinstance(setter, plan.SetAccess):
                changes["access"] = setter.flags
                unknown &= ~ACCESS
            elif isinstance(setter, plan.SetLayout):
                changes.update(layout=setter.layout, length=layout_length(setter.layout))
                unknown &= ~LAYOUT
            elif isinstance(setter, plan.SetSignature):
                changes.update(
                    mem=setter.mem, wire=setter.wire, check_mask=setter.check_mask, copy_mask=setter.copy_mask
                )
                unknown &= ~SIGNATURE
            else:
                changes["crypto"] = setter
                unknown &= ~CRYPTO
        changes["unknown"] = unknown
        self.things[request.mkey] = key._replace(**changes)

    def _invalidated(self, name: str, at: plan.At) -> None:
        """Its configuration is cleared (mkey_configure(3), Usage); it must be configured anew."""
        key = self.mkey(name)
        if key is not None:
            self.things[name] = AbstractMkey(
                key.at, key.flags, key.entries, key.peer, key.pd, key.created, invalidated=at, tag=key.tag
            )

    def _used(self, *names: str) -> None:
        for name in names:
            key = self.mkey(name)
            if key is not None:
                self.things[name] = key._replace(transfers=key.transfers + 1)


def may_be_refused(claim: plan.Claim) -> bool:
    """The claim names a refusal, and something else."""
    return any(isinstance(outcome, plan.Rejected) for outcome in claim) and not plan.is_rejected(claim)


def _at_complete(claim: plan.Claim, requests: Iterable[plan.Wr]) -> bool:
    """Refused as a section; or, if later, in requests that do nothing but configure."""
    if any(isinstance(outcome, plan.Rejected) and outcome.phase != "completion" for outcome in claim) or not claim:
        return True
    return all(isinstance(request, plan.Configuring) for request in requests)


def _qp_state(step: plan.Qp, created: bool) -> QpState:
    known: dict[str, Any] = {name: value for name, value in step.members if name in QpState._fields}
    if known.get("type", "rc") != "rc":
        known.setdefault("send_ops", 0)  # only RC QPs can be made with the mkey operations (WRP-03)
    state = DEFAULT_QP._replace(at=step.at, pd=step.pd, created=created)._replace(**known)
    return state._replace(room=room_of(state.max_send_sge, state.max_inline_data))
