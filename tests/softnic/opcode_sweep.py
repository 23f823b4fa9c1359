"""Tries numbers of commands and opcodes and says in JSON which are taken: `python opcode_sweep.py WHAT`."""

from __future__ import annotations

import json
import sys

from raw_qp import QP_OPERATION, Completion, RawQP, mkc
from uverbs import Device, Refused, handle, out, u64, value

EOPNOTSUPP = 95


def devx(what: str) -> list[int]:
    """The DEVX opcodes below 0x1000 that one method takes, whatever it then says of an empty mailbox."""
    nic = RawQP(size=4096, move=False)
    nic.mkey(mkc(nic.pdn))
    taken = []
    for opcode in range(0x1000):
        command = opcode.to_bytes(2, "big") + bytes(510)
        attrs = {
            "general": (0x1000, 0x1000, value(0x1000, command), out(0x1001, 4112)),
            "create": (0x1001, 0x1000, handle(0x1000), value(0x1001, command), out(0x1002, 64)),
            "modify": (0x1001, 0x1002, handle(0x1000, nic.qp), value(0x1001, command), out(0x1002, 64)),
            "query": (0x1001, 0x1003, handle(0x1000, nic.qp), value(0x1001, command), out(0x1002, 1024)),
        }[what]
        try:
            nic.device.command(*attrs)
        except Refused as refused:
            if refused.errno == EOPNOTSUPP:
                continue
        taken.append(opcode)
    return taken


def wqe() -> list[int]:
    """The opcodes that a QP takes: with 48 zeros for a body, others end in a local QP operation error."""
    device, taken = Device(), []
    for opcode in range(256):
        if opcode in (0x0F, 0x20, 0x25, 0x2F, 0x32):  # refused for their zeros: they have tests of their own
            taken.append(opcode)
            continue
        nic = RawQP(size=4096, device=device)
        nic.receive(nic.sge(0, 64))
        nic.post(opcode, bytes(48))
        done = nic.poll()
        assert isinstance(done, Completion)
        if done.syndrome != QP_OPERATION:
            taken.append(opcode)
        device.destroy_qp(nic.qp)
    return taken


def write() -> list[int]:
    """The numbers of old commands that are taken."""
    device, taken = Device(), []
    for number in (*range(256), *range(1 << 31, (1 << 31) + 256)):
        try:
            device.command(0, 0, u64(2, number), value(0, bytes(256)), out(1, 512))
        except Refused as refused:
            if refused.errno == EOPNOTSUPP:
                continue
        taken.append(number)
    return taken


if __name__ == "__main__":
    sweeps = {"wqe": wqe, "write": write}
    print(json.dumps(sweeps[sys.argv[1]]() if sys.argv[1] in sweeps else devx(sys.argv[1])))
