"""What a process on the software NIC does for soft.py and keys.py; prints one JSON object.

    mkeyspec softnic exec -- python benchmarks/driver.py NAME [ARGUMENT]

Plain pyverbs, by the two ends of tests/softnic/peer.py; nothing here goes through mkeyspec, but that it finds pyverbs.
"""

from __future__ import annotations

import json
import os
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkeyspec.device.verbs import pyverbs_location

pyverbs_location.adopt()
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "softnic"))


def pings(count: str) -> Any:
    """Seconds (wall, processor) of each of `count` pings: a receive, a send of 64 bytes, and both completions."""
    from peer import SGE, e, pair

    one, two = pair()
    to, source = two.sge(0, 64), SGE(one.mr.buf, 64, one.mr.lkey)

    def ping() -> None:
        two.receive(to)
        one.post(e.IBV_WR_SEND, source)
        one.poll()
        two.poll()

    for _ in range(200):
        ping()
    wall, processor = time.perf_counter(), time.process_time()
    for _ in range(int(count)):
        ping()
    return [(time.perf_counter() - wall) / int(count), (time.process_time() - processor) / int(count)]


# name -> (signature on the wire, block): the sender's key makes the fields, and a plain receiver gets them.
KINDS: dict[str, tuple[str, int] | None] = {
    "plain": None,
    "crc32": ("crc32", 512),
    "crc32c": ("crc32c", 4096),
    "crc64": ("crc64", 4096),
    "t10dif": ("dif", 512),
    "checksum": ("csum", 512),
}
LENGTHS = {"4 KiB": 4096, "64 KiB": 1 << 16, "1 MiB": 1 << 20}


def _through(end: Any, kind: str, length: int) -> tuple[Any, int]:
    """The SGE of a write of `length` bytes of data through a key of this kind, and its bytes on the wire."""
    from peer import SGE, crc, dif

    way = KINDS[kind]
    if way is None:
        return end.sge(0, length), length
    name, block = way
    signature = {"dif": lambda: dif(), "csum": lambda: dif(bg=0, csum=True)}.get(name, lambda: crc(name, 1))()
    wire = length // block * (block + {"crc32": 4, "crc32c": 4}.get(name, 8))
    key = end.signed()
    end.configure(key, [(0, length)], wire=signature, block=block)
    return SGE(0, wire, key.lkey), wire


ROUNDS = 60  # the best one counts: where other work wants the processor, most are interrupted


def _batch(length: int) -> int:
    """How many messages a round has: few enough to end between two interruptions."""
    return max(4, min(16, (1 << 20) // length))


def _rate(end: Any, sge: Any, there: tuple[int, int], length: int) -> float:
    """Bytes a second: writes to (rkey, address) with one doorbell, the last one signaled."""
    from peer import e

    best, batch = 0.0, _batch(length)
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        end.qp.wr_start()
        for number in range(1, batch + 1):
            end.qp.wr_flags = e.IBV_SEND_SIGNALED if number == batch else 0
            end.qp.wr_rdma_write(*there)
            end.qp.wr_set_sge(sge)
        end.qp.wr_complete()
        while not end.cq.poll(1)[0]:
            pass
        best = max(best, batch * length / (time.perf_counter() - begun))
    return best


def bandwidth(_: str) -> Any:
    """kind -> length -> bytes a second of writes to another QP of this process."""
    from peer import pair

    one, two = pair(size=5 << 19)
    return {
        kind: {
            name: _rate(one, _through(one, kind, length)[0], (two.mr.rkey, two.mr.buf), length)
            for name, length in LENGTHS.items()
        }
        for kind in KINDS
    }


def bandwidth_of_two(_: str) -> Any:
    """The same to a QP of another process, which is forked off here."""
    import signal

    from duo import meet, play

    def responder(line: Any) -> None:
        end = meet(line, 5 << 19)
        line.hear()
        end.close()

    def requester(line: Any, peer: int) -> Any:
        end = meet(line, 5 << 19)
        there = end.rkey, end.there
        told = {
            kind: {name: _rate(end, _through(end, kind, length)[0], there, length) for name, length in LENGTHS.items()}
            for kind in KINDS
        }
        os.kill(peer, signal.SIGKILL)
        return told

    return play(requester, responder)


def machine(_: str) -> Any:
    """What bounds the rates: memcpy between two buffers, and the CRC library on one; length -> bytes a second."""
    import ctypes

    import fastcrc

    source, target = ctypes.create_string_buffer(1 << 20), ctypes.create_string_buffer(1 << 20)
    copy = ctypes.CDLL(None).memcpy
    copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    here, there = ctypes.addressof(source), ctypes.addressof(target)

    def rate(length: int, call: Callable[..., Any], *words: Any) -> float:
        best, batch = 0.0, _batch(length)
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            for _ in range(batch):
                call(*words)
            best = max(best, batch * length / (time.perf_counter() - begun))
        return best

    told: dict[str, Any] = {"memcpy": {}, "fastcrc, CRC32C": {}}
    for name, length in LENGTHS.items():
        data = bytes(length)
        told["memcpy"][name] = rate(length, copy, there, here, length)
        told["fastcrc, CRC32C"][name] = rate(length, fastcrc.crc32.iscsi, data)
    return told


def idle(seconds: str) -> Any:
    """The share of a processor that a connected pair takes while nothing happens."""
    from peer import e, pair

    one, two = pair()
    two.receive(two.sge(0, 4))
    one.post(e.IBV_WR_SEND, one.sge(0, 4))
    one.poll()
    two.poll()
    time.sleep(0.5)  # a polling device calms down first
    processor = time.process_time()
    time.sleep(float(seconds))
    return (time.process_time() - processor) / float(seconds)


def upstream(directory: str) -> Any:
    """Tests, and seconds (wall, processor), of rdma-core's test_mlx5_mkey under unittest's own runner."""
    sys.path[:0] = [directory, f"{directory}/tests"]
    from args_parser import parser

    parser.args = {
        "dev": "mlx5_0", "pci_dev": None, "port": 1, "gid": None, "gpu": 0, "gtt": False, "verbosity": None,
        "list_tests": False,
    }  # fmt: skip
    tests = unittest.defaultTestLoader.loadTestsFromName("tests.test_mlx5_mkey")
    with Path(os.devnull).open("w") as nowhere:
        runner = unittest.TextTestRunner(nowhere)
        wall, processor = time.perf_counter(), time.process_time()
        result = runner.run(tests)
        took = time.perf_counter() - wall, time.process_time() - processor
    if not result.wasSuccessful() or result.skipped:
        raise SystemExit(f"test_mlx5_mkey: {result}")
    return [result.testsRun, *took]


def keys(count: str) -> Any:
    """`count` memory regions, then `count` mkeys, each freed before the next: what soft.py's neighbour keys.py judges.

    For each kind: seconds (wall, processor), the greatest index, how many different keys are among the last 200, and
    what the process grew by, in KiB.
    """
    from peer import ALL, MR, End, Mlx5Mkey, dve

    end = End()
    kinds: dict[str, Callable[[], Any]] = {
        "memory regions": lambda: MR(end.pd, 4096, ALL, end.mr.buf),
        "mkeys": lambda: Mlx5Mkey(end.pd, dve.MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, 4),
    }
    told = {}
    for kind, make in kinds.items():
        for _ in range(2000):
            make().close()
        before = _resident()
        wall, processor, greatest, last = time.perf_counter(), time.process_time(), 0, [0] * 200
        for number in range(int(count)):
            made = make()
            last[number % 200] = made.lkey
            if made.lkey > greatest:
                greatest = made.lkey
            made.close()
        took = time.perf_counter() - wall, time.process_time() - processor
        told[kind] = [*took, greatest >> 8, len(set(last)), _resident() - before]
    return told


def _resident() -> int:
    status = Path("/proc/self/status").read_text("ascii")
    [kilobytes] = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(kilobytes)


def burn(rounds: str) -> Any:
    """Seconds on the wall that arithmetic in Python takes: what one processor of this machine gives just now."""
    begun = time.perf_counter()
    total = 0
    for number in range(int(rounds)):
        total += number & 3
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
