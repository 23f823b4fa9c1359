"""Raw WQEs: what a caller-made send WQE asks for, read from its bytes (mlx5 PRM, "Send WQE construction").

16-byte units, big endian: control segment; on a DCI 48 bytes of address; remote address, atomic operands; data
segments, by pointer or inline. A WQE that can't be read fails when it is executed, as any other does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from mkeyspec.abi.constants import RAW_OPCODES, SendFlag
from mkeyspec.device.protocol import CompareSwap, Data, DcAddress, FetchAdd, RawWqe, Read, Send, Sge, Unsupported, Write

NOP, SEND_INVAL, WRITE, WRITE_IMM, SEND, SEND_IMM, READ = 0x00, 0x01, 0x08, 0x09, 0x0A, 0x0B, 0x10
COMPARE_SWAP, FETCH_ADD = 0x11, 0x12
REMOTE = (WRITE, WRITE_IMM, READ, COMPARE_SWAP, FETCH_ADD)
WITH_RESPONSE = (READ, COMPARE_SWAP, FETCH_ADD)

UNIT = 16
DATAGRAM = 48
EXTENDED = 1 << 31
INLINE = 1 << 31
INLINE_BYTES = 0x3FF
CE, CE_ALWAYS = 0x0C, 0x08
"""Bits of fm_ce_se that say whether a CQE is wanted, and the value that says so."""
SIGNALED = int(SendFlag.SIGNALED)


@dataclass(frozen=True, slots=True)
class Inline(Sge):
    """Data that is in the WQE itself."""

    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Nop:
    """Nothing is to be done."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Bytes that are no WQE of this QP."""


Request = Union[Data, Nop, Malformed]


@dataclass(frozen=True, slots=True)
class RawWork:
    """A raw WQE read. `flags` are its own: wr_flags count for nothing (WRP-28)."""

    wr_id: int
    flags: int
    request: Request
    dc: Optional[DcAddress] = None


class _Cut(Exception):
    """The bytes end inside a segment."""


@dataclass(slots=True)
class _Rest:
    """What is left of a WQE."""

    data: bytes

    def take(self, size: int) -> bytes:
        if size > len(self.data):
            raise _Cut
        taken, self.data = self.data[:size], self.data[size:]
        return taken


def decode(given: RawWqe, number: int, qp_type: str) -> RawWork:
    """The work of a WQE posted on QP `number`. Unsupported for opcodes that the model does not read."""
    control = given.wqe[:UNIT]
    if len(control) < UNIT:
        return RawWork(given.wr_id, 0, Malformed())
    opcode, units = control[3], control[7] & 0x3F
    flags = SIGNALED if control[11] & CE == CE_ALWAYS else 0
    stream = _int(control[9:11]) if qp_type == "dci" else None
    if opcode in RAW_OPCODES and opcode != COMPARE_SWAP:
        raise Unsupported(f"raw_wqe.{RAW_OPCODES[opcode]}: the model does not read it")
    body = given.wqe[UNIT : units * UNIT]
    broken = RawWork(given.wr_id, flags, Malformed(), None if stream is None else DcAddress(0, 0, stream))
    if not units or len(given.wqe) < units * UNIT or _int(control[4:7]) != number:
        return broken
    if opcode in WITH_RESPONSE and qp_type == "uc":
        return broken
    try:
        request, dc = _body(given.wr_id, opcode, _int(control[12:16]), _Rest(body), stream)
    except _Cut:
        return broken
    return RawWork(given.wr_id, flags, request, dc)


def _body(wr_id: int, opcode: int, imm: int, rest: _Rest, stream: int | None) -> tuple[Request, DcAddress | None]:
    """Segments after the control segment. `stream`: of a DCI, whose WQEs carry an address."""
    if opcode == NOP:
        return Nop(), None if stream is None else DcAddress(0, 0, stream)
    dc = None if stream is None else _address(rest, stream)
    addr = rkey = 0
    if opcode in REMOTE:
        remote = rest.take(UNIT)
        addr, rkey = _int(remote[:8]), _int(remote[8:12])
    if opcode in (COMPARE_SWAP, FETCH_ADD):
        operands = rest.take(UNIT)
        first, second = _int(operands[:8]), _int(operands[8:])
        sges = _data(rest, inline=False)
        if len(sges) != 1:
            return Malformed(), dc
        if opcode == FETCH_ADD:
            return FetchAdd(wr_id, 0, sges[0], addr, rkey, first, dc), dc
        return CompareSwap(wr_id, 0, sges[0], addr, rkey, compare=second, swap=first, dc=dc), dc
    sges = _data(rest, inline=opcode != READ)
    if opcode in (SEND, SEND_IMM, SEND_INVAL):
        return Send(wr_id, 0, sges, imm if opcode == SEND_IMM else None, imm if opcode == SEND_INVAL else None, dc), dc
    if opcode in (WRITE, WRITE_IMM):
        return Write(wr_id, 0, sges, addr, rkey, imm if opcode == WRITE_IMM else None, dc), dc
    if opcode == READ:
        return Read(wr_id, 0, sges, addr, rkey, dc), dc
    return Malformed(), dc


def _address(rest: _Rest, stream: int) -> DcAddress:
    segment = rest.take(DATAGRAM)
    number = _int(segment[8:12])
    if not number & EXTENDED:
        raise _Cut
    return DcAddress(number & 0xFFFFFF, _int(segment[:8]), stream)


def _data(rest: _Rest, *, inline: bool) -> tuple[Sge, ...]:
    """The data segments, to the end. Data that is to be written can't be in the WQE."""
    sges: list[Sge] = []
    while rest.data:
        segment = rest.take(UNIT)
        count = _int(segment[:4])
        if count & INLINE:
            length = count & INLINE_BYTES
            # The first twelve bytes are in the segment's own unit; the rest fills whole units after it.
            after = rest.take(max(0, length - 12 + UNIT - 1) // UNIT * UNIT)
            if not inline:
                raise _Cut
            sges.append(Inline(0, length, 0, (segment[4:] + after)[:length]))
        else:
            sges.append(Sge(_int(segment[8:16]), count, _int(segment[4:8])))
    return tuple(sges)


def _int(data: bytes) -> int:
    return int.from_bytes(data, "big")
