"""The messages of a scenario (see `scenario.py`)."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from mkeyspec.device.protocol import (
    CompareSwap,
    FetchAdd,
    Memory,
    Refused,
    Send,
    Sge,
    WorkRequest,
    Write,
)
from tests.quality.scenario_configurations import Configurations
from tests.quality.scenario_requests import Data
from tests.quality.scenario_world import ARITHMETIC, SIGNALED, Key


class Messages(Configurations):
    """What goes through keys."""

    def _wire(self, key: Key) -> int:
        """Wire bytes of a message through the whole key, or through a part of it."""
        rng = self.rng
        mem, wire = key.domains
        domain = mem or wire
        if domain is None:
            most = key.length
        else:
            whole, rest = divmod(key.length, domain.block + (mem.field if mem else 0))
            most = whole * (wire.frame if wire else domain.block) + min(rest, domain.block - 1)
        if rng.random() < 0.12:
            most = rng.choice((max(1, most // 2), max(1, most - 1), most + 1, 1, min(most, 64)))
        return max(1, most)

    def _sges(self, key: Key, length: int) -> list[Sge]:
        """One SGE of the key, or several that share the message between them."""
        rng = self.rng
        offset = 0
        if key.signature is None and length > 2 and rng.random() < 0.35:
            offset = rng.choice((1, 64, length // 2, 63, length - 1))
            offset = min(offset, length - 1)
        whole = Sge(offset, length - offset, key.mkey.lkey)
        if rng.random() < 0.75:
            return [whole]
        if rng.random() < 0.5 and key.signature is None and whole.length > 3:
            cut = rng.randrange(1, whole.length)
            return [replace(whole, length=cut), replace(whole, addr=offset + cut, length=whole.length - cut)]
        memory = rng.choice(self.memories[key.mkey.side])
        plain = Sge(memory.addr, rng.choice((8, 64, 512)), memory.lkey)
        others = [one for one in self.keys if one.mkey.side == key.mkey.side and one.length]
        more = [Sge(0, self._wire(other), other.mkey.lkey) for other in rng.sample(others, min(1, len(others)))]
        return [plain, whole, *more] if rng.random() < 0.5 else [whole, plain]

    def _fill(self, key: Key, plain: list[Sge] | None) -> None:
        """Right fields in the key's memory, or in a buffer that goes into it; some of them made wrong."""
        rng = self.rng
        domain = key.domains[0] if plain is None else key.domains[1]
        if domain is None or key.crypto is not None:
            return
        data = Data.framed(ARITHMETIC, domain, key.length, rng, self.focus)
        if plain is None:
            at = 0
            for memory, start, size in key.segments:
                with contextlib.suppress(Refused):
                    self.device.write(memory, start, data[at : at + size])
                at += size
        else:
            first = plain[0]
            memory = next(one for side in self.memories.values() for one in side if one.lkey == first.lkey)
            self.device.write(memory, first.addr - memory.addr, data[: memory.length])

    def _data(self, key: Key) -> list[WorkRequest]:
        """A message through the key: as local key, or as remote one."""
        rng = self.rng
        flags = rng.choice((0, SIGNALED, SIGNALED, SIGNALED | 1))
        if not key.length:
            key.length = rng.choice((64, 512))
        length = self._wire(key)
        here, there = ("owner", "peer") if key.mkey.side == "owner" else ("peer", "owner")
        memory = rng.choice(self.memories[there][:1] * 3 + self.memories[there][1:2])
        plain = Sge(memory.addr, min(length, memory.length), memory.lkey)
        kind = rng.choices(("send", "write", "read", "memcpy", "fetch_add", "raw"), (5, 4, 4, 1, 0.7, 1.5))[0]
        if here == "owner" and kind != "memcpy":
            into = kind == "read"
            self._fill(key, [plain] if into else None)
            wr_id, sges = self._id(), self._sges(key, length)
            given = Data.local(rng, wr_id, flags, kind, sges, plain, memory, self._inv())
            return [self._swap(one, memory, 8 - memory.addr % 8) if isinstance(one, FetchAdd) else one for one in given]
        if kind == "memcpy":
            own = rng.choice(self.memories["owner"])
            ends = (key.mkey.lkey, 0), (own.lkey, own.addr)
            source, target = ends if rng.random() < 0.5 else ends[::-1]
            size = rng.choice((length, length, 1, 4096, 0)) if rng.random() < 0.9 else (1 << 31) + rng.randrange(2)
            return [Data.memcpy(self._id(), flags, target, source, size)]
        if kind == "fetch_add":
            own = rng.choice(self.memories["owner"])
            sge = Sge(own.addr - own.addr % 8 + 8, 8, own.lkey)
            made = FetchAdd(self._id(), flags, sge, 0, key.mkey.rkey, 5)
            memory, start, size = key.segments[0] if key.segments else (own, 0, 0)
            return [self._swap(made, memory, start) if size >= 8 else made]
        own = rng.choice(self.memories["owner"][:1] * 3 + self.memories["owner"][1:2])
        mine = Sge(own.addr, min(length, own.length), own.lkey)
        if kind == "send":  # through a receive
            self._fill(key, [mine])
            return [Send(self._id(), flags, (mine,), rng.choice((None, 0x01020304)), self._inv())]
        self._fill(key, None if kind == "read" else [mine])
        imm = 0x0A0B0C0D if rng.random() < 0.2 else None
        remote = rng.choice((0, 0, 0, 64)) if key.signature is None else 0
        if kind == "read":
            return [Data.read(self._id(), flags, mine, remote, key.mkey.rkey)]
        return [Write(self._id(), flags, (mine,), remote, key.mkey.rkey, imm)]

    def _swap(self, request: FetchAdd, memory: Memory, offset: int) -> WorkRequest:
        """Every second atomic swaps; what it compares is there, or is so in one half, or is what it would write."""
        if request.wr_id % 2:
            return request
        there, other = 0x0102030405060708, 0x1122334411223344
        mixed = (there, there ^ 1, there ^ 1 << 40, other)[request.wr_id // 2 % 4]
        with contextlib.suppress(Refused):
            self.device.write(memory, offset, (other if mixed == other else there).to_bytes(8, "little"))
        compare, swap = (there, other) if mixed == other else (mixed, other)
        return CompareSwap(
            request.wr_id, request.flags, request.sge, request.remote_addr, request.rkey, compare, swap, request.dc
        )

    def _inv(self) -> int | None:
        keys = [key.mkey.rkey for key in self.keys if key.mkey.side == "peer"]
        return self.rng.choice(keys) if keys and self.rng.random() < 0.15 else None
