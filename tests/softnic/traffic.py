"""Scenarios that a process under the software NIC plays; each returns what it saw, `python traffic.py NAME…` as JSON.

Nothing is judged here: test_traffic.py holds the expected values. Runs where pyverbs is, without mkeyspec.
"""

import ctypes
import json
import struct
import sys
import time

from peer import ALL, MR, SGE, End, Mlx5MkeyConfAttr, QPAttr, crc, dif, dve, e, pair

REMAP = dve.MLX5DV_SIG_T10DIF_FLAG_REF_REMAP
APP_ESCAPE = dve.MLX5DV_SIG_T10DIF_FLAG_APP_ESCAPE
APP_REF_ESCAPE = dve.MLX5DV_SIG_T10DIF_FLAG_APP_REF_ESCAPE
A5_FFFF = bytes.fromhex("ec7d5678f0debc9a")
A5 = b"\xa5" * 512


def generated(sig, data, block, size):
    """The fields that a wire signature adds to `data`, as a plain receiver sees them, in hex."""
    one, two = pair()
    count, total = len(data) // block, len(data) + len(data) // block * size
    key = one.signed()
    one.mr.write(data, len(data))
    one.configure(key, [(0, len(data))], wire=sig, block=block)
    two.receive(two.sge(0, total))
    one.post(e.IBV_WR_SEND, SGE(0, total, key.lkey))
    one.poll()
    two.poll()
    wire = two.mr.read(total, 0)
    return [wire[k * (block + size) + block : (k + 1) * (block + size)].hex() for k in range(count)]


def golden():
    inc = lambda n: bytes(i & 255 for i in range(n))
    return {
        "crc32 zero, 512 x 01": generated(crc("crc32", 0), b"\1" * 512, 512, 4),
        "crc32 ones, 512 x 01": generated(crc("crc32", 1), b"\1" * 512, 512, 4),
        "crc32 zero, 512 x A5": generated(crc("crc32", 0), A5, 512, 4),
        "crc32c ones, 4096 x a": generated(crc("crc32c", 1), b"a" * 4096, 4096, 4),
        "crc32c zero, 512 x A5": generated(crc("crc32c", 0), A5, 512, 4),
        "crc64 zero, 512 x A5": generated(crc("crc64", 0), A5, 512, 8),
        "crc64 ones, 4160 inc": generated(crc("crc64", 1), inc(4160), 4160, 8),
        "crc32 zero, 4048 inc": generated(crc("crc32", 0), inc(4048), 4048, 4),
        "crc32 zero, 520 inc": generated(crc("crc32", 0), inc(520), 520, 4),
        "dif ffff, 512 x A5": generated(dif(), A5, 512, 8),
        "dif 0, 512 x A5": generated(dif(bg=0), A5, 512, 8),
        "dif ffff, remap, 3 blocks": generated(dif(flags=REMAP), A5 * 3, 512, 8),
        "csum 0, 512 x A5": generated(dif(bg=0, csum=True), A5, 512, 8),
    }


def _receive(key_of, sent, **configured):
    one, two = pair()
    key = two.signed()
    two.configure(key, [(0, 1024)], **configured)
    one.mr.write(sent, len(sent))
    two.receive(SGE(0, len(sent), key.lkey))
    one.post(e.IBV_WR_SEND, one.sge(0, len(sent)))
    statuses = [one.poll()[0][0], two.poll()[0][0]]
    return one, two, key, statuses


def record():
    """Wire T10-DIF checked at the receiver: good; one byte of the second block bad; again unarmed; again armed."""
    good = (A5 + A5_FFFF) * 2
    one, two, key, statuses = _receive(None, good, wire=dif())
    seen = {"good": [statuses, two.error(key, 0.05), two.mr.read(1024, 0) == A5 * 2]}
    one.mr.write(b"\x5a", 1, 520)

    def again():
        two.receive(SGE(0, 1040, key.lkey))
        one.post(e.IBV_WR_SEND, one.sge(0, 1040))
        return [[one.poll()[0][0], two.poll()[0][0]], two.error(key, 0.1)]

    seen["bad"] = again()
    seen["not armed"] = again()
    two.configure(key)
    seen["armed"] = again()
    two.configure(key)
    one.post(e.IBV_WR_RDMA_WRITE, one.sge(0, 1040), rkey=key.rkey)
    seen["written"] = [one.poll()[0][0], two.error(key, 0.5)]
    return seen


def escapes():
    """Wrong guards, with tags that escape or nearly do (T10 types 1 and 3)."""

    def try_one(field, flags):
        _, two, key, _ = _receive(None, A5 + bytes.fromhex(field), wire=dif(app=0xFFF0, ref=0xF, flags=flags))
        return two.error(key, 0.1)[0]

    return {
        "app": try_one("0000ffff00000000", APP_ESCAPE),
        "app, none set": try_one("0000ffff00000000", 0),
        "app and ref": try_one("0000ffffffffffff", APP_REF_ESCAPE),
        "app and ref, near miss": try_one("0000ffff00000000", APP_REF_ESCAPE),
    }


def raw_inside():
    """A signature mkey as an entry of another mkey is plain memory."""
    one, two = pair()
    inner, outer = one.signed(), one.mkey()
    one.mr.write(A5 + A5_FFFF, 520)
    one.configure(inner, [(0, 520)], mem=dif())
    one.qp.wr_start()
    one.qp.wr_flags = e.IBV_SEND_SIGNALED | e.IBV_SEND_INLINE
    one.qp.wr_mkey_configure(outer, 2, Mlx5MkeyConfAttr())
    one.qp.wr_set_mkey_access_flags(ALL)
    one.qp.wr_set_mkey_layout_list([SGE(0, 520, inner.lkey)])
    one.qp.wr_complete()
    one.poll()
    two.receive(two.sge(0, 520))
    one.post(e.IBV_WR_SEND, SGE(0, 520, outer.lkey))
    return [one.poll()[0][0], two.poll()[0], two.mr.read(8, 512).hex()]


def layouts():
    one, two = pair()
    key = one.mkey()
    one.mr.write(bytes(range(256)), 256)
    one.interleave(key, 3, [(0, 4, 12), (128, 2, 6)])
    two.receive(two.sge(0, 18))
    one.post(e.IBV_WR_SEND, SGE(0, 18, key.lkey))
    statuses = [one.poll()[0][0], two.poll()[0]]
    two.receive(two.sge(100, 5))
    one.post(e.IBV_WR_SEND, SGE(5, 5, key.lkey))
    one.poll()
    two.poll()
    seen = [statuses, two.mr.read(18, 0).hex(), two.mr.read(5, 100).hex()]
    one.post(e.IBV_WR_SEND, SGE(0, 19, key.lkey))
    return [*seen, one.poll()[0][0]]


def _umr(end, key, entries, length, at):
    """A UMR whose translation lies in memory at `at`: PRM, the WQE without inline; the driver never builds one."""
    listed = b"".join(entries) + b"\0" * (-len(entries) % 4 * 16)
    end.mr.write(listed, len(listed), at)
    ctrl = struct.pack(">IIII", 0x25, end.qp.qp_num << 8 | 9, 0x08, key.lkey)
    control = struct.pack(">BxxxHHQ32x", 0, len(listed) // 16, 0, 0x203C2001)
    context = struct.pack(">BxBxIIIQQ32x", 0, 0x7C, 0xFFFFFF00 | key.lkey & 0xFF, 0, 0, 0, length)
    return end.raw(ctrl + control + context + struct.pack(">IIQ", len(listed), end.mr.lkey, end.mr.buf + at))


def far_lists():
    """Layouts of 1,024 entries, which no WQE has room for: a list back to front, and 16 repeats of single bytes."""
    one, two = pair(size=1 << 18)
    table, count = 1 << 17, 1024
    data = bytes((i * 7 + (i >> 8) * 11) & 255 for i in range(table))
    key = one.mkey(entries=count + 4)
    one.mr.write(data, table)

    def sent(length):
        two.receive(two.sge(0, length))
        one.post(e.IBV_WR_SEND, SGE(0, length, key.lkey))
        return [one.poll()[0][0], two.poll()[0]], two.mr.read(length, 0)

    klm = lambda at, n: struct.pack(">IIQ", n, one.mr.lkey, one.mr.buf + at)
    backwards = [8 * (count - 1 - i) for i in range(count)]
    seen = [_umr(one, key, [klm(at, 8) for at in backwards], 8 * count, table)[0]]
    said, got = sent(8 * count)
    seen += [said, got == b"".join(data[at : at + 8] for at in backwards)]
    head = struct.pack(">IIIHH", count, 0x400, 16, 0, count)
    strided = [struct.pack(">HHIQ", 3 * count, 1, one.mr.lkey, one.mr.buf + 2 * i) for i in range(count)]
    seen.append(_umr(one, key, [head, *strided], 16 * count, table)[0])
    said, got = sent(16 * count)
    return [*seen, said, got == b"".join(data[3 * count * r + 2 * i :][:1] for r in range(16) for i in range(count))]


def finished():
    """Modify to ERR lets what is posted finish; what comes later is flushed."""
    one, two = pair()
    for _ in range(20):
        two.receive(two.sge(0, 4096))
    for n in range(20):
        one.post(e.IBV_WR_SEND, one.sge(0, 4096), wr_id=n)
    one.qp.modify(QPAttr(qp_state=e.IBV_QPS_ERR), e.IBV_QP_STATE)
    one.post(e.IBV_WR_SEND, one.sge(0, 4))
    return [[status for status, _ in one.poll(21)], [status for status, _ in two.poll(20)]]


def refusals():
    """Each with the statuses of its completions."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

    def gone(end):
        address = libc.mmap(None, 65536, 3, 0x22, -1, 0)
        mr = MR(end.pd, 65536, ALL, address)
        libc.munmap(address, 65536)
        return mr, address

    seen = {}
    one, two = pair()
    mr, address = gone(one)
    two.receive(two.sge(0, 64))
    one.post(e.IBV_WR_SEND, SGE(address, 64, mr.lkey))
    seen["freed source"] = [one.poll()[0][0]]
    one, two = pair()
    mr, address = gone(two)
    two.receive(SGE(address, 64, mr.lkey))
    one.post(e.IBV_WR_SEND, one.sge(0, 64))
    seen["freed target"] = [one.poll()[0][0], two.poll()[0][0]]
    one, two = pair()
    one.post(e.IBV_WR_RDMA_WRITE, one.sge(0, 64), rkey=two.mr.rkey + 1, raddr=two.mr.buf)
    seen["stale rkey"] = [one.poll()[0][0]]
    one, two = pair()
    other = MR(End().pd, 4096, ALL)
    one.post(e.IBV_WR_SEND, SGE(other.buf, 8, other.lkey))
    seen["foreign pd"] = [one.poll()[0][0]]
    one, two = pair()
    two.receive(two.sge(0, 8))
    one.post(e.IBV_WR_SEND, one.sge(0, 64))
    seen["too long"] = [one.poll()[0][0], two.poll()[0][0]]
    one, two = pair()
    one.post(e.IBV_WR_ATOMIC_FETCH_AND_ADD, one.sge(0, 8), rkey=two.mr.rkey, raddr=two.mr.buf + 1, compare=1)
    seen["misaligned atomic"] = [one.poll()[0][0]]
    one, two = pair(rnr=1)
    one.post(e.IBV_WR_SEND, one.sge(0, 64))
    seen["no receive"] = [one.poll()[0][0]]
    return seen


def retry_timer():
    """(status, seconds) of a send to a QP that isn't there yet: (4.096 us << 12) * (3 + 1) = 67 ms."""
    one, two = End(), End()
    one.connect(two, timeout=12, retry=3)
    start = time.monotonic()
    one.post(e.IBV_WR_SEND, one.sge(0, 64))
    return [one.poll()[0][0], time.monotonic() - start]


def late_peer():
    """A send waits for a peer that becomes ready before its timer ends, and for a receive."""
    one, two = End(), End()
    one.connect(two, timeout=17, retry=7)
    one.mr.write(b"late", 4)
    one.post(e.IBV_WR_SEND, one.sge(0, 4))
    time.sleep(0.05)
    two.connect(one)
    time.sleep(0.05)
    before = one.poll(seconds=0)
    two.receive(two.sge(0, 4))
    return [before, one.poll()[0][0], two.poll()[0], two.mr.read(4, 0).decode("latin1")]


def atomics():
    one, two = pair()
    two.mr.write((41).to_bytes(8, sys.byteorder), 8)
    number = lambda end: int.from_bytes(end.mr.read(8, 0), sys.byteorder)
    one.post(e.IBV_WR_ATOMIC_FETCH_AND_ADD, one.sge(0, 8), rkey=two.mr.rkey, raddr=two.mr.buf, compare=1)
    seen = [one.poll()[0], number(one), number(two)]
    one.post(e.IBV_WR_ATOMIC_CMP_AND_SWP, one.sge(0, 8), rkey=two.mr.rkey, raddr=two.mr.buf, compare=42, swap=7)
    seen += [one.poll()[0], number(one), number(two)]
    one.post(e.IBV_WR_ATOMIC_CMP_AND_SWP, one.sge(0, 8), rkey=two.mr.rkey, raddr=two.mr.buf, compare=42, swap=9)
    return [*seen, one.poll()[0], number(one), number(two)]


def recycling():
    """Keys of many registrations in a row: all usable, and no key twice among the last 200."""
    end = End()
    keys = []
    for _ in range(20000):
        mr = MR(end.pd, 4096, 1, end.mr.buf)
        keys.append(mr.lkey)
        mr.close()
    return [max(keys) >> 8 < 4096, len(set(keys[-200:]))]


def idle():
    """CPU share of the whole process over a second with nothing to do."""
    one, two = pair()
    two.receive(two.sge(0, 4))
    one.post(e.IBV_WR_SEND, one.sge(0, 4))
    one.poll()
    two.poll()
    time.sleep(0.5)  # a polling NIC calms down first
    start = time.process_time()
    time.sleep(1)
    return time.process_time() - start


if __name__ == "__main__":
    print(json.dumps({name: globals()[name]() for name in sys.argv[1:]}))
