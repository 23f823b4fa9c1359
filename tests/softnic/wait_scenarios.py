"""WAIT on data, and the transpose of a matrix, as bytes: `python wait_scenarios.py NAME` under the preload.

Layouts are those that public programs post: DPDK (drivers/common/mlx5/mlx5_prm.h, mlx5_wqe_wseg), UCC
(components/tl/mlx5, tl_mlx5_wqe.c, and its test_tl_mlx5_wqe.cc for the limits of a ConnectX-7), FlexIO
(flexio_dev_queue_types.h). Each function is one scenario, judged by its own assertions; test_wait.py runs each in a
process of its own.
"""

from __future__ import annotations

import ctypes
import mmap
import operator
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable

from raw_qp import (
    ERR,
    FLUSHED,
    FREE,
    LEN,
    PROTECTION,
    QP_OPERATION,
    RESET,
    RTS,
    SQD,
    Completion,
    RawQP,
    klm,
    mkc,
    padded,
)
from uverbs import Device

LENGTH = 1  # local length error, CQE syndrome
WAIT, ON_CQ, ON_DATA, ON_TIME = 0x0F, 0, 1, 2
LOCAL_MMO, TRANSPOSE, DMA = 0x32, 0, 1
ALWAYS, EQUAL, BIGGER, SMALLER, CYCLIC_BIGGER, CYCLIC_SMALLER = range(6)
INVERT = 0x10
ALL_BITS = (1 << 64) - 1
HELD = 0.03  # seconds in which a queue that goes on would have gone on


def wait(operation: int, key: int, address: int, value: int, mask: int = ALL_BITS, action: int = 0) -> bytes:
    return struct.pack(">IIQQQ", operation, key, address | action, value, mask)


def post_wait(nic: RawQP, operation: int, value: int, mask: int = ALL_BITS, at: int = 0, signaled: bool = True) -> None:
    nic.post(WAIT, wait(operation, nic.lkey, nic.start + at, value, mask), opmod=ON_DATA, signaled=signaled)


def store(nic: RawQP, value: int, at: int = 0) -> None:
    ctypes.memmove(nic.start + at, value.to_bytes(8, "big"), 8)


def finished(nic: RawQP) -> tuple[int, int]:
    done = nic.poll()
    assert isinstance(done, Completion)
    return done.wqe_counter, done.syndrome


def is_held(nic: RawQP, seconds: float = HELD) -> bool:
    """Nothing completes for a while; the ring is looked at, not polled."""
    time.sleep(seconds)
    entry = nic.ring + nic.consumed % 256 * 64
    last = ctypes.string_at(entry + 63, 1)[0]
    return last >> 4 == 15 or last & 1 != nic.consumed // 256 & 1


def signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


RELATIONS: dict[int, Callable[[int, int], bool]] = {
    ALWAYS: lambda value, word: True,
    EQUAL: operator.eq,
    BIGGER: operator.gt,
    SMALLER: operator.lt,
    CYCLIC_BIGGER: lambda value, word: signed(value) > signed(word),
    CYCLIC_SMALLER: lambda value, word: signed(value) < signed(word),
}


def conditions() -> None:
    """Every operation, as it is and inverted: the value of the WQE is on the left."""
    numbers = (0, 5, 6, 1 << 63, ALL_BITS)
    device = Device()
    for operation, relation in RELATIONS.items():
        for invert in (0, INVERT):
            pairs = [(value, word) for value in numbers for word in numbers]
            nic = RawQP(size=4096, device=device)
            met = [pair for pair in pairs if relation(*pair) != bool(invert)]
            for value, word in met:
                store(nic, word)
                post_wait(nic, operation | invert, value)
                assert nic.finish() == 0, (operation, invert, value, word)
            for value, word in [pair for pair in pairs if pair not in met][:3]:
                one = RawQP(size=4096, device=device)
                store(one, word)
                post_wait(one, operation | invert, value)
                assert is_held(one, 0.005), (operation, invert, value, word)
                one.modify(ERR, 1)
                assert one.finish() == FLUSHED
                device.destroy_qp(one.qp)
            device.destroy_qp(nic.qp)


def masks() -> None:
    """Only the bits of the mask count, on both sides; of nothing, equality always holds."""
    nic = RawQP(size=4096)
    for word, value, mask in ((0x1234, 0xFF34, 0xFF), (0xAB << 56, 0xAB << 56 | 9, 0xFF << 56), (7, 8, 0)):
        store(nic, word)
        post_wait(nic, EQUAL, value, mask)
        assert nic.finish() == 0
    store(nic, 0x0105)
    post_wait(nic, BIGGER, 0x0206, 0xFF)
    assert nic.finish() == 0
    post_wait(nic, SMALLER, 0x0206, 0xFF)
    assert is_held(nic)
    store(nic, 0x0107)
    assert nic.finish() == 0


def as_ucc_posts_it() -> None:
    """Value and mask as the host stores them: 32 bits of a little-endian counter, in a word of 8 bytes."""
    nic = RawQP(size=4096)
    for value in (1, 1024, 1025, 0xF0F30F00, 0xFFFFFFFF):
        for before in (0, 0xF0F30F01):
            nic.write(before.to_bytes(8, sys.byteorder))
            nic.write(b"\xde\xad\xbe\xef----" + bytes(8), 8)
            body = struct.pack(">IIQ", 1, nic.lkey, nic.start) + struct.pack("=QQ", value, 0xFFFFFFFF)
            nic.post(WAIT, body, opmod=ON_DATA)
            nic.rdma_write(nic.sge(8, 8), nic.lkey, nic.start + 16)
            assert is_held(nic, 0.005)
            assert nic.read(8, 16) == bytes(8)
            nic.write(b"later---", 8)
            nic.write(value.to_bytes(8, sys.byteorder))
            assert [nic.finish(), nic.finish()] == [0, 0]
            assert nic.read(8, 16) == b"later---"  # read when the wait was over


def unsignaled() -> None:
    nic = RawQP(size=4096)
    post_wait(nic, EQUAL, 9, signaled=False)
    nic.post(0, b"")
    assert is_held(nic)
    store(nic, 9)
    assert finished(nic) == (1, 0)


def others_go_on() -> None:
    """Another queue, and commands, of the same context; the one that waits keeps its order."""
    nic = RawQP(size=4096)
    other = RawQP(size=4096, device=nic.device)
    post_wait(nic, EQUAL, 1)
    for number in range(300):
        other.rdma_write(other.sge(0, 64), other.lkey, other.start + 128)
        assert other.finish() == 0, number
    began = time.monotonic()
    nic.device.pd()
    assert time.monotonic() - began < 1
    assert is_held(nic, 0)
    store(nic, 1)
    assert nic.finish() == 0


def many_queues_wait() -> None:
    device = Device()
    queues = [RawQP(size=4096, device=device) for _ in range(40)]
    for nic in queues:
        post_wait(nic, EQUAL, 1)
        nic.post(0, b"")
    assert all(is_held(nic, 0) for nic in queues)
    for nic in reversed(queues):
        store(nic, 1)
        assert [nic.finish(), nic.finish()] == [0, 0]


def more_than_a_ring() -> None:
    """700 of them over 256 blocks; some are met at once, some later."""
    nic = RawQP(size=4096)
    store(nic, ALL_BITS)
    for number in range(700):
        post_wait(nic, EQUAL, number)
        if number % 7:
            store(nic, number)
            assert finished(nic) == (number, 0)
        else:
            assert number % 70 or is_held(nic, 0.002)
            store(nic, number)
            assert finished(nic) == (number, 0)


def a_processor() -> None:
    """Three seconds of waiting take next to no processor time."""
    nic = RawQP(size=4096)
    post_wait(nic, EQUAL, 1)
    time.sleep(0.1)
    began = time.process_time()
    time.sleep(3)
    used = time.process_time() - began
    assert used < 0.3, f"{used:.2f} s in 3 s of waiting"
    store(nic, 1)
    assert nic.finish() == 0


def released_by_a_write() -> None:
    """What another queue writes, by RDMA or by an atomic, is seen like a store."""
    nic = RawQP(size=4096)
    other = RawQP(size=4096, device=nic.device)
    shared = nic.device.memory(4096)
    _, key = nic.device.mr(other.pd, shared, 4096, 0x0F)
    own = nic.device.mr(nic.pd, shared, 4096, 0x0F)[1]
    nic.post(WAIT, wait(EQUAL, own, shared, 0x77), opmod=ON_DATA)
    assert is_held(nic)
    other.write((0x77).to_bytes(8, "big"))
    other.rdma_write(other.sge(0, 8), key, shared)
    assert [other.finish(), nic.finish()] == [0, 0]
    nic.post(WAIT, wait(EQUAL | INVERT, own, shared, 0x77), opmod=ON_DATA)
    assert is_held(nic)
    other.post(0x12, struct.pack(">QI4xQ8x", shared, key, 1) + other.sge(64, 8))
    assert [other.finish(), nic.finish()] == [0, 0]


def through_an_mkey() -> None:
    """The address is the key's: here its bytes 8 to 15 are two pieces."""
    nic = RawQP(size=4096)
    key = nic.mkey(mkc(nic.pdn))
    nic.umr(key, LEN | FREE, padded([nic.sge(0, 12), nic.sge(100, 4)]), length=16)
    assert nic.finish() == 0
    nic.post(WAIT, wait(EQUAL, key, 8, 0x0102030405060708), opmod=ON_DATA)
    assert is_held(nic)
    nic.write(bytes([1, 2, 3, 4]), 8)
    nic.write(bytes([5, 6, 7, 8]), 100)
    assert nic.finish() == 0


def cancelled() -> None:
    """To ERR, with the requests after it; after a reset the queue is as new."""
    nic = RawQP(size=4096)
    post_wait(nic, EQUAL, 1)
    nic.rdma_write(nic.sge(64, 8), nic.lkey, nic.start + 128)
    nic.write(b"x" * 8, 64)
    assert is_held(nic)
    nic.modify(ERR, 1)
    assert [finished(nic), finished(nic)] == [(0, FLUSHED), (1, FLUSHED)]
    assert nic.read(8, 128) == bytes(8)
    nic.modify(RESET, 1)


def drained() -> None:
    """SQD is reached though a WAIT is not met; in RTS it waits on."""
    nic = RawQP(size=4096)
    post_wait(nic, EQUAL, 1)
    assert is_held(nic)
    nic.modify(SQD, 1)
    store(nic, 1)
    assert is_held(nic)
    store(nic, 0)
    nic.modify(RTS, 1 | 2, current=SQD)
    assert is_held(nic)
    store(nic, 1)
    assert nic.finish() == 0


def destroyed() -> None:
    device = Device()
    for _ in range(20):
        nic = RawQP(size=4096, device=device)
        post_wait(nic, EQUAL, 1)
        nic.post(0, b"")
        device.destroy_qp(nic.qp)
    last = RawQP(size=4096, device=device)
    post_wait(last, EQUAL, 1)
    assert is_held(last)
    device.close()
    RawQP(size=4096)


def refused() -> None:
    """What has no public description: WAIT on a CQ or on time, other actions than to look again, other operations."""
    device = Device()
    for opmod in (ON_CQ, ON_TIME, 3):
        nic = RawQP(size=4096, device=device)
        nic.post(WAIT, wait(ALWAYS, nic.lkey, nic.start, 0), opmod=opmod)
        assert nic.finish() == QP_OPERATION
    for operation, action in ((6, 0), (15, 0), (ALWAYS, 1), (EQUAL, 2)):
        nic = RawQP(size=4096, device=device)
        nic.post(WAIT, wait(operation, nic.lkey, nic.start, 0, action=action), opmod=ON_DATA)
        assert nic.finish() == QP_OPERATION
    for body in (wait(ALWAYS, nic.lkey, nic.start, 0)[:16], wait(ALWAYS, nic.lkey, nic.start, 0) + bytes(16)):
        nic = RawQP(size=4096, device=device)
        nic.post(WAIT, body, opmod=ON_DATA)
        assert nic.finish() == QP_OPERATION


def no_such_device() -> None:
    """A personality without them (test_wait.py gives a ConnectX-6 Dx)."""
    device = Device()
    for opcode, opmod, body in ((WAIT, ON_DATA, wait(ALWAYS, 0, 0, 0)), (LOCAL_MMO, TRANSPOSE, bytes(48))):
        nic = RawQP(size=4096, device=device)
        nic.post(opcode, body, opmod=opmod)
        assert nic.finish() == QP_OPERATION
    assert capabilities(nic) == (0, 0, 0, 0, 0)


def bad_memory() -> None:
    """A key that is none, of another PD, freed, or whose memory goes while the queue waits: local protection errors."""
    device = Device()
    nic = RawQP(size=4096, device=device)
    nic.post(WAIT, wait(ALWAYS, 0x123400, nic.start, 0), opmod=ON_DATA)
    assert nic.finish() == PROTECTION
    other = RawQP(size=4096, device=device)
    nic = RawQP(size=4096, device=device)
    nic.post(WAIT, wait(ALWAYS, other.lkey, other.start, 0), opmod=ON_DATA)
    assert nic.finish() == PROTECTION
    nic = RawQP(size=4096, device=device)
    nic.post(WAIT, wait(ALWAYS, nic.lkey, nic.start + 4096, 0), opmod=ON_DATA)
    assert nic.finish() == PROTECTION
    nic = RawQP(size=4096, device=device)
    area = mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    _, key = device.mr(nic.pd, address, 4096, 0x0F)
    nic.post(WAIT, wait(EQUAL, key, address, 1), opmod=ON_DATA)
    assert is_held(nic)
    libc = ctypes.CDLL(None)
    assert libc.mprotect(ctypes.c_void_p(address), 4096, 0) == 0
    assert nic.finish() == PROTECTION


def signature_key() -> None:
    """A key with a BSF in force gives no plain memory."""
    nic = RawQP(size=4096)
    key = nic.mkey(mkc(nic.pdn, bsf=True, bsf_room=4))
    nic.post(WAIT, wait(ALWAYS, key, 0, 0), opmod=ON_DATA)
    assert nic.finish() == PROTECTION


def forked() -> None:
    """A child neither goes on with its parent's queue nor holds it up."""
    nic = RawQP(size=4096)
    post_wait(nic, EQUAL, 1)
    assert is_held(nic)
    child = os.fork()
    if not child:
        time.sleep(0.05)
        os._exit(0)
    os.waitpid(child, 0)
    assert is_held(nic)
    store(nic, 1)
    assert nic.finish() == 0


def two_processes() -> None:
    """The word is written by another process of the fabric; the requests after the WAIT go to that process."""
    nic = RawQP(size=4096, move=False)
    with subprocess.Popen(
        [sys.executable, __file__, "peer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as peer:
        assert peer.stdin
        assert peer.stdout
        qpn, key, address = map(int, peer.stdout.readline().split())
        connect(nic, qpn)
        print(nic.qpn, nic.lkey, nic.start, file=peer.stdin, flush=True)
        assert peer.stdout.readline() == "connected\n"
        post_wait(nic, EQUAL, 0x0101010101010101)
        nic.write(b"answered", 64)
        nic.rdma_write(nic.sge(64, 8), key, address + 64)
        assert is_held(nic)
        print("go", file=peer.stdin, flush=True)
        assert [nic.finish(), nic.finish()] == [0, 0]
        print("look", file=peer.stdin, flush=True)
        assert peer.stdout.readline() == "b'answered'\n"
    assert peer.returncode == 0


def connect(nic: RawQP, qpn: int) -> None:
    nic.modify(1, 1 << 0 | 1 << 3 | 1 << 4 | 1 << 5, access=0x0F)
    nic.modify(2, 1 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 15 | 1 << 17 | 1 << 20, mtu=3, rnr=12, dest_rd=1, dest=qpn)
    nic.modify(3, 1 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 13 | 1 << 16, timeout=14, retry=7, rd=1)


def peer() -> None:
    """The other one of two_processes."""
    nic = RawQP(size=4096, move=False)
    print(nic.qpn, nic.lkey, nic.start, flush=True)
    qpn, key, address = map(int, input().split())
    connect(nic, qpn)
    print("connected", flush=True)
    assert input() == "go"
    nic.write(b"\x01" * 8)
    nic.rdma_write(nic.sge(0, 8), key, address)
    assert nic.finish() == 0
    assert input() == "look"
    print(nic.read(8, 64), flush=True)


# Transpose ----------------------------------------------------------------------------------------


def transpose(size: int, columns: int, rows: int, source: bytes, target: bytes) -> bytes:
    return struct.pack(">IHHQ", size, columns, rows, 0) + source + target


def fits(size: int, columns: int, rows: int) -> bool:
    """As UCC's test has it (doesMatrixFit)."""

    def two(least: int) -> int:
        return 1 << max(0, (least - 1).bit_length())

    return rows * max(128, two(columns) * two(max(size, 8))) <= 8192 and size <= 128 and rows <= 64 and columns <= 64


def turned(data: bytes, size: int, columns: int, rows: int) -> bytes:
    element = [[data[(r * columns + c) * size :][:size] for c in range(columns)] for r in range(rows)]
    return b"".join(element[r][c] for c in range(columns) for r in range(rows))


def matrices() -> None:
    """UCC's grid of sizes, and some more: those that fit, and those that the unit of a ConnectX-7 has no room for."""
    nic = RawQP(size=1 << 20)
    text = bytes(i * 7 % 251 for i in range(1 << 18))
    nic.write(text)
    done = 0
    for rows in (1, 2, 7, 32, 64, 65, 127):
        for columns in (1, 5, 32, 64, 65, 127):
            for size in (1, 3, 8, 128, 129, 255):
                length = rows * columns * size
                to = 1 << 19
                nic.post(
                    LOCAL_MMO, transpose(size, columns, rows, nic.sge(0, length), nic.sge(to, length)), opmod=TRANSPOSE
                )
                fine = fits(size, columns, rows)
                assert nic.finish() == (0 if fine else LENGTH), (rows, columns, size)
                if fine:
                    assert nic.read(length, to) == turned(text[:length], size, columns, rows)
                    done += 1
                else:
                    nic = RawQP(size=1 << 20, device=nic.device)
                    nic.write(text)
    assert done > 40


def matrix_in_place() -> None:
    nic = RawQP(size=4096)
    nic.write(bytes(range(12)))
    nic.post(LOCAL_MMO, transpose(1, 4, 3, nic.sge(0, 12), nic.sge(0, 12)), opmod=TRANSPOSE)
    assert nic.finish() == 0
    assert nic.read(16) == bytes([0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]) + bytes(4)


def matrix_through_mkeys() -> None:
    """UCC reads a column of blocks through a key of a strided layout."""
    nic = RawQP(size=4096)
    nic.write(bytes(range(64)))
    key = nic.mkey(mkc(nic.pdn))
    nic.umr(key, LEN | FREE, padded([nic.sge(0, 4), nic.sge(16, 4)]), length=8)
    assert nic.finish() == 0
    nic.post(LOCAL_MMO, transpose(2, 2, 2, klm(8, key, 0), nic.sge(128, 8)), opmod=TRANSPOSE)
    assert nic.finish() == 0
    assert nic.read(8, 128) == bytes([0, 1, 16, 17, 2, 3, 18, 19])


def matrix_refused() -> None:
    device = Device()
    good = 12
    for size, columns, rows, lengths, opmod, syndrome in (
        (0, 4, 3, (good, good), TRANSPOSE, QP_OPERATION),
        (1, 0, 3, (good, good), TRANSPOSE, QP_OPERATION),
        (1, 4, 0, (good, good), TRANSPOSE, QP_OPERATION),
        (1, 4, 3, (good, good - 1), TRANSPOSE, LENGTH),
        (1, 4, 3, (good + 1, good), TRANSPOSE, LENGTH),
        (1, 4, 3, (good, good), DMA, QP_OPERATION),
        (1, 4, 3, (good, good), 2, QP_OPERATION),
    ):
        nic = RawQP(size=4096, device=device)
        body = transpose(size, columns, rows, nic.sge(0, lengths[0]), nic.sge(64, lengths[1]))
        nic.post(LOCAL_MMO, body, opmod=opmod)
        assert nic.finish() == syndrome, (size, columns, rows, lengths, opmod)
    for source, target in ((True, False), (False, True)):
        nic = RawQP(size=4096, device=device)
        data = [klm(good, 0x123400, nic.start) if bad else nic.sge(0, good) for bad in (source, target)]
        nic.post(LOCAL_MMO, transpose(1, 4, 3, *data), opmod=TRANSPOSE)
        assert nic.finish() == PROTECTION
    nic = RawQP(size=4096, device=device)
    _, readable = device.mr(nic.pd, nic.start, 4096, 0)
    nic.post(LOCAL_MMO, transpose(1, 4, 3, nic.sge(0, good), klm(good, readable, nic.start + 64)), opmod=TRANSPOSE)
    assert nic.finish() == PROTECTION
    nic = RawQP(size=4096, device=device)
    key = nic.mkey(mkc(nic.pdn, bsf=True, bsf_room=4))
    nic.post(LOCAL_MMO, transpose(1, 4, 3, klm(good, key, 0), nic.sge(64, good)), opmod=TRANSPOSE)
    assert nic.finish() == PROTECTION


def capabilities(nic: RawQP) -> tuple[int, int, int, int, int]:
    """Of cmd_hca_cap: wait_on_data, transpose_max_element_size, _cols, _rows, _size."""
    page = nic.other(struct.pack(">HHHH8x", 0x100, 0, 0, 1), 4112)[16:]

    def bits(at: int, width: int) -> int:
        return int.from_bytes(page, "big") >> len(page) * 8 - at - width & (1 << width) - 1

    return bits(0x68B, 1), bits(0x28, 8), bits(0x40, 8), bits(0x48, 8), bits(0x50, 16)


def announced() -> None:
    assert capabilities(RawQP(size=4096)) == (1, 128, 64, 64, 8192)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
