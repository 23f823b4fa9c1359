"""Ends of QP pairs under pyverbs: creating, connecting, polling and closing them, each with its own completion queues.

A pair has four CQs, one for each queue of each end, so the CQ of a completion identifies its queue even if an error
leaves every other member undefined. The CQs are destroyed with the end.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import Any, Literal

from mkeyspec.abi.constants import WC_OPCODE, WC_STATUS, Access
from mkeyspec.device.protocol import Completion, NoSuchCall, Qp, QpAttributes, Side
from mkeyspec.device.verbs import names
from mkeyspec.device.verbs.address import EndAddress, PortAddress
from mkeyspec.device.verbs.port import Port

REMOTE = int(Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ)
"""The access flags of a QP: all, so that those of the key decide; and REMOTE_ATOMIC where the device has atomics."""

QKEY = 0x11111111
TIMEOUT, RETRIES, RNR_RETRIES, RNR_TIMER = 12, 7, 6, 12
"""Local ack timeout 4.096 µs << 12, so that a lost peer is reported within 0.2 s, well before a step's deadline."""

_PSN_STEP, _MOST_PSN = 0x9E3779, 0xFFFFFF
"""Each end begins with another number, of 24 bits."""

_EX_OPS = {
    "rc": names.EX_SEND
    | names.EX_SEND_IMM
    | names.EX_SEND_INV
    | names.EX_WRITE
    | names.EX_WRITE_IMM
    | names.EX_READ
    | names.EX_LOCAL_INV,
    "uc": names.EX_SEND
    | names.EX_SEND_IMM
    | names.EX_SEND_INV
    | names.EX_WRITE
    | names.EX_WRITE_IMM
    | names.EX_LOCAL_INV,
    "ud": names.EX_SEND | names.EX_SEND_IMM,
    "dci": names.EX_SEND | names.EX_SEND_IMM | names.EX_WRITE | names.EX_WRITE_IMM | names.EX_READ,
    "xrc_send": names.EX_SEND | names.EX_SEND_IMM | names.EX_WRITE | names.EX_WRITE_IMM | names.EX_READ,
    "raw_packet": names.EX_SEND,
}

_WITH_ATOMICS = frozenset({"rc", "dci"})
"""libmlx5 makes no QP with the flags of atomics on a function that has none (EOPNOTSUPP), whatever else it is for."""

MOST_CQES = (1 << 31) - 1
"""What the argument of ibv_create_cq can hold."""

_WITH_LENGTH = frozenset({"rdma_read", "comp_swap", "fetch_add"})

Which = Literal["send", "recv"]


@dataclass(slots=True, eq=False)
class End:
    """One end: a QP (of a DC responder: an SRQ), and its CQs."""

    qp: Qp
    attributes: QpAttributes
    handle: Any
    send_cq: Any
    recv_cq: Any
    srq: Any = None
    pd: Any = None
    far: EndAddress | None = None
    """The other end, once it is connected."""
    receives: int = 0
    """Receives that were posted and have not come back."""
    spent: bool = False
    """Its driver state may differ from that of a new QP (X-BUG-01)."""
    address: Any = None
    """The address handle of UD and DC work requests."""
    targets: list[Any] = field(default_factory=list)
    """DCTs of a responder."""

    def told(self) -> EndAddress:
        """What the other end must know of it."""
        return EndAddress(self.qp, self.qp.handle * _PSN_STEP & _MOST_PSN)

    def poll(self, again: int) -> list[Completion]:
        """Poll all completions of both CQs. A poll that consumes the entry of a signature error returns "empty"
        (X-BUG-13); `again` is how many such entries there can be."""
        found: list[Completion] = []
        for which, cq in (("send", self.send_cq), ("recv", self.recv_cq)):
            if cq is None:
                continue
            empty = 0
            while empty <= again:
                count, completions = cq.poll(16)
                for wc in completions:
                    found.append(self._completion("send" if which == "send" else "recv", wc))
                empty = 0 if count else empty + 1
        return found

    def _completion(self, queue: Which, wc: Any) -> Completion:
        status = int(wc.status)
        name = WC_STATUS[status] if 0 <= status < len(WC_STATUS) else f"status {status}"
        if queue == "recv":
            self.receives -= 1
        if status:
            return Completion(self.qp, queue, int(wc.wr_id), name, vendor_error=int(wc.vendor_err))
        number, flags, data = int(wc.opcode), int(wc.wc_flags), int(wc.imm_data)
        opcode = WC_OPCODE.get(number, f"opcode {number}")
        return Completion(
            self.qp,
            queue,
            int(wc.wr_id),
            name,
            opcode,
            # Of other requests libmlx5 leaves the member as it was.
            int(wc.byte_len) if queue == "recv" or opcode in _WITH_LENGTH else 0,
            # One word of the struct: an immediate in network order, or an rkey in the host's.
            socket.ntohl(data) if flags & names.WC_WITH_IMM else None,
            data if flags & names.WC_WITH_INV else None,
        )

    def close_queue(self) -> None:
        """Close all except the CQs."""
        for item in (*self.targets, self.address, self.handle, self.srq):
            if item is not None:
                item.close()
        self.targets.clear()
        self.address = self.handle = self.srq = None

    def close(self) -> None:
        self.close_queue()
        for item in (self.send_cq, self.recv_cq):
            if item is not None:
                item.close()
        self.send_cq = self.recv_cq = None


class Queues:
    """Makes queues on one context. `pyverbs` is the namespace of names.load()."""

    def __init__(self, pyverbs: Any, context: Any, port: Port) -> None:
        self.pyverbs = pyverbs
        self.context = context
        self.port = port
        self._far: PortAddress | None = None
        self.atomics = bool(int(context.query_device().atomic_caps))

    def end(self, handle: int, side: Side, attributes: QpAttributes, pd: Any) -> End:
        """A QP in RESET with its two CQs. Raises what pyverbs raises."""
        pyverbs = self.pyverbs
        if attributes.type not in names.QPT:
            raise NoSuchCall(f"there is no QP of type {attributes.type}")
        send_cq = pyverbs.CQ(self.context, min(2 * attributes.max_send_wr + 16, MOST_CQES))
        recv_cq = None
        try:
            recv_cq = pyverbs.CQ(self.context, min(attributes.max_recv_wr + 16, MOST_CQES))
            init, extra = self._init_attributes(attributes, pd, send_cq, recv_cq)
            qp = pyverbs.Mlx5QP(self.context, init, extra)
        except BaseException:
            for cq in (send_cq, recv_cq):
                if cq is not None:
                    cq.close()
            raise
        told = Qp(handle, side, int(qp.qp_num), int(init.max_inline_data))
        return End(told, attributes, qp, send_cq, recv_cq, pd=pd)

    def _init_attributes(self, attributes: QpAttributes, pd: Any, send_cq: Any, recv_cq: Any) -> tuple[Any, Any]:
        pyverbs, dci = self.pyverbs, attributes.type == "dci"
        cap = pyverbs.QPCap(
            max_send_wr=attributes.max_send_wr,
            max_recv_wr=0 if dci else attributes.max_recv_wr,
            max_send_sge=attributes.max_send_sge,
            max_recv_sge=0 if dci else attributes.max_recv_sge,
            max_inline_data=attributes.max_inline_data,
        )
        init = pyverbs.QPInitAttrEx(
            qp_type=names.QPT[attributes.type],
            scq=send_cq,
            rcq=recv_cq,
            cap=cap,
            sq_sig_all=int(attributes.sq_sig_all),
            comp_mask=names.INIT_ATTR_PD | names.INIT_ATTR_SEND_OPS,
            pd=pd,
            send_ops_flags=self._operations(attributes.type),
        )
        flags = 0 if attributes.scatter_to_cqe else names.DV_NO_SCATTER_TO_CQE
        flags |= names.DV_SIG_PIPELINING if attributes.sig_pipelining else 0
        mask = names.DV_MASK_CREATE_FLAGS if flags else 0
        mask |= names.DV_MASK_SEND_OPS if attributes.send_ops else 0
        dc = None
        if dci:
            mask |= names.DV_MASK_DC
            streams = None
            if attributes.streams:
                mask |= names.DV_MASK_STREAMS
                log = max(0, attributes.streams - 1).bit_length()
                # Every stream may be in error before the QP is, so that each breaks alone.
                streams = pyverbs.Mlx5DCIStreamInitAttr(log_num_concurent=log, log_num_errored=log)
            dc = pyverbs.Mlx5DVDCInitAttr(dc_type=names.DV_DCI, dci_streams=streams)
        extra = pyverbs.Mlx5DVQPInitAttr(
            comp_mask=mask, create_flags=flags, dc_init_attr=dc, send_ops_flags=attributes.send_ops
        )
        return init, extra

    def _operations(self, kind: str) -> int:
        more = names.EX_CMP_SWP | names.EX_FETCH_ADD if self.atomics and kind in _WITH_ATOMICS else 0
        return _EX_OPS[kind] | more

    def join(self, far: PortAddress) -> None:
        """The other ends are at this port; before, they are at the same one."""
        self._far = far

    @property
    def far(self) -> PortAddress:
        return self._far or self.port.address()

    def connect(self, end: End, far: EndAddress) -> None:
        """To RTS, towards the other end."""
        end.far = far
        if end.handle is None:
            return
        end.handle.to_rts(self._attributes(far, end.told().psn))
        if end.attributes.type in ("ud", "dci"):
            end.address = self.pyverbs.AH(end.pd, attr=self._path())

    def _attributes(self, far: EndAddress | None, psn: int) -> Any:
        mtu = min(self.port.path_mtu, self.far.path_mtu)
        attr = self.pyverbs.QPAttr(port_num=self.port.number, path_mtu=mtu)
        attr.dest_qp_num = 0 if far is None else far.qp.number
        attr.qp_access_flags = REMOTE | (int(Access.REMOTE_ATOMIC) if self.atomics else 0)
        attr.qkey = QKEY
        attr.timeout, attr.retry_cnt = TIMEOUT, RETRIES
        attr.rnr_retry, attr.min_rnr_timer = RNR_RETRIES, RNR_TIMER
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
        attr.rq_psn, attr.sq_psn = 0 if far is None else far.psn, psn
        attr.ah_attr = self._path()
        return attr

    def _path(self) -> Any:
        port, far, pyverbs = self.port, self.far, self.pyverbs
        if not (far.by_gid or port.by_gid):
            return pyverbs.AHAttr(dlid=far.lid, sl=port.sl, port_num=port.number)
        route = pyverbs.GlobalRoute(dgid=pyverbs.GID(val=far.gid), sgid_index=port.gid_index)
        return pyverbs.AHAttr(dlid=far.lid, sl=port.sl, is_global=1, port_num=port.number, gr=route)

    def responder(self, handle: int, side: Side, attributes: QpAttributes, pd: Any) -> End:
        """The receiving end of DCI pairs: an SRQ with a CQ, on which DCTs are made."""
        pyverbs = self.pyverbs
        recv_cq = pyverbs.CQ(self.context, min(attributes.max_recv_wr + 16, MOST_CQES))
        try:
            attr = pyverbs.SrqAttr(max_wr=attributes.max_recv_wr, max_sge=max(1, attributes.max_recv_sge))
            srq = pyverbs.SRQ(pd, pyverbs.SrqInitAttr(attr))
        except BaseException:
            recv_cq.close()
            raise
        return End(Qp(handle, side, 0, 0), attributes, None, None, recv_cq, srq, pd)

    def target(self, key: int, end: End) -> Any:
        """A DCT in RTR on a responder."""
        pyverbs = self.pyverbs
        init = pyverbs.QPInitAttrEx(
            qp_type=names.QPT["dci"],
            scq=end.recv_cq,
            rcq=end.recv_cq,
            srq=end.srq,
            cap=pyverbs.QPCap(max_send_wr=0, max_recv_wr=0, max_send_sge=0, max_recv_sge=0),
            comp_mask=names.INIT_ATTR_PD,
            pd=end.pd,
        )
        dc = pyverbs.Mlx5DVDCInitAttr(dc_type=names.DV_DCT, dct_access_key=key)
        extra = pyverbs.Mlx5DVQPInitAttr(comp_mask=names.DV_MASK_DC, dc_init_attr=dc)
        target = pyverbs.Mlx5QP(self.context, init, extra)
        try:
            target.to_rtr(self._attributes(None, 0))
        except BaseException:
            target.close()
            raise
        return target
