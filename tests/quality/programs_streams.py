"""Programs on DCIs: streams, two targets, and a failure that stops its own stream and no other."""

from __future__ import annotations

import random

from tests.quality.programs_world import Effect, End, Request, World, block

TARGETS: End = ("dci", "peer")
"""The targets share their receives."""
FAILS = {"rkey": "remote_access", "lkey": "local_protection"}


class Streams:
    def __init__(self, seed: int) -> None:
        self.world = World(random.Random(seed))
        self.streams = {"q": self.world.random.choice([2, 3, 4]), "p": self.world.random.choice([0, 2])}

    def text(self) -> str:
        """The whole program."""
        world = self.world
        world.buffers()
        world.lines += ["dct t { key 5 }", "dct u { key 6 }"]
        for qp, streams in self.streams.items():
            more = f"; streams {streams}" if streams else ""
            world.lines.append(f"qp {qp} {{ type dci{more} }}")
        for _ in range(world.random.randint(4, 10)):
            qp = world.random.choice("qqqp")
            ways = [self._receive, self._section, self._failure, self._store, self._expect, self._poll]
            world.random.choices(ways, [20, 40, 20, 6, 7, 7])[0](qp)
        return world.text()

    def _address(self, qp: str, stream: int) -> str:
        target = f", dct {self.world.random.choice('tu')}"
        if not self.streams[qp] or (stream == 0 and self.world.chance(0.5)):
            return target  # stream 0 (mlx5dv_wr_post(3))
        return f"{target}, stream {stream}"

    def _requests(self, qp: str) -> list[Request]:
        """A section: no two streams use the same bytes, since nothing orders them, and messages are of one stream."""
        world = self.world
        made: list[Request] = []
        used: dict[str, int] = {}
        read: set[str] = set()
        for _ in range(world.random.randint(1, 4)):
            stream = world.random.randrange(max(1, self.streams[qp]))
            kind = world.random.choice(["write", "write", "write", "read", "send", "message"])
            here, there = world.random.choice(world.own), world.random.choice(world.far)
            messages = [one for one in made if one.effect.takes is not None]
            room = world.waiting(TARGETS)[len(messages) :]
            if kind in ("send", "message") and (not room or any(one.stream != stream for one in messages)):
                kind = "write"
            there = room[0] if kind == "send" else there
            if any(used.get(name, stream) != stream or name in read for name in (here, there)):
                continue
            used |= {here: stream, there: stream}
            number, signaled = world.id(), world.chance(0.6)
            more = self._address(qp, stream) + (", signaled" if signaled else "") + f", id {number}"
            opcode, text, effect = "rdma_write", f"write {here} to {there}{more}", Effect(here, there)
            if kind == "read":
                read.add(here)
                opcode, text, effect = "rdma_read", f"read {here} from {there}{more}", Effect(there, here)
            elif kind == "send":
                opcode, text, effect = "send", f"send {here}{more}", Effect(here, there, TARGETS)
            elif kind == "message":
                text, effect = f"write {here} to {there}, imm 4{more}", Effect(here, there, TARGETS)
            made.append(Request(text, number, opcode, signaled, effect, stream))
        return made

    def _receive(self, qp: str) -> None:
        into = self.world.random.choice(self.world.far)
        if into not in self.world.waiting(TARGETS):
            self.world.lines.append(f"peer recv {into} on {qp}")
            self.world.waiting(TARGETS).append(into)

    def _section(self, qp: str) -> None:
        made = self._requests(qp)
        if not made:
            return
        for one in made:
            self.world.apply(one.effect)
        more = ", nowait" if self.world.chance(0.5) else ""
        self.world.lines.append(f"post on {qp}{more} {block([one.text for one in made])}")

    def _failure(self, qp: str) -> None:
        """One request fails: those after it in its stream are flushed, all others succeed (mlx5dv_create_qp(3))."""
        world = self.world
        if not self.streams[qp]:
            return
        made = [one for one in self._requests(qp) if one.effect.takes is None]
        stream, number, why = world.random.randrange(self.streams[qp]), world.id(), world.random.choice([*FAILS])
        here, there = world.random.choice(world.own), world.random.choice(world.far)
        signaled = ", signaled" if world.chance(0.5) else ""
        key = f"{there if why == 'rkey' else here}.{why} ^ 0xff00"
        bad = f"write {here} to {there}{self._address(qp, stream)}{signaled}, id {number}, but {why} {key}"
        at = world.random.randint(0, len(made))
        told = []
        for place, one in enumerate(made):
            if place == at:
                told.append(f"error, id {number}, status {FAILS[why]}")
            if place >= at and one.stream == stream:
                told.append(one.flushed)
                continue
            world.apply(one.effect)
            told += [one.told] if one.signaled else []
        if at == len(made):
            told.append(f"error, id {number}, status {FAILS[why]}")
        texts = [one.text for one in made]
        texts.insert(at, bad)
        world.lines.append(f"post on {qp} {block(texts)}\n        completes in any order {block(told)}")

    def _store(self, qp: str) -> None:
        self.world.store(self.world.buffer())

    def _expect(self, qp: str) -> None:
        self.world.expect(self.world.buffer())

    def _poll(self, qp: str) -> None:
        self.world.lines.append(f"poll {qp}")


def streams(seed: int) -> str:
    return Streams(seed).text()
