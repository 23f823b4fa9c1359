"""Scenarios for the hardware rules that no other file plays; `python rules.py NAME…` prints JSON.

Nothing is judged here: test_rules.py holds the expected values. Runs where pyverbs is, without mkeyspec.
"""

import json
import struct
import sys
import time

from peer import ALL, SGE, Mlx5MkeyConfAttr, Mlx5SigBlockAttr, QPAttr, crc, dif, domain, dve, e, pair
from pyverbs.pyverbs_error import PyverbsRDMAError
from wire import A5, READ, REMAP, SEND, WRITE, post_raw, state, statuses

GOOD, BAD = bytes.fromhex("ec7d5678f0debc9a"), bytes.fromhex("ec7c5678f0debc9a")


def indirect(end, mkey, sges):
    end.qp.wr_start()
    end.qp.wr_flags = e.IBV_SEND_SIGNALED | e.IBV_SEND_INLINE
    end.qp.wr_mkey_configure(mkey, 2, Mlx5MkeyConfAttr())
    end.qp.wr_set_mkey_access_flags(ALL)
    end.qp.wr_set_mkey_layout_list(sges)
    end.qp.wr_complete()
    return statuses(end)


def send(one, two, length, *sges, to=None):
    """Sends these SGEs to a plain receive of `length` bytes; what came."""
    two.receive(to or two.sge(0, length))
    one.post(SEND, *sges)
    return [statuses(one), statuses(two), two.mr.read(length, 0)]


def error_values():
    """[type, expected, actual, offset] of CRC32 in a wrong field: the first block, and the third."""
    seen = []
    for bad in (0, 2):
        one, two = pair()
        key = two.signed()
        two.configure(key, [(0, 1536)], wire=crc("crc32", 0))
        blocks = [A5 + bytes.fromhex("01020304" if n == bad else "699aca21") for n in range(3)]
        one.mr.write(b"".join(blocks), 1548)
        two.receive(SGE(0, 1548, key.lkey))
        one.post(SEND, one.sge(0, 1548))
        seen.append([statuses(one), statuses(two), two.error(key, 0.5)])
    return seen


def input_domains():
    """A wrong field in memory, seen by a sender; one below a receiver, who writes again; on the wire."""
    one, two = pair()
    seen = []
    for way, where in (("send", "mem"), ("receive", "mem"), ("receive", "wire"), ("send", "wire")):
        owner = one if way == "send" else two
        key = owner.signed()
        both = {"mem": dif()} if where == "mem" else {"wire": dif()}
        total = 520 if where == "mem" else 512
        owner.configure(key, [(0, total)], **both)
        owner.mr.write(A5 + BAD, 520)
        through = 512 if where == "mem" else 520
        if way == "send":
            two.receive(two.sge(4096, 1024))
            one.post(SEND, SGE(0, through, key.lkey))
        else:
            one.mr.write(A5 + BAD, 520)
            two.receive(SGE(0, through, key.lkey))
            one.post(SEND, one.sge(0, through))
        seen.append([statuses(one), statuses(two), owner.error(key, 0.1)[0]])
    return seen


def passive():
    """A bad field below an RDMA_READ: who is reported, and who is not. The initiator polled first."""
    one, two = pair()
    key = two.signed()
    two.mr.write(A5 + BAD, 520)
    two.configure(key, [(0, 520)], mem=dif())
    one.post(READ, one.sge(0, 512), rkey=key.rkey)
    first = statuses(one)
    before = key.mkey_check().err_type
    nothing = two.cq.poll(1)[0]
    return [first, one.mr.read(512, 0) == A5, one.cq.poll(1)[0], before, nothing, key.mkey_check().err_type]


def transient_value():
    """The CRC's start is the BSF selector's: another transient value in the PSVs changes nothing."""
    one, two = pair()
    key = one.signed()  # brings PSVs 1 and 2, the first of this process
    one.mr.write(A5, 512)
    one.configure(key, [(0, 512)], wire=crc("crc32", 0))
    seen = []
    for value in (0, 0xFFFFFFFF << 32, 0x1234567800000000):
        control = struct.pack(">IIII", 0x20, one.qp.qp_num << 8 | 2, 8, 0)
        post_raw(one, [control + struct.pack(">IHHQ", number, 0, 0, value) for number in (1, 2)])
        told = statuses(one, 2)
        seen.append([told, send(one, two, 516, SGE(0, 516, key.lkey))[2][512:].hex()])
    return seen


def blocks():
    """The fields of three equal blocks of each kind."""
    seen = {}
    for name, size in (("crc32", 4), ("crc32c", 4), ("crc64", 8)):
        one, two = pair()
        key = one.signed()
        one.mr.write(A5 * 3, 1536)
        one.configure(key, [(0, 1536)], wire=crc(name, 0))
        got = send(one, two, 3 * (512 + size), SGE(0, 3 * (512 + size), key.lkey))[2]
        seen[name] = [got[n * (512 + size) + 512 :][:size].hex() for n in range(3)]
    return seen


def copied():
    """An unchecked wrong guard in memory, handed on to the wire: with equal domains, and with different app tags."""
    seen = []
    for app in (0x5678, 0x1111):
        one, two = pair()
        key = one.signed()
        one.mr.write(A5 + BAD, 520)
        one.configure(key, [(0, 520)], mem=dif(), wire=dif(app=app), check=0)
        status, _, got = send(one, two, 520, SGE(0, 520, key.lkey))
        seen.append([status, got[512:].hex(), one.error(key, 0.05)[0]])
    return seen


def messages():
    """The ref tags of two messages of two blocks through a key that was configured once."""
    one, two = pair()
    key = one.signed()
    one.mr.write(A5 * 2, 1024)
    one.configure(key, [(0, 1024)], wire=dif(flags=REMAP))
    got = [send(one, two, 1040, SGE(0, 1040, key.lkey))[2] for _ in range(2)]
    return [[message[at : at + 4].hex() for at in (516, 1036)] for message in got]


def wire_offsets():
    """The second of two blocks, asked for by its wire offset: 520, not 512. Data and field."""
    one, two = pair()
    key = one.signed()
    one.mr.write(A5 + b"\x01" * 512, 1024)
    one.configure(key, [(0, 1024)], wire=crc("crc32", 0))
    status, _, got = send(one, two, 516, SGE(516, 516, key.lkey))
    return [status, got[:512] == b"\x01" * 512, got[512:].hex()]


def layout_entries():
    """Two blocks whose layout entries end anywhere, and 100 bytes after them: fields, the rest, the error."""
    one, two = pair()
    key = one.signed()
    tail = bytes(range(100))
    one.mr.write(A5 * 2 + tail, 1124)
    one.configure(key, [(0, 300), (300, 500), (800, 324)], wire=dif())
    status, _, got = send(one, two, 1140, SGE(0, 1140, key.lkey))
    return [status, [got[at : at + 8].hex() for at in (512, 1032)], got[1040:] == tail, one.error(key, 0.05)[0]]


def nested():
    """A signature mkey whose layout is an indirect mkey; an SGE list of a plain and a signature mkey."""
    one, two = pair()
    inner, key = one.mkey(), one.signed()
    one.mr.write(A5, 512)
    indirect(one, inner, [SGE(one.mr.buf, 200, one.mr.lkey), SGE(one.mr.buf + 200, 312, one.mr.lkey)])
    one.qp.wr_start()
    one.qp.wr_flags = e.IBV_SEND_SIGNALED | e.IBV_SEND_INLINE
    one.qp.wr_mkey_configure(key, 3, Mlx5MkeyConfAttr())
    one.qp.wr_set_mkey_access_flags(ALL)
    one.qp.wr_set_mkey_layout_list([SGE(0, 512, inner.lkey)])
    wire = domain(dif())
    one.qp.wr_set_mkey_sig_block(Mlx5SigBlockAttr(mem=None, wire=wire, check_mask=0xFF))
    one.qp.wr_complete()
    configured = statuses(one)
    on_top = send(one, two, 520, SGE(0, 520, key.lkey))[2][512:].hex()
    one.mr.write(b"plain", 5, 2000)
    mixed = send(one, two, 525, one.sge(2000, 5), SGE(0, 520, key.lkey))[2]
    return [configured, on_top, mixed[:5].decode(), mixed[517:].hex()]


def configured_and_used():
    """A configuration without a completion and without a fence, and a send through it in the next request."""
    one, two = pair()
    key = one.mkey()
    one.mr.write(b"one after the other", 19)
    two.receive(two.sge(0, 19))
    one.qp.wr_start()
    one.qp.wr_flags = e.IBV_SEND_INLINE
    one.qp.wr_mkey_configure(key, 2, Mlx5MkeyConfAttr())
    one.qp.wr_set_mkey_access_flags(ALL)
    one.qp.wr_set_mkey_layout_list([one.sge(0, 3), one.sge(3, 16)])
    one.qp.wr_flags = e.IBV_SEND_SIGNALED
    one.qp.wr_send()
    one.qp.wr_set_sge(SGE(0, 19, key.lkey))
    one.qp.wr_complete()
    return [statuses(one, 1), statuses(two), two.mr.read(19, 0).decode("latin1")]


def pipelining():
    """On a QP with signature pipelining: a write, a send with a bad field, and a send after it that is called off."""
    one, two = pair(create_flags=dve.MLX5DV_QP_CREATE_SIG_PIPELINING)
    key = one.signed()
    one.mr.write(A5 + BAD, 520)
    one.configure(key, [(0, 520)], mem=dif())
    two.receive(two.sge(0, 512))
    two.receive(two.sge(1024, 16))

    def polled(end, seconds=0.3):
        done, until = [], time.monotonic() + seconds
        while time.monotonic() < until:
            done += [(wc.status, wc.opcode, wc.wr_id) for wc in end.cq.poll(1)[1]]
        return done

    def resume(mask, timeout=14):
        attr = QPAttr(qp_state=e.IBV_QPS_RTS, cur_qp_state=e.IBV_QPS_SQD)
        attr.timeout = timeout
        try:
            one.qp.modify(attr, mask)
        except PyverbsRDMAError as error:
            return error.error_code
        return 0

    one.post(WRITE, one.sge(600, 8), rkey=two.mr.rkey, raddr=two.mr.buf + 2048, wr_id=7)
    one.post(SEND, SGE(0, 512, key.lkey), wr_id=8)
    one.post(SEND, one.sge(0, 16), wr_id=1, flags=e.IBV_SEND_FENCE)
    event = one.ctx.get_async_event()
    event.ack()
    stopped = [event.event_type, polled(one), state(one), [status for status, _, _ in polled(two)]]
    told = [two.mr.read(512, 0) == A5, key.mkey_check().err_type]
    cancelled = one.qp.cancel_posted_send_wrs(1)
    one.post(SEND, one.sge(16, 16), wr_id=9)
    only = e.IBV_QP_STATE | e.IBV_QP_CUR_STATE
    refused = resume(only | e.IBV_QP_TIMEOUT), state(one), polled(one)
    resumed = resume(only), polled(one), state(one), [status for status, _, _ in polled(two)]
    return {"stopped": stopped, "told": told, "cancelled": cancelled, "refused": refused, "resumed": resumed}


def without_signature():
    """Type none in both domains: what the driver says to it, and the NIC, of a BSF that is written by hand."""
    one, _ = pair()
    key = one.signed()
    one.qp.wr_start()
    one.qp.wr_flags = e.IBV_SEND_SIGNALED | e.IBV_SEND_INLINE
    one.qp.wr_mkey_configure(key, 1, Mlx5MkeyConfAttr())
    try:
        one.qp.wr_set_mkey_sig_block(Mlx5SigBlockAttr(mem=None, wire=None, check_mask=0xFF))
        one.qp.wr_complete()
    except PyverbsRDMAError as error:
        return error.error_code
    return statuses(one)


def offered():
    """What comes of configuring each CRC: status or errno, and the field of a block that was sent through it."""
    seen = {}
    for name, size in (("crc32", 4), ("crc32c", 4), ("crc64", 8)):
        one, two = pair()
        one.mr.write(A5, 512)
        key = one.signed()
        try:
            configured = one.configure(key, [(0, 512)], wire=crc(name, 0))[0]
        except PyverbsRDMAError as error:
            configured = -error.error_code
        got = "" if configured else send(one, two, 512 + size, SGE(0, 512 + size, key.lkey))[2][512:].hex()
        seen[name] = [configured, got]
    return seen


if __name__ == "__main__":
    print(json.dumps({name: globals()[name]() for name in sys.argv[1:]}))
