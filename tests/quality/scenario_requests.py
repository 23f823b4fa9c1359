"""Requests and bytes of a scenario (see `scenario.py`)."""

from __future__ import annotations

import struct
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from mkeyspec.device.model.signature import Arithmetic, SigDomain
from mkeyspec.device.protocol import (
    CompareSwap,
    Configure,
    DcAddress,
    FetchAdd,
    Interleaved,
    Memcpy,
    Memory,
    MrInterleaved,
    MrList,
    RawWqe,
    Read,
    Send,
    SetAccess,
    SetCrypto,
    SetInterleaved,
    SetList,
    SetSignature,
    Setter,
    Sge,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
    StraySetter,
    WorkRequest,
    Write,
)


class Data:
    """Messages, and what is in them."""

    @staticmethod
    def domains(arithmetic: Arithmetic, attr: SigBlockAttr) -> tuple[SigDomain | None, SigDomain | None]:
        mem = None if attr.mem is None else arithmetic.domain(attr.mem)
        return mem, None if attr.wire is None else arithmetic.domain(attr.wire)

    @staticmethod
    def alike(one: SigBlockDomain, other: SigBlockDomain) -> bool:
        if (one.sig_type, one.block_size) != (other.sig_type, other.block_size):
            return False
        return not isinstance(one.sig, SigCrc) or (isinstance(other.sig, SigCrc) and one.sig.type == other.sig.type)

    @staticmethod
    def framed(arithmetic: Arithmetic, domain: SigDomain, length: int, rng: Random, focus: str = "") -> bytes:
        """`length` bytes: blocks with right fields, some of which are made wrong."""
        count, rest = divmod(length, domain.frame)
        data = np.frombuffer(
            rng.randbytes(domain.block) * count if rng.random() < 0.3 else rng.randbytes(domain.block * count), np.uint8
        )
        fields = arithmetic.calculate(domain, data, 0).copy() if count else np.empty((0, domain.field), np.uint8)
        wrong = (
            rng.choices(
                ("none", "one", "two", "escaped", "part"), (1, 1, 0, 8, 2) if focus == "escapes" else (4, 4, 1, 2, 2)
            )[0]
            if count
            else "none"
        )
        late = rng.choice((count - 1, rng.randrange(count), 0)) if count else 0
        if wrong in ("one", "two"):
            fields[late, rng.randrange(domain.field)] ^= rng.choice((1, 0x80, 0xFF))
        if wrong == "two":
            fields[rng.randrange(count), rng.randrange(domain.field)] ^= 0x11
        if wrong == "part" and domain.crc is None:
            for first, end in rng.sample(((0, 2), (2, 4), (4, 8)), rng.randint(1, 3)):
                fields[late, first:end] ^= 0x5A
        if wrong == "escaped" and domain.crc is None:
            for block in (late, rng.randrange(count)):
                fields[block, 2:4] = rng.choice((0xFF, 0xFF, 0xFE, fields[block, 3]))
                if rng.random() < 0.5:
                    fields[block, 4:8] = 0xFF
                if rng.random() < 0.3:
                    fields[block, 4:6] = 0
                fields[block, 0] ^= 0x33
        framed = np.concatenate((data.reshape(count, domain.block), fields), axis=1).tobytes()
        return framed + rng.randbytes(rest)

    @staticmethod
    def takes_receive(request: WorkRequest) -> bool:
        return isinstance(request, Send) or (isinstance(request, Write) and request.imm is not None)

    @staticmethod
    def to_dct(requests: list[WorkRequest], number: int, key: int, stream: int | None) -> list[WorkRequest]:
        dc = DcAddress(number, key, stream)
        return [
            replace(one, dc=dc) if isinstance(one, (Send, Write, Read, FetchAdd, CompareSwap)) else one
            for one in requests
        ]

    @staticmethod
    def read(wr_id: int, flags: int, sge: Sge, addr: int, rkey: int) -> Read:
        return Read(wr_id, flags, (sge,), addr, rkey)

    @staticmethod
    def memcpy(wr_id: int, flags: int, target: tuple[int, int], source: tuple[int, int], length: int) -> Memcpy:
        return Memcpy(wr_id, flags, *target, *source, length)

    @staticmethod
    def local(
        rng: Random, wr_id: int, flags: int, kind: str, sges: list[Sge], plain: Sge, memory: Memory, inv: int | None
    ) -> list[WorkRequest]:
        """The key is the local one."""
        given, total = tuple(sges), sum(sge.length for sge in sges)
        addr = memory.addr
        if kind == "read":
            return [Read(wr_id, flags, given, addr, memory.rkey)]
        if kind == "write":
            return [Write(wr_id, flags, given, addr, memory.rkey, rng.choice((None, None, 0x01020304)))]
        if kind == "fetch_add" and total:
            return [FetchAdd(wr_id, flags, replace(sges[0], length=8), addr - addr % 8 + 8, memory.rkey, 3)]
        return [Send(wr_id, flags, given, rng.choice((None, None, 0x0A0B0C0D)) if inv is None else None, inv)]


def raw(request: WorkRequest, number: int) -> WorkRequest:
    """A message as a raw WQE of QP `number`; what is no message of pointers, as it is (PRM, send WQE)."""
    if not isinstance(request, (Send, Write, Read)):
        return request
    opcode = 0x10 if isinstance(request, Read) else 0x08 if isinstance(request, Write) else 0x0A
    imm = 0
    if isinstance(request, Send) and request.invalidate_rkey is not None:
        opcode, imm = 0x01, request.invalidate_rkey
    elif not isinstance(request, Read) and request.imm is not None:
        opcode, imm = opcode + 1, request.imm
    body = b""
    if not isinstance(request, Send):
        body += struct.pack(">QII", request.remote_addr, request.rkey, 0)
    for sge in request.sges:
        body += struct.pack(">IIQ", sge.length, sge.lkey, sge.addr)
    units = 1 + len(body) // 16
    signaled = 0x08 if request.flags & 2 else 0
    control = struct.pack(">IIII", opcode, number << 8 | units, signaled, imm)
    return RawWqe(request.wr_id, request.flags ^ 2 * (request.wr_id & 1), control + body)


def _with(setters: tuple[Setter, ...], kind: type, change: Any) -> tuple[Setter, ...]:
    return tuple(change(one) if isinstance(one, kind) else one for one in setters)


def illegal(rng: Random, request: WorkRequest) -> list[WorkRequest]:
    """The request with one rule of the pages broken."""
    if isinstance(request, (MrList, MrInterleaved)):
        return [replace(request, flags=request.flags & ~8)]
    assert isinstance(request, Configure)
    setters = request.setters
    signatures = [one for one in setters if isinstance(one, SetSignature)]
    ways = ["inline", "comp_mask", "conf_flags", "many", "few", "stray", "twice", "room", "entries", "layouts", "plain"]
    ways += ["sig_flags", "sig_comp", "dom_comp", "sig_type", "block", "sig", "copy", "sig"] * bool(signatures)
    ways += ["edge"] * 2
    ways += ["access"] * any(isinstance(one, SetAccess) for one in setters)
    ways += ["crypto"] * 2 * any(isinstance(one, SetCrypto) for one in setters)
    way = rng.choice(ways)
    if way == "inline":
        return [replace(request, flags=request.flags & ~8)]
    if way == "comp_mask":
        return [replace(request, comp_mask=rng.choice((1, 1 << 63)))]
    if way == "conf_flags":
        return [replace(request, conf_flags=2)]
    if way == "many" and setters:
        return [replace(request, num_setters=len(setters) - 1)]
    if way == "few":
        return [replace(request, num_setters=len(setters) + 1)]
    if way == "stray":
        return [request, StraySetter(SetAccess(1))]
    if way == "twice" and setters:
        return [replace(request, setters=(*setters, setters[0]), num_setters=len(setters) + 1)]
    if way == "access":
        return [replace(request, setters=_with(setters, SetAccess, lambda one: SetAccess(one.access_flags | 1 << 20)))]
    if way == "edge":
        return [_edge(rng, request)]
    if way in ("room", "entries", "layouts"):
        layout = next((one for one in setters if isinstance(one, (SetList, SetInterleaved))), None)
        wide = _wide(rng, way)
        others = tuple(one for one in setters if one is not layout) if way != "layouts" else setters
        return [replace(request, setters=(*others, wide), num_setters=len(others) + 1)]
    if way == "crypto":
        return [replace(request, setters=_with(setters, SetCrypto, lambda one: SetCrypto(_bad_crypto(rng, one.attr))))]
    if way == "plain" or not signatures:
        domain = SigBlockDomain(1, SigCrc(0, 0), 0)
        more = (*setters, SetSignature(SigBlockAttr(domain, None, 0, 0xFF)))
        return [replace(request, setters=more, num_setters=len(more))]
    bad = _bad_signature(rng, way, signatures[0].attr)
    return [replace(request, setters=_with(setters, SetSignature, lambda one: SetSignature(bad)))]


def _wide(rng: Random, way: str) -> Setter:
    count = rng.choice((4, 5, 8, 9, 33, 36, 37, 53, 60, 65, 3, 64))
    if rng.random() < 0.5:
        return SetList(tuple(Sge(0x1000, 8, 1) for _ in range(count)))
    return SetInterleaved(2, tuple(Interleaved(0x1000, 8, 0, 1) for _ in range(count)))


def _edge(rng: Random, request: Configure) -> Configure:
    """A layout of about as many entries as a WQE or the key has room for."""
    count = max(1, rng.choice((3, 4, 36, 37, 52, 53, 55, 56, 57, request.mkey.max_entries)) + rng.choice((-1, 0, 0, 1)))
    layout = next((one for one in request.setters if isinstance(one, (SetList, SetInterleaved))), None)
    lkey, addr = (1, 0x1000)
    if isinstance(layout, SetList) and layout.sges:
        lkey, addr = layout.sges[0].lkey, layout.sges[0].addr
    elif isinstance(layout, SetInterleaved) and layout.entries:
        lkey, addr = layout.entries[0].lkey, layout.entries[0].addr
    made: Setter = SetList(tuple(Sge(addr, 8, lkey) for _ in range(count)))
    if rng.random() < 0.5:
        made = SetInterleaved(2, tuple(Interleaved(addr, 8, 0, lkey) for _ in range(count)))
    return replace(request, setters=(made,), num_setters=1, conf_flags=0)


def _bad_crypto(rng: Random, attr: Any) -> Any:
    member, value = rng.choice(
        (("comp_mask", 1), ("crypto_standard", 5), ("signature_crypto_order", 7), ("data_unit_size", 9))
    )
    return replace(attr, **{member: value})


def _bad_signature(rng: Random, way: str, attr: SigBlockAttr) -> SigBlockAttr:
    if way == "sig_flags":
        return replace(attr, flags=attr.flags | 2)
    if way == "sig_comp":
        return replace(attr, comp_mask=1)
    if way == "copy":
        return replace(attr, flags=1, wire=SigBlockDomain(1, SigCrc(2, 0), 3), mem=attr.mem or attr.wire)
    side = "mem" if attr.wire is None or (attr.mem is not None and rng.random() < 0.5) else "wire"
    domain: SigBlockDomain = getattr(attr, side)
    if way == "dom_comp":
        domain = replace(domain, comp_mask=1)
    elif way == "sig_type":
        domain = replace(domain, sig_type=5)
    elif way == "block":
        domain = replace(domain, block_size=7)
    elif isinstance(domain.sig, SigCrc):
        crc = domain.sig
        domain = replace(domain, sig=rng.choice((replace(crc, type=5), replace(crc, seed=1), replace(crc, seed=77))))
    elif isinstance(domain.sig, SigT10dif):
        dif = domain.sig
        domain = replace(
            domain, sig=rng.choice((replace(dif, bg_type=3), replace(dif, bg=1), replace(dif, flags=dif.flags | 8)))
        )
    return replace(attr, mem=domain) if side == "mem" else replace(attr, wire=domain)
