"""Scenarios of modify_qp and query_qp by uverbs commands alone: each change of state with each attribute."""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys
from pathlib import Path

from uverbs import LIBC, UHW_IN, UHW_OUT, Device, handle, out, refusal, u64, value

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

STATES = ("RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR")
BITS = {  # enum ib_qp_attr_mask
    "STATE": 1, "CUR_STATE": 2, "SQD_NOTIFY": 4, "ACCESS": 8, "PKEY": 0x10, "PORT": 0x20, "QKEY": 0x40, "AV": 0x80,
    "MTU": 0x100, "TIMEOUT": 0x200, "RETRY": 0x400, "RNR_RETRY": 0x800, "RQ_PSN": 0x1000, "RD_ATOMIC": 0x2000,
    "ALT_PATH": 0x4000, "RNR_TIMER": 0x8000, "SQ_PSN": 0x10000, "DEST_RD_ATOMIC": 0x20000, "MIG": 0x40000,
    "CAP": 0x80000, "DEST_QPN": 0x100000,
}  # fmt: skip
TYPES = {"RC": (2, 0), "UC": (3, 0), "UD": (4, 0), "DCI": (0xFF, 1 << 5), "DCT": (0xFF, 1 << 4)}
WAY = {"INIT": ["RESET INIT"], "RTR": ["RESET INIT", "INIT RTR"], "RTS": ["RESET INIT", "INIT RTR", "RTR RTS"]}
WAY["SQD"] = [*WAY["RTS"], "RTS SQD"]


def mask_of(names: str) -> int:
    return sum(BITS[name] for name in names.split())


class Table:
    """(type, from, to) -> (needs, may), as masks."""

    def __init__(self) -> None:
        listed = tomllib.loads((Path(__file__).parent / "transitions.toml").read_text(encoding="utf-8"))["change"]
        self.rows: dict[tuple[str, str, str], tuple[int, int]] = {
            (kind, *(entry["path"].split())): (mask_of(entry["needs"]), mask_of(entry["may"]))
            for entry in listed
            for kind in entry["types"]
        }
        for kind in TYPES:
            own = 1 if kind == "DCI" else 0
            for state in STATES:
                if kind != "DCT":
                    self.rows[kind, state, "RESET"] = (own, 0)
                if kind != "DCT" and state != "RESET":
                    self.rows[kind, state, "ERR"] = (own, 0)


class End:
    """A device, and QPs of it in any state."""

    def __init__(self) -> None:
        self.device = Device()
        self.pd, _ = self.device.pd()
        self.cq, self.srq = self.device.cq(), self.device.srq(self.pd)
        self.rings, self.record = self.device.memory(8192), self.device.memory(4096)
        self.table = Table()

    def qp(self, kind: str) -> int:
        number, flags = TYPES[kind]
        if kind != "DCT":
            return int(self.device.qp(self.pd, self.cq, number, flags=flags, buf=self.rings, db=self.record)[0])
        driver = struct.pack("<QQIIIIIIQIBBH", 0, 0, 0, 0, 0, flags, 0, 1, 0x1234, 0, 0, 0, 0)
        made = self.device.command(
            4,
            0,
            handle(0),
            handle(2, self.pd),
            handle(5, self.cq),
            handle(3, self.srq),
            u64(7, 1),
            value(8, struct.pack("<IIIII", 0, 16, 0, 1, 0)),
            u64(9, number),
            out(0xD, 20),
            out(0xE, 4),
            value(UHW_IN, driver),
            out(UHW_OUT, 40),
        )[0]
        assert isinstance(made, int)
        return made

    def modify(self, qp: int, mask: int, state: str = "RESET", **given: int) -> None:
        path = struct.pack("<20xHH8B", given.get("dlid", 1), 0, 0, 0, 0, 0, 0, 0, 0, 1)
        words = struct.pack("<IIIIIII", qp, mask, 0, 0, 0, 0, 0)
        rest = struct.pack(
            "<HH14B2x",
            given.get("pkey", 0),
            0,
            STATES.index(state),
            given.get("current", 0),
            given.get("mtu", 3),
            0,
            0,
            given.get("rd_atomic", 1),
            given.get("dest_rd_atomic", 1),
            12,
            given.get("port", 1),
            14,
            7,
            7,
            1,
            14,
        )
        self.device.write(0x1A, path + path + words + rest)

    def query(self, qp: int) -> dict[str, int]:
        answer = self.device.write(0x19, struct.pack("<QII", 0, qp, 0x1FFFFF), 128)[0]
        return {"state": answer[108], "port": answer[116]}

    def in_state(self, kind: str, state: str) -> int:
        qp = self.qp(kind)
        way = WAY["INIT"] if state == "ERR" else WAY.get(state, [])
        for step in way:
            first, second = step.split()
            self.modify(qp, BITS["STATE"] | self.table.rows[kind, first, second][0], second)
        if state == "ERR":
            self.modify(qp, BITS["STATE"], "ERR")
        return qp


def _taken(end: End, kind: str, first: str, second: str, mask: int) -> bool:
    """A QP of its own each time: a change that is allowed can't be undone."""
    qp = end.in_state(kind, first)
    try:
        end.modify(qp, mask, second, current=STATES.index(first))
    except OSError:
        return False
    finally:
        end.device.destroy_qp(qp)
    return True


def changes() -> None:
    """Each pair of states: what it needs, with a part of that missing, with each attribute beyond."""
    end = End()
    wrong = []
    for kind in TYPES:
        reachable = ("RESET", "INIT", "RTR") if kind == "DCT" else ("RESET", "INIT", "RTR", "RTS", "ERR")
        for first in (*reachable, *(["SQD"] if kind in ("RC", "UC", "UD") else [])):
            for second in STATES:
                needs, may = end.table.rows.get((kind, first, second), (None, 0))
                base = BITS["STATE"] | (needs or 0)
                asked = {base: needs is not None}
                for bit in BITS.values():
                    if needs is not None and needs & bit & ~1:
                        asked[base & ~bit] = False
                    elif not base & bit:
                        asked[base | bit] = needs is not None and bool(may & bit)
                wrong += [
                    (kind, first, second, hex(mask), "taken" if not good else "refused")
                    for mask, good in asked.items()
                    if _taken(end, kind, first, second, mask) != good
                ]
    assert not wrong, wrong
    end.device.close()


def ranges() -> None:
    """Values that the device does not have, and a wrong idea of the state."""
    end = End()
    rows = end.table.rows
    to_init, to_rtr, to_rts = (
        BITS["STATE"] | rows["RC", first, second][0] for first, second in (step.split() for step in WAY["RTS"])
    )
    qp = end.qp("RC")
    assert refusal(end.modify, qp, to_init, "INIT", port=2) == "EINVAL"
    assert refusal(end.modify, qp, to_init, "INIT", port=0) == "EINVAL"
    assert refusal(end.modify, qp, to_init, "INIT", pkey=1) == "EINVAL"
    end.modify(qp, to_init, "INIT")
    for mtu in (0, 6, 77, 255):
        assert refusal(end.modify, qp, to_rtr, "RTR", mtu=mtu) == "EINVAL"
    for depth in (17, 200):
        assert refusal(end.modify, qp, to_rtr, "RTR", dest_rd_atomic=depth) == "EINVAL"
    end.modify(qp, to_rtr, "RTR", dest_rd_atomic=16)
    for depth in (17, 200):
        assert refusal(end.modify, qp, to_rts, "RTS", rd_atomic=depth) == "EINVAL"
    for state in (2 + 1, 6, 7, 255):  # it is in RTR
        assert refusal(end.modify, qp, to_rts | BITS["CUR_STATE"], "RTS", current=state) == "EINVAL"
    end.modify(qp, to_rts | BITS["CUR_STATE"], "RTS", current=2, rd_atomic=16)
    assert refusal(end.modify, qp, BITS["STATE"], "SQE") == "EINVAL"
    words = struct.pack("<IIIIIII", qp, 1, 0, 0, 0, 0, 0)
    for state in (7, 99, 255):
        request = bytes(64) + words + struct.pack("<HHB15x", 0, 0, state)
        assert refusal(end.device.write, 0x1A, request) == "EINVAL"
    end.device.close()


def queried() -> None:
    """A QP in RESET has its port; one that was changed says its state."""
    end = End()
    qp = end.qp("RC")
    assert end.query(qp) == {"state": 0, "port": 1}
    init = end.in_state("RC", "INIT")
    assert end.query(init) == {"state": 1, "port": 1}
    end.modify(init, BITS["STATE"], "RESET")
    assert end.query(init) == {"state": 0, "port": 1}
    end.device.close()


def as_many_as_announced() -> None:
    """max_qp is how many QPs there can be, on a fabric too, where a part of each number names the process."""
    end = End()
    answer, _ = end.device.write(1, bytes(8), 176)
    most = struct.unpack_from("<I", answer, 52)[0]
    made = 0
    while made <= most:
        try:
            end.qp("RC")
        except OSError:
            break
        made += 1
    assert made == most, (made, most)
    end.device.close()


def protected_memory() -> None:
    """A region can't be registered with rights that its memory doesn't give, as pinning its pages would fail."""
    device = Device()
    pd, _ = device.pd()
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    start = LIBC.mmap(None, 6 * 4096, mmap.PROT_READ | mmap.PROT_WRITE, private, -1, 0)
    large = LIBC.mmap(None, 64 << 20, mmap.PROT_READ | mmap.PROT_WRITE, private, -1, 0)
    LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert LIBC.mprotect(start + 4096, 4096, mmap.PROT_READ) == 0
    assert LIBC.mprotect(start + 3 * 4096, 4096, 0) == 0
    assert LIBC.mprotect(large + (40 << 20), 4096, mmap.PROT_READ) == 0
    local_write, remote_read, bind = 1, 4, 16
    read_only, nothing = start + 4096, start + 3 * 4096
    for access in (local_write, 15, bind):
        assert refusal(device.mr, pd, read_only, 4096, access) == "EFAULT"
        assert refusal(device.mr, pd, start, 2 * 4096, access) == "EFAULT"
        assert refusal(device.mr, pd, large, 64 << 20, access) == "EFAULT"
    for access in (0, remote_read):
        assert refusal(device.mr, pd, nothing, 4096, access) == "EFAULT"
        assert refusal(device.mr, pd, start, 6 * 4096, access) == "EFAULT"
        device.mr(pd, read_only, 4096, access)
        device.mr(pd, large, 64 << 20, access)
    device.mr(pd, start, 4096, 15)
    number, _ = device.mr(pd, read_only, 4096, 0)
    rereg = struct.pack("<QIIQQQII", 0, number, 4, 0, 0, 0, pd, local_write)
    assert refusal(device.write, 0x0B, rereg, 8) == "EFAULT"
    device.close()
