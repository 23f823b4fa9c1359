"""Two ends of a connection over plain pyverbs, for scenarios that run under the software NIC.

Shares nothing with mkeyspec: what it sends and expects is said in the scenarios. Runs where pyverbs is.
"""

import ctypes
import select
import time
from types import SimpleNamespace

import pyverbs.enums as e
import pyverbs.providers.mlx5.mlx5_enums as dve
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ, CompChannel
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.providers.mlx5.mlx5dv import Mlx5Context, Mlx5DVContextAttr, Mlx5DVQPInitAttr, Mlx5QP
from pyverbs.providers.mlx5.mlx5dv_mkey import (
    Mlx5Mkey,
    Mlx5MkeyConfAttr,
    Mlx5MrInterleaved,
    Mlx5SigBlockAttr,
    Mlx5SigBlockDomain,
    Mlx5SigCrc,
    Mlx5SigT10Dif,
)
from pyverbs.qp import QPAttr, QPCap, QPInitAttrEx
from pyverbs.wr import SGE, RecvWR, SendWR

ALL = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC
BLOCKS = {
    512: dve.MLX5DV_BLOCK_SIZE_512,
    520: dve.MLX5DV_BLOCK_SIZE_520,
    4048: dve.MLX5DV_BLOCK_SIZE_4048,
    4096: dve.MLX5DV_BLOCK_SIZE_4096,
    4160: dve.MLX5DV_BLOCK_SIZE_4160,
}
CRCS = {
    "crc32": dve.MLX5DV_SIG_CRC_TYPE_CRC32,
    "crc32c": dve.MLX5DV_SIG_CRC_TYPE_CRC32C,
    "crc64": dve.MLX5DV_SIG_CRC_TYPE_CRC64_XP10,
}
ONES = {"crc32": 2**32 - 1, "crc32c": 2**32 - 1, "crc64": 2**64 - 1}


def crc(kind, seed):
    """One domain's CRC; seed 0 or 1 (all ones)."""
    return Mlx5SigCrc(crc_type=CRCS[kind], seed=ONES[kind] if seed else 0)


def dif(bg=0xFFFF, app=0x5678, ref=0xF0DEBC9A, flags=0, csum=False):
    kind = dve.MLX5DV_SIG_T10DIF_CSUM if csum else dve.MLX5DV_SIG_T10DIF_CRC
    return Mlx5SigT10Dif(bg_type=kind, bg=bg, app_tag=app, ref_tag=ref, flags=flags)


def domain(sig, block=512):
    if sig is None:
        return None
    if isinstance(sig, Mlx5SigCrc):
        return Mlx5SigBlockDomain(sig_type=dve.MLX5DV_SIG_TYPE_CRC, crc=sig, block_size=BLOCKS[block])
    return Mlx5SigBlockDomain(sig_type=dve.MLX5DV_SIG_TYPE_T10DIF, dif=sig, block_size=BLOCKS[block])


class End:
    """One side: a context, a PD, a CQ, an RC QP for mkey configuration, and memory."""

    def __init__(self, size=1 << 16, create_flags=0, qp_type=e.IBV_QPT_RC, channel=False, max_wr=64):
        flags = dve.MLX5DV_CONTEXT_FLAGS_DEVX
        self.ctx = Mlx5Context(Mlx5DVContextAttr(flags=flags), name="mlx5_0")
        self.pd = PD(self.ctx)
        self.channel = CompChannel(self.ctx) if channel else None
        self.cq = CQ(self.ctx, 256, None, self.channel, 0)
        self.mr = MR(self.pd, size, ALL)
        self.mr.write(b"\0" * size, size)
        ops = (
            e.IBV_QP_EX_WITH_SEND
            | e.IBV_QP_EX_WITH_RDMA_WRITE
            | e.IBV_QP_EX_WITH_RDMA_READ
            | e.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
            | e.IBV_QP_EX_WITH_SEND_WITH_INV
            | e.IBV_QP_EX_WITH_LOCAL_INV
        )
        cap = QPCap(max_send_wr=max_wr, max_recv_wr=max_wr, max_send_sge=4, max_recv_sge=4, max_inline_data=512)
        init = QPInitAttrEx(
            cap=cap,
            pd=self.pd,
            scq=self.cq,
            rcq=self.cq,
            qp_type=qp_type,
            send_ops_flags=ops,
            comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        )
        mask = dve.MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | dve.MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS
        wanted = dve.MLX5DV_QP_EX_WITH_MKEY_CONFIGURE | dve.MLX5DV_QP_EX_WITH_RAW_WQE
        dv = Mlx5DVQPInitAttr(
            comp_mask=mask,
            create_flags=dve.MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE | create_flags,
            send_ops_flags=wanted,
        )
        self.qp = Mlx5QP(self.ctx, init, dv)
        self.mkeys = []

    def connect(self, other, timeout=14, retry=7, rnr=7):
        attr = QPAttr()
        attr.qp_access_flags = ALL
        attr.port_num = 1
        self.qp.to_init(attr)
        attr.dest_qp_num = other.qp.qp_num
        attr.path_mtu = e.IBV_MTU_1024
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
        attr.min_rnr_timer = 12
        attr.ah_attr = AHAttr(port_num=1, dlid=1)
        self.qp.to_rtr(attr)
        attr.timeout, attr.retry_cnt, attr.rnr_retry = timeout, retry, rnr
        self.qp.to_rts(attr)

    def mkey(self, flags=0, entries=16):
        created = Mlx5Mkey(self.pd, dve.MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | flags, entries)
        self.mkeys.append(created)
        return created

    def signed(self):
        return self.mkey(dve.MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE)

    def configure(self, mkey, layout=None, mem=None, wire=None, block=512, check=0xFF, access=ALL, copy=None):
        """Access, a list layout of (offset, length) in the own memory, and signatures; waits for the completion."""
        signs = mem is not None or wire is not None
        domains = domain(mem, block), domain(wire, block)  # pyverbs holds what it is given by raw pointers: keep both
        self.qp.wr_start()
        self.qp.wr_flags = e.IBV_SEND_SIGNALED | e.IBV_SEND_INLINE
        self.qp.wr_mkey_configure(mkey, 1 + (layout is not None) + signs, Mlx5MkeyConfAttr())
        self.qp.wr_set_mkey_access_flags(access)
        if layout is not None:
            self.qp.wr_set_mkey_layout_list([SGE(self.mr.buf + at, n, self.mr.lkey) for at, n in layout])
        if signs:
            flags = dve.MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK if copy is not None else 0
            self.qp.wr_set_mkey_sig_block(
                Mlx5SigBlockAttr(mem=domains[0], wire=domains[1], check_mask=check, flags=flags, copy_mask=copy or 0)
            )
        self.qp.wr_complete()
        return self.poll()[0]

    def interleave(self, mkey, repeat, entries):
        """entries: (offset, count, skip)"""
        parts = [Mlx5MrInterleaved(self.mr.buf + at, n, skip, self.mr.lkey) for at, n, skip in entries]
        self.qp.wr_start()
        self.qp.wr_flags = e.IBV_SEND_SIGNALED | e.IBV_SEND_INLINE
        self.qp.wr_mkey_configure(mkey, 2, Mlx5MkeyConfAttr())
        self.qp.wr_set_mkey_access_flags(ALL)
        self.qp.wr_set_mkey_layout_interleaved(repeat, parts)
        self.qp.wr_complete()
        return self.poll()[0]

    def raw(self, wqe):
        """Posts the WQE as it is; waits for the completion."""
        held = ctypes.create_string_buffer(wqe, len(wqe))
        self.qp.wr_start()
        self.qp.wr_flags = e.IBV_SEND_SIGNALED
        self.qp.wr_raw_wqe(SimpleNamespace(address=ctypes.addressof(held)))
        self.qp.wr_complete()
        return self.poll()[0]

    def receive(self, *sges):
        self.qp.post_recv(RecvWR(sg=list(sges), num_sge=len(sges)))

    def post(self, opcode, *sges, rkey=None, raddr=0, compare=0, swap=0, signaled=True, flags=0, wr_id=0, imm=None):
        wr = SendWR(
            opcode=opcode,
            sg=list(sges),
            num_sge=len(sges),
            wr_id=wr_id,
            send_flags=(e.IBV_SEND_SIGNALED if signaled else 0) | flags,
        )
        if opcode in (e.IBV_WR_ATOMIC_CMP_AND_SWP, e.IBV_WR_ATOMIC_FETCH_AND_ADD):
            wr.set_wr_atomic(rkey, raddr, compare, swap)
        elif rkey is not None:
            wr.set_wr_rdma(rkey, raddr)
        if imm is not None:
            wr.imm_data = imm
        self.qp.post_send(wr)

    def sge(self, at, length):
        return SGE(self.mr.buf + at, length, self.mr.lkey)

    def poll(self, count=1, seconds=10.0):
        """(status, byte_len) of that many completions; fewer if time runs out."""
        done: list[tuple[int, int]] = []
        end = time.monotonic() + seconds
        while len(done) < count and time.monotonic() < end:
            _, some = self.cq.poll(1)
            done += [(wc.status, wc.byte_len) for wc in some]
        return done

    def error(self, mkey, seconds=2.0):
        """What mkey_check tells, after the CQ was looked at: (type, expected, actual, offset)."""
        end = time.monotonic() + seconds
        while True:
            self.cq.poll(1)
            err = mkey.mkey_check()
            if err.err_type != dve.MLX5DV_MKEY_NO_ERR or time.monotonic() > end:
                told = err.sig_err
                return [err.err_type, told.expected_value, told.actual_value, told.offset]

    def close(self):
        """In an order that libmlx5 accepts."""
        for mkey in self.mkeys:
            mkey.close()
        self.qp.close()
        self.cq.close()
        self.mr.close()
        self.pd.close()
        self.ctx.close()

    def async_event(self, seconds=5.0):
        ready, _, _ = select.select([self.ctx.async_fd] if hasattr(self.ctx, "async_fd") else [], [], [], seconds)
        return self.ctx.get_async_event().event_type if ready or not hasattr(self.ctx, "async_fd") else None


def pair(**options):
    connection = {name: options.pop(name) for name in ("timeout", "retry", "rnr") if name in options}
    one, two = End(**options), End(**options)
    one.connect(two, **connection)
    two.connect(one, **connection)
    return one, two
