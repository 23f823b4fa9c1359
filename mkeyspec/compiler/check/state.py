"""The abstract state at a point of one row: memories, mkeys, QPs.

Its values are immutable and replaced, so a copy is a copy of two tables. What the pages leave open is `None` or
*unknown*, and breaks no rule.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag, QpOps
from mkeyspec.compiler.check.origin import origin_of
from mkeyspec.compiler.check.queue_end import EMPTY, TARGETS, Queue, QueueEnd
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Layout, Part
from mkeyspec.value.live import Int, known_number
from mkeyspec.value.signature import Domain, Domains

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
    """`access` None: everything; `pd` None: the side's own. `misaligned`: bytes after a page's beginning."""

    at: plan.At
    length: int
    peer: bool = False
    pd: str | None = None
    access: int | None = None
    misaligned: int = 0


class AbstractMkey(NamedTuple):
    """An mkey as its configurations left it, and what went through it.

    `flags`, `entries`: as requested, None when live. `access` None: no setter ever named it. `signed_by`: the request
    whose setter gave the domains, and that setter. `unknown`: properties that an abort or a refused section left
    undefined at `unknown_at`, or one that may be refused (`unknown_by`: "abort", "section" or "undecided"), or that
    was set behind a claimed failure, or was not ("failure").
    `transfers`: since the last configuration. `inputs`: the domains that the data of transfers came in, of which the
    next check tells, oldest first; None: data that came without a signature. `called`: a check has called for them;
    they stay until there is a newer one. `reported`: since the last configuration, a check found an error. `tag`: set
    by `retag`; `armed_tag`: what it was at the last configuration, which is when the device learns of it. `configured`:
    since it was created or invalidated. `stops`: the QP whose peer's queue an error would stop of the request at
    `stops_at`, the only one since a check that goes through it.
    """

    at: plan.At
    flags: int | None
    entries: int | None
    peer: bool = False
    pd: str | None = None
    created: bool = True
    access: Int | None = None
    layout: Layout | None = None
    mem: Domain | None = None
    wire: Domain | None = None
    signed_by: tuple[plan.Configure, plan.SetSignature] | None = None
    check_mask: int = 0
    copy_mask: int | None = None
    crypto: plan.SetCrypto | None = None
    invalidated: plan.At | None = None
    unknown: int = 0
    unknown_at: plan.At | None = None
    unknown_by: str = ""
    transfers: int = 0
    inputs: tuple[Domain | None, ...] = ()
    called: bool = False
    reported: bool = False
    tag: Int = 0
    armed_tag: Int = 0
    destroyed: plan.At | None = None
    configured: bool = False
    stops: str | None = None
    stops_at: plan.At | None = None

    def has(self, flag: MkeyFlag) -> bool:
        """Created with `flag`; an mkey whose flags are live has them all."""
        return self.flags is None or bool(self.flags & flag)

    def lost(self, properties: int) -> bool:
        """Whether one of these is unknown. After a statement that may be refused the case goes on as if accepted."""
        return bool(self.unknown & properties) and self.unknown_by != "undecided"

    @property
    def length(self) -> int | None:
        """In bytes, of its layout; None: it has none, or its length is live."""
        return None if self.layout is None else self.layout.length

    @property
    def domains(self) -> Domains:
        return Domains(self.mem, self.wire)

    @property
    def wire_span(self) -> Span | None:
        """Where its wire domain was written, for notes."""
        if self.signed_by is None:
            return None
        request, setter = self.signed_by
        return origin_of(request).get(setter, "wire")

    @property
    def told(self) -> tuple[Domain, ...]:
        """The different domains that a check may tell an error of: the wire domain of a receive, and else the memory
        domain. An error that no check has read is kept after transfers without an error, and after a configuration."""
        return tuple(dict.fromkeys([one for one in self.inputs if one is not None]))

    def cleared(self) -> AbstractMkey:
        """As it was created: its configuration is gone, or not known any more. The error that no check has read is
        still there."""
        created = AbstractMkey(self.at, self.flags, self.entries, self.peer, self.pd, self.created)
        created = created._replace(tag=self.tag, armed_tag=self.armed_tag)
        return created._replace(inputs=self.inputs, called=self.called, destroyed=self.destroyed)


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
    """A pd, dek, dct or login object. `pd`, `keytag` and `wrapped` are of a dek, `destroyed` also of a login object."""

    at: plan.At
    kind: str
    peer: bool = False
    keytag: ByteString | None = None
    created: bool = True
    pd: str | None = None
    destroyed: plan.At | None = None
    wrapped: bool = False


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
            return known_number(value), True
    return known_number(written), False


class AbstractState:
    """All declared things of a row by name, and each end of a QP, as they are now. `session`: whether the context has a
    login session; None: a logout that may be refused leaves that open."""

    __slots__ = ("ends", "session", "things")

    def __init__(
        self,
        things: dict[str, Thing] | None = None,
        ends: dict[Queue, QueueEnd] | None = None,
        session: bool | None = False,
    ) -> None:
        self.things: dict[str, Thing] = {} if things is None else things
        self.ends: dict[Queue, QueueEnd] = {} if ends is None else ends
        self.session = session

    def copy(self) -> AbstractState:
        """An independent copy, to look ahead within one step: at the requests of a section, one after the other, or at
        what a step would be refused for."""
        return AbstractState(self.things.copy(), self.ends.copy(), self.session)

    def login_objects(self) -> list[str]:
        """The names of those that are there."""
        others = {name: self.dek(name) for name in self.things}
        return [
            name
            for name, thing in others.items()
            if thing is not None and thing.kind == "login" and thing.created and thing.destroyed is None
        ]

    def dek(self, name: str) -> OtherState | None:
        """The DEK, or the login object, of that name."""
        thing = self.things.get(name)
        return thing if isinstance(thing, OtherState) else None

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

    def end(self, queue: Queue) -> QueueEnd:
        return self.ends.get(queue, EMPTY)

    def receive_queue(self, qp: str | None, peer: bool) -> Queue:
        """The end that has the receives of an end: of a DCI's peer, the queue of all targets."""
        return TARGETS if peer and self.qp(qp).type == "dci" else (qp, peer)

    def receive(self, far: Queue) -> plan.Recv | None:
        """The receive that the next message meets at that end of a QP."""
        waiting = self.end(far).receives
        return waiting[0] if waiting else None

    def configure(self, request: plan.Configure) -> None:
        key = self.mkey(request.mkey)
        if key is None:
            return
        changes: dict[str, Any] = {"invalidated": None, "transfers": 0, "reported": False, "armed_tag": key.tag}
        changes["configured"] = True
        if key.called:
            changes.update(inputs=(), called=False)
        unknown = key.unknown
        if request.reset_signature:
            changes.update(mem=None, wire=None, check_mask=0, copy_mask=None)
            unknown &= ~SIGNATURE
        for setter in request.setters:
            match setter:
                case plan.SetAccess(flags):
                    changes["access"] = flags
                    unknown &= ~ACCESS
                case plan.SetLayout(layout):
                    changes["layout"] = layout
                    unknown &= ~LAYOUT
                case plan.SetSignature(mem, wire, check_mask, copy_mask):
                    changes.update(mem=mem, wire=wire, signed_by=(request, setter))
                    changes.update(check_mask=check_mask, copy_mask=copy_mask)
                    unknown &= ~SIGNATURE
                case plan.SetCrypto():
                    changes["crypto"] = setter
                    unknown &= ~CRYPTO
                case _:
                    assert_never(setter)
        announced, _ = overridden(request.options.but, "num_setters", len(request.setters))
        if announced != len(request.setters):
            # Setters are missing: no page says what became of the request.
            changes.update(unknown_at=request.at, unknown_by="section")
            unknown = ALL
        changes["unknown"] = unknown
        self.things[request.mkey] = key._replace(**changes)

    def invalidate(self, name: str, at: plan.At) -> None:
        """Its configuration is cleared (mkey_configure(3), Usage); it must be configured again."""
        key = self.mkey(name)
        if key is not None:
            self.things[name] = key.cleared()._replace(invalidated=at)

    def forget(self, requests: tuple[plan.Wr, ...], at: plan.At, by: str, cleared: bool) -> None:
        """The mkeys that these requests configure are in an unknown state since `at`. `cleared`: their configuration is
        not known any more; else the case goes on as if they had it."""
        for request in plan.configuring(requests):
            key = self.mkey(request.mkey)
            if key is not None:
                left = key.cleared() if cleared else key
                self.things[request.mkey] = left._replace(unknown=ALL, unknown_at=at, unknown_by=by)

    def moved(self, parts: tuple[Part, ...], received: bool) -> None:
        """Data went through the mkeys among these parts, into memory (`received`) or out of it: that decides which
        domain is the input."""
        for part in parts:
            key = self.mkey(part.name)
            if key is None:
                continue
            domain = key.wire if received else key.mem
            if key.called or domain not in key.inputs:
                left = () if key.called else key.inputs
                self.things[part.name] = key._replace(inputs=(*left, domain), called=False)

    def used(self, *names: str) -> None:
        for name in names:
            key = self.mkey(name)
            if key is not None:
                self.things[name] = key._replace(transfers=key.transfers + 1, stops_at=None)


def may_be_refused(claim: plan.Claim) -> bool:
    """The claim names a refusal, and something else."""
    return plan.may_be_rejected(claim) and not plan.is_rejected(claim)


def qp_state(step: plan.Qp) -> QpState:
    """The pair as the step creates it."""
    known: dict[str, Any] = {name: value for name, value in step.members if name in QpState._fields}
    if known.get("type", "rc") != "rc":
        known.setdefault("send_ops", 0)  # only RC QPs can be made with the mkey operations (WRP-03)
    state = DEFAULT_QP._replace(at=step.at, pd=step.pd, created=not plan.is_rejected(step.claim))._replace(**known)
    return state._replace(room=room_of(state.max_send_sge, state.max_inline_data))
