"""The objects of a scenario, and what it draws from (see `scenario.py`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device.model.signature import Arithmetic, SigDomain
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    CryptoAttr,
    Device,
    Memory,
    Mkey,
    QpAttributes,
    QpPair,
    Refused,
    Side,
    SigBlockAttr,
)

M16, M32, M64 = 0xFFFF, 0xFFFFFFFF, (1 << 64) - 1
INLINE, SIGNALED = 8, 2
SIDES: tuple[Side, ...] = ("owner", "peer")
SIZES = (512, 520, 4048, 4096, 4160)
SIGNATURE, CRYPTO = int(MkeyFlag.BLOCK_SIGNATURE), int(MkeyFlag.CRYPTO)
RIGHTS = (*[15] * 14, 7, 1, 2, 4, 6, 3, 0)
MODULES = {828: 44, 512: 28, 124: 4, 0: 3}
"""By max_inline_data: entries that fit beside a signature, about."""
BLOCKS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8, 9, 10, 17, 18)
MANY = (33, 34, 65, 66, 129, 130, 257, 260)
LENGTHS = (1, 7, 8, 16, 64, 65, 100, 512, 513, 520, 1000, 4096, 4097, 5000, 9000)
ENTRIES = (1, 1, 2, 2, 3, 3, 4, 5, 6, 9, 10, 33, 34, 40)
ARITHMETIC = Arithmetic(Profile())
STEPS = {
    "": (12, 5, 5, 3, 1.5, 0.7, 2.5, 0.8, 1, 1),
    "illegal": (3, 1, 2, 0, 0, 0, 14, 1, 0, 0),
    "pipelining": (8, 8, 3, 2, 0, 0, 0, 0, 9, 0),
    "history": (8, 3, 10, 3, 3, 2, 1, 2, 0, 0),
    "keys": (8, 3, 4, 1, 3, 6, 0, 0, 0, 0),
}
"""Shares of data, section, configure, check, invalidate, retag, illegal, abort, resume, store."""
FOCI = ("", "", "", "escapes", "escapes", "illegal", "pipelining", "raw", "crypto", "history", "keys", "")


@dataclass(slots=True)
class Key:
    """A key, and what the scenario last asked it to be. `length` of its layout, `wire` bytes that fit through it."""

    mkey: Mkey
    flags: int
    signature: SigBlockAttr | None = None
    domains: tuple[SigDomain | None, SigDomain | None] = (None, None)
    segments: list[tuple[Memory, int, int]] = field(default_factory=list)
    length: int = 0
    crypto: CryptoAttr | None = None


class World:
    """A device, its objects, and the random numbers. `seen` is what the device showed."""

    def __init__(self, device: Device, seed: int) -> None:
        self.device = device
        self.rng = Random(seed)
        self.seen: list[Any] = []
        self.pairs: list[tuple[QpPair, QpAttributes]] = []
        self.memories: dict[str, list[Memory]] = {"owner": [], "peer": []}
        self.keys: list[Key] = []
        self.dct: tuple[int, int] | None = None
        self.wr_id = 0
        self.scale = self.rng.choices((BLOCKS, MANY), (12, 1))[0]
        self.focus = FOCI[seed % len(FOCI)]

    def _try(self, call: Any, *given: Any, **named: Any) -> Any:
        try:
            return call(*given, **named)
        except Refused as refused:
            self.seen.append((refused.call, refused.errno))
            return None

    # Objects ---------------------------------------------------------------------------------

    def _objects(self) -> None:
        rng, device = self.rng, self.device
        self.pds = {"owner": device.pd("owner"), "peer": device.pd("peer")}
        self.inline = rng.choice((828, 828, 828, 512, 512, 0))
        stops = self.focus == "pipelining"
        self._pair(QpAttributes(send_ops=0x1F, max_inline_data=self.inline, sig_pipelining=stops))
        extra = rng.choices(("none", "uc", "dci", "rc", "bad", "pd"), (4, 3, 4, 5, 2, 0.7))[0]
        if extra == "uc":
            self._pair(QpAttributes("uc", rng.choice((0, 8))))
        elif extra == "dci":
            key = rng.getrandbits(63)
            number = self._try(device.dct, key)
            if number is not None:
                self.dct = number, key
                self._pair(QpAttributes("dci", rng.choice((0x1F, 0x1F, 0x18)), streams=rng.choice((0, 0, 4))))
        elif extra == "rc":
            kind: dict[str, Any] = {rng.choice(("sq_sig_all", "sig_pipelining")): True}
            self._pair(QpAttributes(send_ops=0x1F, max_inline_data=rng.choice((512, 0)), **kind))
        elif extra == "bad":
            type_ = rng.choice(("uc", "ud", "xrc_send", "raw_packet", "dci", "rc"))
            self._pair(QpAttributes(type_, rng.choice((1, 2, 4, 8, 16, 32)), max_inline_data=rng.choice((0, 64))))
        elif extra == "pd":
            self._pair(QpAttributes(send_ops=0x1F, pd=self.pds["owner"]))
        large = self.scale is MANY
        for side in SIDES:
            for number in range(5):
                size = (1_200_000 if large else 100_000) if not number else 20_000
                access = 15 if number < 4 or rng.random() < 0.8 else rng.choice((0, 1, 4))
                pd = self.pds[side] if number == 4 and rng.random() < 0.15 else None
                made = device.memory(side, size, access=access, misaligned=rng.choice((0, 0, 1, 8)), pd=pd)
                self.memories[side].append(made)
                device.write(made, 0, np.frombuffer(rng.randbytes(4096) * (size // 4096 + 1), np.uint8)[:size])
        for _ in range(rng.randint(2, 4) if self.focus != "escapes" else 2):
            self._key()

    def _pair(self, attributes: QpAttributes) -> None:
        made = self._try(self.device.qp_pair, attributes)
        if made is not None and attributes.type in ("rc", "uc", "dci"):
            self.pairs.append((made, attributes))

    def _key(self) -> None:
        rng = self.rng
        flags = 1 | rng.choice((0, SIGNATURE, SIGNATURE, SIGNATURE, CRYPTO, SIGNATURE | CRYPTO))
        if self.focus in ("escapes", "pipelining"):
            flags = 1 | SIGNATURE
        elif self.focus == "crypto":
            flags = 1 | CRYPTO | rng.choice((0, SIGNATURE))
        flags |= 16 * (rng.random() < 0.5) | 8 * (rng.random() < 0.4)
        if rng.random() < 0.04:
            flags = rng.choice((0, 1 << 9, 0x20 | flags))
        side = "owner" if rng.random() < 0.8 else "peer"
        pd = self.pds[side] if rng.random() < 0.03 else None
        entries = rng.choice((4, 8, 16, 40, 64, 64, 64, 64, 64, 2, 3, 5, 9, 33))
        made = self._try(self.device.mkey, side, create_flags=flags, max_entries=entries, pd=pd)
        if made is not None:
            self.seen.append(made)
            self.keys.append(Key(made, flags))

    def _id(self) -> int:
        self.wr_id += 1
        return 7 if self.rng.random() < (0.5 if self.focus == "pipelining" else 0.1) else self.wr_id
