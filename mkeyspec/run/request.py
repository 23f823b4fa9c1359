"""Translates work requests of the plan to work requests of the device."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import SendFlag
from mkeyspec.device import protocol
from mkeyspec.plan import At, Options
from mkeyspec.run.addresses import Addresses
from mkeyspec.run.buffer import inside
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.mkey_state import MkeyState
from mkeyspec.run.overrides import Members
from mkeyspec.run.setters import Setters
from mkeyspec.value.layout import Part
from mkeyspec.value.live import evaluate
from mkeyspec.value.signature import Domain

INLINE = int(SendFlag.INLINE)
SIGNALED = int(SendFlag.SIGNALED)


@dataclass(slots=True)
class Planned:
    """A request ready to be posted, and what its completion is compared with.

    `delivers`: bytes that arrive in a receive of the other end; None if the request uses none. `byte_lens`: of its own
    completion, where that is defined and known (RDMA READ and atomics). `mkeys`: those that it names; `layout`: the
    mkey that it gives a layout, and the mkeys in that.
    """

    at: At
    request: protocol.WorkRequest
    opcode: str
    wr_id: int
    signaled: bool
    names_mkey: bool = False
    delivers: int | None = None
    by_write: bool = False
    imm: int | None = None
    invalidated: int | None = None
    byte_lens: tuple[int, ...] = ()
    answer: tuple[tuple[tuple[MkeyState | None, int], ...], int] | None = None
    """What the response fills (`mkey_state.byte_lens`), and the number of wire bytes."""
    dc: protocol.DcAddress | None = None
    mkeys: list[MkeyState] = field(default_factory=list)
    layout: tuple[MkeyState, tuple[MkeyState, ...]] | None = None
    fence: bool = False
    astray: bool = False
    """Its first local key, its remote key or its address of a DCT is not that of what it names, by a `but`."""
    domains: tuple[Domain | None, Domain | None] | None = None
    """Of a configuration: the signature that it leaves, memory and wire."""


def flags_of(options: Options, signaled: bool | None = None) -> int:
    """ibv_send_flags; INLINE of a SEND or WRITE only."""
    flags = 0
    if options.signaled if signaled is None else signaled:
        flags |= SIGNALED
    if options.fence:
        flags |= SendFlag.FENCE
    if options.solicited:
        flags |= SendFlag.SOLICITED
    if options.inline:
        flags |= SendFlag.INLINE
    return int(flags)


class RequestBuilder:
    """Builds requests from the state of the case."""

    __slots__ = ("addresses", "setters", "state")

    def __init__(self, state: CaseState) -> None:
        self.state = state
        self.addresses = Addresses(state)
        self.setters = Setters(self.addresses)

    def request(self, wr: plan.Wr, signal_all: bool = False) -> Planned:
        """`wr` ready to post. `signal_all`: the QP signals whatever its requests say (sq_sig_all)."""
        at = wr.at
        if isinstance(wr, plan.StraySetter):
            return Planned(at, protocol.StraySetter(self.setters.setter(wr.setter)), "", -1, False)
        options, addresses = wr.options, self.addresses
        state = self.state
        wr_id = state.number() if options.id is None else options.id
        flags = flags_of(options)
        but = Members(options.but, state, wr.word)
        addresses.named, addresses.reached = [], []
        planned = Planned(at, _NOTHING, wr.opcode, wr_id, options.signaled or signal_all, mkeys=addresses.named)
        if options.dct is not None:
            planned.dc = addresses.dc(options)

        match wr:
            case plan.Configure() | plan.MrList() | plan.MrInterleaved():
                self._configuration(wr, planned, flags, but)
            case plan.Send():
                sges, planned.names_mkey = addresses.sges(wr.data, but)
                planned.imm = None if wr.imm is None else state.member(wr.imm, "imm")
                if wr.invalidate is not None:
                    key = addresses.resolve(Part(wr.invalidate, 0, 0))[3]
                    planned.invalidated = but.take("invalidate_rkey", key)
                planned.delivers = sum(sge.length for sge in sges)
                dc = addresses.dc(options, but)
                planned.request = protocol.Send(wr_id, flags, sges, planned.imm, planned.invalidated, dc)
            case plan.Write():
                sges, local = addresses.sges(wr.data, but)
                addr, rkey, far = addresses.remote(wr.to, but, sum(sge.length for sge in sges))
                planned.names_mkey = local or far
                if wr.imm is not None:
                    planned.imm = state.member(wr.imm, "imm")
                    planned.delivers, planned.by_write = sum(sge.length for sge in sges), True
                planned.request = protocol.Write(
                    wr_id, flags, sges, addr, rkey, planned.imm, addresses.dc(options, but)
                )
            case plan.Read():
                sges, local = addresses.sges(wr.into, but)
                planned.answer = (addresses.fills(wr.into, sges), sum(sge.length for sge in sges))
                addr, rkey, far = addresses.remote(wr.source, but, sum(sge.length for sge in sges))
                planned.names_mkey = local or far
                planned.request = protocol.Read(wr_id, flags, sges, addr, rkey, addresses.dc(options, but))
            case plan.FetchAdd():
                sge, addr, rkey = self._atomic(wr, planned, but)
                add = state.member(wr.add, "add")
                planned.request = protocol.FetchAdd(wr_id, flags, sge, addr, rkey, add, addresses.dc(options, but))
            case plan.CompareSwap():
                sge, addr, rkey = self._atomic(wr, planned, but)
                compare, swap = state.member(wr.compare, "compare"), state.member(wr.swap, "swap")
                dc = addresses.dc(options, but)
                planned.request = protocol.CompareSwap(wr_id, flags, sge, addr, rkey, compare, swap, dc)
            case plan.Invalidate():
                planned.names_mkey = True
                rkey = but.take("rkey", state.mkeys[wr.mkey].handle.rkey)
                planned.request = protocol.LocalInv(wr_id, flags, rkey, wr.by == "post_send")
            case plan.Memcpy():
                source, target = addresses.resolve(wr.source), addresses.resolve(wr.to)
                planned.names_mkey = addresses.names_mkey(wr.source.name) or addresses.names_mkey(wr.to.name)
                count = but.take("length", source[1])
                for part, (addr, _, _, _) in ((wr.source, source), (wr.to, target)):
                    buffer = state.buffers.get(part.name)
                    if buffer is not None:
                        inside(buffer, addr, count, meant=count != source[1] or bool(part.but))
                planned.request = protocol.Memcpy(wr_id, flags, target[2], target[0], source[2], source[0], count)
            case plan.RawWqe():
                planned.request = protocol.RawWqe(wr_id, flags, evaluate(wr.wqe, state.read))
            case _:
                assert_never(wr)
        but.done("a work request")
        planned.fence = plan.options_of(wr).fence
        planned.astray = self.addresses.is_astray(wr, planned.request)
        return planned

    def _configuration(
        self, wr: plan.Configure | plan.MrList | plan.MrInterleaved, planned: Planned, flags: int, but: Members
    ) -> None:
        state, addresses, wr_id = self.state, self.addresses, planned.wr_id
        planned.names_mkey = True
        configured = state.mkeys[wr.mkey]
        addresses.named.append(configured)
        mkey = configured.handle
        flags |= INLINE if but.take("inline", 1) else 0
        if isinstance(wr, plan.Configure):
            planned.request = protocol.Configure(
                wr_id,
                flags,
                mkey,
                but.take("num_setters", len(wr.setters)),
                tuple([self.setters.setter(setter) for setter in wr.setters]),
                but.take("conf_flags", 1 if wr.reset_signature else 0),
                but.take("comp_mask", 0),
            )
            planned.domains = wr.domains_left()
        else:
            access = but.take("access_flags", state.member(wr.access, "access"))
            layout = self.setters.layout(wr.layout, but)
            match layout:
                case protocol.SetList(sges):
                    planned.request = protocol.MrList(wr_id, flags, mkey, access, sges)
                case protocol.SetInterleaved(repeat_count, entries):
                    planned.request = protocol.MrInterleaved(wr_id, flags, mkey, access, repeat_count, entries)
                case _:
                    assert_never(layout)
        if wr.layout_given() is not None:
            planned.layout = (configured, tuple(dict.fromkeys(addresses.reached)))

    def _atomic(self, wr: plan.Atomic, planned: Planned, but: Members) -> tuple[protocol.Sge, int, int]:
        """The SGE of the old value, and the remote address with its key."""
        sges, local = self.addresses.sges((wr.into,), but)
        planned.answer = (self.addresses.fills((wr.into,), sges), sum(sge.length for sge in sges))
        addr, rkey, far = self.addresses.remote(wr.source, but, plan.ATOMIC_BYTES)
        planned.names_mkey = local or far
        return sges[0], addr, rkey


_NOTHING = protocol.RawWqe(0, 0, b"")
