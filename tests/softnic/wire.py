"""Scenarios of the transport in one process: rights, addresses, completions; `python wire.py NAME…` prints JSON.

Nothing is judged here: test_wire.py holds the expected values. Runs where pyverbs is, without mkeyspec.
"""

import ctypes
import faulthandler
import json
import select
import struct
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

from peer import ALL, MR, SGE, AHAttr, End, Mlx5MkeyConfAttr, Mlx5SigBlockAttr, QPAttr, dif, domain, dve, e, pair
from pyverbs.addr import AH, GID, GlobalRoute
from pyverbs.mr import MW, MWBind, MWBindInfo
from pyverbs.qp import QP, QPCap, QPInitAttr
from pyverbs.wr import RecvWR, SendWR

READ, FETCH, WRITE, SEND = e.IBV_WR_RDMA_READ, e.IBV_WR_ATOMIC_FETCH_AND_ADD, e.IBV_WR_RDMA_WRITE, e.IBV_WR_SEND
A5, REMAP = b"\xa5" * 512, dve.MLX5DV_SIG_T10DIF_FLAG_REF_REMAP


def statuses(end, count=1, seconds=5.0):
    return [status for status, _ in end.poll(count, seconds)]


def state(end):
    return end.qp.query(e.IBV_QP_STATE)[0].qp_state


# Rights --------------------------------------------------------------------------------------


def rights():
    """READ and fetch-and-add with rights of one side, the other, or both missing."""
    seen = {}
    for name, opcode in (("read", READ), ("atomic", FETCH)):
        for what, local, remote in (("local", 0, ALL), ("remote", ALL, 1 | 2), ("both", 0, 1 | 2)):
            one, two = pair()
            target, source = MR(one.pd, 4096, local), MR(two.pd, 4096, remote)
            one.post(opcode, SGE(target.buf, 8, target.lkey), rkey=source.rkey, raddr=source.buf, compare=5)
            seen[f"{name}, {what}"] = [statuses(one), state(two), int.from_bytes(source.read(8, 0), sys.byteorder)]
    return seen


def rights_of_a_signature_key():
    """The same through a signature mkey on either side: no LOCAL_WRITE here, no REMOTE_READ there."""
    seen = []
    for local, remote in ((False, True), (True, False), (False, False)):
        one, two = pair()
        mine, theirs = one.signed(), two.signed()
        one.configure(mine, [(0, 520)], mem=dif(), access=ALL if local else 0)
        two.configure(theirs, [(0, 520)], mem=dif(), access=ALL if remote else 1)
        one.post(READ, SGE(0, 512, mine.lkey), rkey=theirs.rkey)
        seen.append([statuses(one), state(two)])
    return seen


# Addresses -----------------------------------------------------------------------------------


def apart(one_rtr=None, one_rts=None, two_rtr=None, two_rts=None):
    """Two ends whose QPs are connected but for what is given."""
    ends = End(), End()
    for end, other, rtr, rts in ((ends[0], ends[1], one_rtr, one_rts), (ends[1], ends[0], two_rtr, two_rts)):
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = ALL
        end.qp.to_init(attr)
        attr.dest_qp_num, attr.path_mtu, attr.min_rnr_timer = other.qp.qp_num, e.IBV_MTU_1024, 12
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
        attr.ah_attr = AHAttr(port_num=1, dlid=1)
        for name, value in (rtr or {}).items():
            setattr(attr, name, value)
        end.qp.to_rtr(attr)
        attr.timeout, attr.retry_cnt, attr.rnr_retry = 8, 0, 0
        for name, value in (rts or {}).items():
            setattr(attr, name, value)
        end.qp.to_rts(attr)
    return ends


def written(**given):
    one, two = apart(**given)
    one.post(WRITE, one.sge(0, 8), rkey=two.mr.rkey, raddr=two.mr.buf)
    return statuses(one)


def path(dgid=None, dlid=1):
    if dgid is None:
        return AHAttr(port_num=1, dlid=dlid)
    return AHAttr(port_num=1, dlid=dlid, is_global=1, gr=GlobalRoute(dgid=GID(dgid), sgid_index=0))


def addresses():
    one = End()
    own = str(one.ctx.query_gid(1, 0))
    return {
        "lid": written(one_rtr={"ah_attr": path()}),
        "lid of nobody": written(one_rtr={"ah_attr": path(dlid=77)}),
        "own gid": written(one_rtr={"ah_attr": path(own)}),
        "gid of nobody": written(one_rtr={"ah_attr": path("fe80:0000:0000:0000:0001:0002:0003:0004")}),
        "gid, lid of nobody": written(one_rtr={"ah_attr": path(own, dlid=9)}),
        "equal PSNs": written(one_rts={"sq_psn": 0x123456}, two_rtr={"rq_psn": 0x123456}),
        "unequal PSNs": written(one_rts={"sq_psn": 5}, two_rtr={"rq_psn": 6}),
        "other way unequal": written(one_rtr={"rq_psn": 5}, two_rts={"sq_psn": 6}),
    }


def responder_resources():
    """READ, atomic and WRITE to a QP with max_dest_rd_atomic 0."""
    seen = []
    for opcode in (READ, FETCH, WRITE):
        one, two = apart(two_rtr={"max_dest_rd_atomic": 0})
        one.post(opcode, one.sge(0, 8), rkey=two.mr.rkey, raddr=two.mr.buf, compare=1)
        seen.append(statuses(one))
    return seen


def datagrams(end, count=1):
    qps = []
    for _ in range(count):
        qp = QP(end.pd, QPInitAttr(qp_type=e.IBV_QPT_UD, scq=end.cq, rcq=end.cq, cap=QPCap(8, 8, 1, 1)))
        attr = QPAttr(port_num=1)
        attr.qkey = 0x1111
        qp.to_rts(attr)
        qps.append(qp)
    return qps


def datagram(end, qp, to, attr, length=8, lkey=None):
    wr = SendWR(
        opcode=SEND,
        sg=[SGE(end.mr.buf, length, end.mr.lkey if lkey is None else lkey)],
        num_sge=1,
        send_flags=e.IBV_SEND_SIGNALED,
    )
    wr.set_wr_ud(AH(end.pd, attr=attr), to.qp_num, 0x1111)
    qp.post_send(wr)


def datagram_addresses():
    """[statuses of sender and receiver] of datagrams to the port's LID and to others."""
    seen = []
    for attr in (path(), path(dlid=5), path("fe80:0000:0000:0000:0001:0002:0003:0004")):
        end = End()
        one, two = datagrams(end, 2)
        two.post_recv(RecvWR(sg=[end.sge(1024, 64)], num_sge=1))
        datagram(end, one, two, attr)
        seen.append(statuses(end, 2, 0.3))
    return seen


def send_queue_error():
    """A datagram QP breaks only its send queue, which goes back to RTS (or RESET or ERR) only."""
    end = End()
    (qp,) = datagrams(end)
    datagram(end, qp, qp, path(), lkey=0x7FFF00)
    seen = [statuses(end), qp.query(e.IBV_QP_STATE)[0].qp_state]
    for to in (e.IBV_QPS_INIT, e.IBV_QPS_RTR, e.IBV_QPS_SQD, e.IBV_QPS_SQE):
        try:
            qp.modify(QPAttr(qp_state=to), e.IBV_QP_STATE)
            seen.append("taken")
        except Exception:
            seen.append("refused")
    qp.modify(QPAttr(qp_state=e.IBV_QPS_RTS), e.IBV_QP_STATE)
    qp.post_recv(RecvWR(sg=[end.sge(1024, 64)], num_sge=1))
    datagram(end, qp, qp, path())
    return [*seen, statuses(end, 2)]


# Completions ---------------------------------------------------------------------------------


def raw_write(end, other, ce, lkey=None):
    """A write of 8 bytes whose control segment asks for completions as `ce` says."""
    control = struct.pack(">IIII", 0x08, end.qp.qp_num << 8 | 3, ce << 2, 0)
    remote = struct.pack(">QII", other.mr.buf, other.mr.rkey, 0)
    data = struct.pack(">IIQ", 8, end.mr.lkey if lkey is None else lkey, end.mr.buf)
    return control + remote + data


def post_raw(end, wqes):
    held = [ctypes.create_string_buffer(wqe, len(wqe)) for wqe in wqes]
    end.qp.wr_start()
    for one in held:
        end.qp.wr_flags = 0
        end.qp.wr_raw_wqe(SimpleNamespace(address=ctypes.addressof(one)))
    end.qp.wr_complete()


def completions():
    """The statuses that come for: four that go well, and a bad one with three after it, each of one kind."""
    seen = {}
    for ce in range(4):
        one, two = pair()
        post_raw(one, [raw_write(one, two, ce) for _ in range(4)])
        good = statuses(one, 4, 0.2)
        post_raw(one, [raw_write(one, two, ce, 0x7FFF00), *(raw_write(one, two, ce) for _ in range(3))])
        seen[ce] = [good, statuses(one, 4, 0.2)]
    return seen


def pipes():
    """The event pipes of this process, by their descriptors."""
    links = [link for link in Path("/proc/self/fd").iterdir() if link.exists()]
    return {int(link.name) for link in links if str(link.readlink()).startswith("pipe:")}


def solicited_completions():
    """Which kinds of completions wake a channel that waits for solicited ones only."""
    seen = []
    for ce in (2, 3):
        before = pipes()
        one, two = End(channel=True), End()
        one.connect(two)
        two.connect(one)
        one.cq.req_notify(True)
        post_raw(one, [raw_write(one, two, ce)])
        ready, _, _ = select.select(pipes() - before, [], [], 0.3)
        seen.append([bool(ready), statuses(one)])
    return seen


# Windows -------------------------------------------------------------------------------------


def windows():
    """A bind to a region with and without MW_BIND; SEND_INV of windows of type 1 and 2: [sender, receiver]."""
    seen = {}
    for name, access in (("with", ALL | e.IBV_ACCESS_MW_BIND), ("without", ALL)):
        one, _ = pair()
        region = MR(one.pd, 4096, access)
        window = MW(one.pd, e.IBV_MW_TYPE_1)
        one.qp.bind_mw(
            window, MWBind(MWBindInfo(region, region.buf, 64, e.IBV_ACCESS_REMOTE_WRITE), e.IBV_SEND_SIGNALED)
        )
        seen[f"bind {name}"] = statuses(one)
    for name, kind in (("type 1", e.IBV_MW_TYPE_1), ("type 2", e.IBV_MW_TYPE_2)):
        one, two = pair()
        region = MR(two.pd, 4096, ALL | e.IBV_ACCESS_MW_BIND)
        window = MW(two.pd, kind)
        info = MWBindInfo(region, region.buf, 64, e.IBV_ACCESS_REMOTE_WRITE)
        if kind == e.IBV_MW_TYPE_1:
            two.qp.bind_mw(window, MWBind(info, e.IBV_SEND_SIGNALED))
            rkey = window.rkey
        else:
            wr = SendWR(opcode=e.IBV_WR_BIND_MW, num_sge=0, send_flags=e.IBV_SEND_SIGNALED)
            wr.set_bind_wr(window, info)
            two.qp.post_send(wr)
            rkey = wr.rkey
        bound = statuses(two)
        two.receive(two.sge(0, 64))
        one.qp.wr_start()
        one.qp.wr_flags = e.IBV_SEND_SIGNALED
        one.qp.wr_send_inv(rkey)
        one.qp.wr_set_sge(one.sge(0, 8))
        one.qp.wr_complete()
        seen[name] = [bound, statuses(one), statuses(two)]
    return seen


# Signatures over several SGEs ----------------------------------------------------------------


CUTS: tuple[list[int], ...] = ([], [300], [512], [515], [520], [1, 2], [519, 520], [700, 1400], [1039], [520, 1560])


def split_send():
    """Four blocks of A5 sent through one wire signature, cut into SGEs at these bytes: what arrives."""
    seen = []
    for cuts in CUTS:
        one, two = pair()
        key = one.signed()
        one.mr.write(A5 * 4, 2048)
        one.configure(key, [(0, 2048)], wire=dif(flags=REMAP))
        edges = [0, *cuts, 2080]
        two.receive(two.sge(0, 2080))
        one.post(SEND, *(SGE(at, end - at, key.lkey) for at, end in pairwise(edges)))
        arrived = two.mr.read(2080, 0) if statuses(one) == statuses(two) == [0] else b""
        seen.append([arrived[at : at + 8].hex() for at in range(512, 2080, 520)])
    return seen


def split_receive():
    """The same four blocks received through a wire signature that is checked: data, and a bad third guard."""
    fields = [bytes.fromhex(f"ec7d5678f0debc9{n}") for n in "abcd"]
    good = b"".join(A5 + field for field in fields)
    bad = bytearray(good)
    bad[2 * 520 + 512] ^= 1
    seen = []
    for cuts in CUTS:
        one, two = pair()
        key = two.signed()
        two.configure(key, [(0, 2048)], wire=dif(flags=REMAP))
        edges = [0, *cuts, 2080]
        told = []
        for sent in (good, bytes(bad)):
            one.mr.write(sent, 2080)
            two.receive(*(SGE(at, end - at, key.lkey) for at, end in pairwise(edges)))
            one.post(SEND, one.sge(0, 2080))
            told.append([statuses(one), statuses(two), two.mr.read(2048, 0) == A5 * 4])
            told.append(two.error(key, 0.05)[0::3])
        seen.append(told)
    return seen


def split_memory():
    """The same with the fields in memory: SGEs count data bytes then, and a cut may be inside a block."""
    seen = []
    for cuts in ([], [300], [512], [1, 1023], [700, 1400]):
        one, two = pair()
        key = one.signed()
        one.mr.write(b"".join(A5 + bytes.fromhex(f"ec7d5678f0debc9{n}") for n in "abcd"), 2080)
        one.configure(key, [(0, 2080)], mem=dif(flags=REMAP))
        edges = [0, *cuts, 2048]
        two.receive(two.sge(0, 2048))
        one.post(SEND, *(SGE(at, end - at, key.lkey) for at, end in pairwise(edges)))
        seen.append([statuses(one), statuses(two), two.mr.read(2048, 0) == A5 * 4, one.error(key, 0.05)[0]])
    return seen


def split_by_another_key():
    """Plain bytes between two SGEs of a wire signature: where a block ends, and inside one. What arrives."""
    seen = []
    for cut in (1040, 700):
        one, two = pair()
        key = one.signed()
        one.mr.write(A5 * 4 + b"between ", 2056)
        one.configure(key, [(0, 2048)], wire=dif(flags=REMAP))
        two.receive(two.sge(0, 2088))
        one.post(SEND, SGE(0, cut, key.lkey), one.sge(2048, 8), SGE(cut, 2080 - cut, key.lkey))
        told, got = statuses(one), two.mr.read(2088, 0)
        seen.append([told, got[cut : cut + 8].decode("latin1"), got[cut + 8 + 512 : cut + 8 + 520].hex()])
    return seen


# Memory that goes away -----------------------------------------------------------------------

LIBC = ctypes.CDLL(None)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
MIB = 1 << 20


def handler():
    """What the process does on SIGSEGV: the function, the kernel's 64 bits of the mask, the flags."""
    action = ctypes.create_string_buffer(256)
    LIBC.sigaction(11, None, action)
    return action.raw[:16] + action.raw[136:140]


def bulk(end, other, address, key, opcode=WRITE):
    end.post(opcode, SGE(address, MIB, key), rkey=other.mr.rkey, raddr=other.mr.buf)
    return statuses(end)


def freed():
    """A MiB written from, written to, sent from memory whose middle is gone; whether the handler stayed."""
    faulthandler.enable()
    before, seen = handler(), []
    for way in ("whole", "source", "signed source", "target", "signed target"):
        one, two = pair(size=2 * MIB)
        address = LIBC.mmap(None, MIB, 3, 0x22, -1, 0)
        region = MR((two if "target" in way else one).pd, MIB, ALL, address)
        key, lkey = one.signed(), region.lkey
        if way != "whole":
            LIBC.munmap(address + MIB // 2, 4096)
        if way == "target":
            one.post(WRITE, one.sge(0, MIB), rkey=region.rkey, raddr=address)
            seen.append([way, statuses(one), state(two)])
        elif way == "signed target":
            one.configure(key, [(0, 1920 * 512)], wire=dif())
            one.post(WRITE, SGE(0, 1920 * 520, key.lkey), rkey=region.rkey, raddr=address)
            seen.append([way, statuses(one), state(two)])
        elif way == "signed source":
            one.qp.wr_start()
            one.qp.wr_flags = e.IBV_SEND_SIGNALED | e.IBV_SEND_INLINE
            one.qp.wr_mkey_configure(key, 3, Mlx5MkeyConfAttr())
            one.qp.wr_set_mkey_access_flags(ALL)
            one.qp.wr_set_mkey_layout_list([SGE(address, MIB, lkey)])
            wire = domain(dif())
            one.qp.wr_set_mkey_sig_block(Mlx5SigBlockAttr(mem=None, wire=wire, check_mask=0xFF))
            one.qp.wr_complete()
            statuses(one)
            one.post(WRITE, SGE(0, 2048 * 520, key.lkey), rkey=two.mr.rkey, raddr=two.mr.buf)
            seen.append([way, statuses(one), state(two)])
        else:
            seen.append([way, bulk(one, two, address, lkey), state(two)])
    return [seen, handler() == before]


def crash():
    """A fault of the application's own, beside a device that copies: ends the process as it would without one."""
    faulthandler.enable()
    one, two = pair(size=2 * MIB)

    def copy():
        while True:
            bulk(one, two, one.mr.buf, one.mr.lkey)

    threading.Thread(target=copy, daemon=True).start()
    time.sleep(0.2)
    ctypes.string_at(8)


if __name__ == "__main__":
    print(json.dumps({name: globals()[name]() for name in sys.argv[1:]}))
