"""A random sequence of calls on a device, and all that can be seen of it.

It follows from its seed alone, and from which completions are errors: after one the QPs are connected anew. It knows no
case. Most calls are legal; some break one rule of the pages. Two devices differ if an answer, completion, event or byte
differs. Its *focus*, by the seed too, says what there is most of.
"""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import replace
from typing import Any

from mkeyspec.device.protocol import (
    Configure,
    LocalInv,
    MrInterleaved,
    MrList,
    QpPair,
    Refused,
    Sge,
    WorkRequest,
)
from tests.quality.scenario_messages import Messages
from tests.quality.scenario_requests import Data, illegal, raw
from tests.quality.scenario_world import STEPS


class Scenario(Messages):
    """`run` gives what the device showed."""

    def run(self) -> list[Any]:
        """Everything that was seen, in order."""
        self._objects()
        for _ in range(self.rng.randint(6, 16)):
            self._step()
            self._look()
        self.device.release(healthy=True)
        return self.seen

    def _step(self) -> None:
        rng = self.rng
        if not self.keys or not self.pairs:
            return
        fresh = [key for key in self.keys if not key.length]
        if fresh and rng.random() < 0.8:
            self._section(self._configured(fresh[0], whole=True))
            return
        kind = rng.choices(
            ("data", "section", "configure", "check", "invalidate", "retag", "illegal", "abort", "resume", "store"),
            STEPS.get(self.focus, STEPS[""]),
        )[0]
        key = rng.choice(self.keys)
        if kind == "data":
            self._section(self._data(key))
        elif kind == "section":
            requests: list[WorkRequest] = []
            for _ in range(rng.randint(2, 4)):
                if rng.random() < 0.4:
                    requests += self._configured(key, whole=rng.random() < 0.4)
                else:
                    requests += self._data(key)
                if rng.random() < 0.4:
                    key = rng.choice(self.keys)
            self._section(requests)
        elif kind == "configure":
            self._section(self._configured(key, whole=rng.random() < 0.3))
        elif kind == "check":
            self.seen.append(self._try(self.device.mkey_check, key.mkey))
        elif kind == "invalidate":
            self._section([LocalInv(self._id(), rng.choice((0, 2)), key.mkey.rkey, rng.random() < 0.5)])
            if rng.random() < 0.6:
                self._section(self._configured(key, whole=True))
        elif kind == "retag" and (key.flags & 8 or rng.random() < 0.15):
            key.mkey = self.device.retag(key.mkey, rng.randrange(256))
            self._section(self._configured(key, whole=rng.random() < 0.5))
        elif kind == "illegal":
            legal = self._configure(key, whole=rng.random() < 0.5)
            requests = illegal(rng, legal)
            if rng.random() < 0.3:
                requests = [*self._data(key), *requests]
            self._section(requests)
            if rng.random() < 0.85:
                self._section(self._configured(key, whole=True))
        elif kind == "abort":
            self._section([self._configure(key, whole=True)], abort=True)
            if rng.random() < 0.7:
                made = self._configure(key, whole=True)
                self._section([replace(made, conf_flags=1) if isinstance(made, Configure) else made])
        elif kind == "resume":
            pair, _ = rng.choice(self.pairs)
            if rng.random() < 0.6:
                self.seen.append(
                    self._try(self.device.cancel, pair.owner, rng.choice((self.wr_id, self.wr_id - 1, 7, 7)))
                )
            self.seen.append(self._try(self.device.resume, pair.owner))
        elif kind == "store":
            memory = rng.choice(self.memories["owner"])
            self.device.write(memory, rng.randrange(64), rng.randbytes(64))

    def _section(self, requests: list[WorkRequest], *, abort: bool = False) -> None:
        """Posted by the owner; what configures or invalidates a key of the peer by the peer, before it."""
        theirs = {key.mkey.rkey >> 8 for key in self.keys if key.mkey.side == "peer"}
        for side in ("peer", "owner"):
            some = [one for one in requests if (_configured_key(one) in theirs) == (side == "peer")]
            if some:
                self._post(side, some, abort)

    def _post(self, side: str, requests: list[WorkRequest], abort: bool) -> None:
        rng = self.rng
        pair, attributes = rng.choice(self.pairs[:1] + self.pairs)
        if rng.random() < 0.93 and any(isinstance(one, (Configure, MrList, MrInterleaved)) for one in requests):
            pair, attributes = self.pairs[0]
        if attributes.type == "dci" and side == "peer":
            pair, attributes = self.pairs[0]
        elif attributes.type != "dci" and rng.random() < 0.03:
            side = "peer"
        if attributes.type == "dci" and self.dct is not None:
            number, key = self.dct
            wrong = rng.random() < 0.1
            stream = rng.randrange(3) if attributes.streams and rng.random() < 0.5 else None
            requests = Data.to_dct(requests, number, key ^ wrong, stream)
        for _ in range(sum(Data.takes_receive(one) for one in requests)):
            self._receive(pair, side)
        qp = pair.owner if side == "owner" else pair.peer
        share = 0.6 if self.focus == "raw" else 0.1
        if attributes.type == "rc" and attributes.send_ops & 8 and rng.random() < share:
            requests = [raw(one, qp.number) for one in requests]
        self.seen.append(self._try(self.device.post, qp, requests, abort=abort))

    def _receive(self, pair: QpPair, side: str) -> None:
        """A receive at the other end, into memory or through a key of it."""
        rng, there = self.rng, "peer" if side == "owner" else "owner"
        memory = rng.choice(self.memories[there][:1] * 3 + self.memories[there][1:2])
        sges = [Sge(memory.addr, memory.length, memory.lkey)]
        keys = [key for key in self.keys if key.mkey.side == there and key.length]
        if keys and rng.random() < 0.7:
            key = rng.choice(keys)
            sges = self._sges(key, self._wire(key))
        self.wr_id += 1
        self._try(self.device.post_recv, pair.peer if side == "owner" else pair.owner, self.wr_id, tuple(sges))

    def _look(self) -> None:
        broken = 0
        for pair, _ in self.pairs:
            for qp in (pair.owner, pair.peer):
                found = self.device.poll(qp)
                self.seen.append(found)
                broken += any(one.status != "success" for one in found)
        self.seen.append(self.device.events())
        for key in self.keys:
            if self.rng.random() < 0.5:
                with contextlib.suppress(Refused):
                    self.seen.append(self.device.mkey_check(key.mkey))
        for side in ("owner", "peer"):
            for memory in self.memories[side]:
                self.seen.append(zlib.crc32(self.device.read(memory, 0, memory.length).data))
        if self.rng.random() < (0.95 if broken else 0.1):
            for pair, _ in self.pairs:
                self.device.reconnect(pair)


def _configured_key(request: WorkRequest) -> int | None:
    """The index of the key that a request configures or invalidates."""
    if isinstance(request, (Configure, MrList, MrInterleaved)):
        return request.mkey.rkey >> 8
    return request.rkey >> 8 if isinstance(request, LocalInv) else None
