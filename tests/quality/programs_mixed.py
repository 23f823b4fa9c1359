"""Programs of many small sections: on RC, UC and DCI, of either end, good, failing, aborted, refused."""

from __future__ import annotations

import random

from tests.quality.programs_world import Effect, End, Request, World, block, overlap

FAILS = {"rkey": "remote_access", "lkey": "local_protection"}
"""What a key that names no object gives (IBTA volume 1, 9.7.5.2, 10.7.3)."""


class Mixed:
    """`listed`: a failure is claimed by the list of completions, else by `rejected at completion`."""

    def __init__(self, seed: int, *, listed: bool) -> None:
        self.world = World(random.Random(seed))
        self.listed = listed
        self.types = {"": "rc"}
        self.layout = ""
        """The buffer that the key k names."""

    def text(self) -> str:
        """The whole program."""
        world = self.world
        self._objects()
        ways = [self._receive, self._section, self._failure, self._abort, self._refused, self._store, self._key]
        weights = [20, 30, 14, 8, 6, 6, 6]
        for _ in range(world.random.randint(4, 12)):
            if world.chance(0.1):
                world.expect(world.buffer())
                continue
            qp = world.random.choice(list(self.types))
            peer = world.chance(0.25) and not self._shared(qp)
            world.random.choices(ways, weights)[0](qp, peer)
        return world.text()

    def _objects(self) -> None:
        world = self.world
        world.buffers()
        for name in ("q", "p"):
            if world.chance(0.4):
                continue
            kind = self.types[name] = world.random.choice(["rc", "rc", "uc", "dci"])
            more = ""
            if kind == "dci" and world.chance(0.5):
                self.types[name], more = "streams", "; streams 4"
            elif kind == "uc":
                more = "; send_ops [raw]"
            world.lines.append(f"qp {name} {{ type {kind}{more} }}")
        if {"dci", "streams"} & {*self.types.values()}:
            world.lines.append("dct t { key 5 }")
        self.layout = world.random.choice(world.own)
        access = "access local_write | remote_write | remote_read"
        world.lines += ["mkey z", "mkey k", f"configure k {{ {access}; layout list({self.layout}) }}"]

    def _shared(self, qp: str) -> bool:
        return self.types[qp] in ("dci", "streams")

    def _end(self, qp: str, peer: bool) -> End:
        """An end of the pair; of a DCI the receives of its targets, at the peer."""
        return ("dci", "peer") if self._shared(qp) else (qp, "peer" if peer else "owner")

    def _at(self, verb: str, qp: str, peer: bool, more: str = "") -> str:
        return ("peer " if peer else "") + verb + (f" on {qp}" if qp else "") + more

    def _poll(self, qp: str, peer: bool) -> str:
        return ("peer " if peer else "") + "poll" + (f" {qp}" if qp else "")

    # Requests --------------------------------------------------------------------------------

    def _request(self, qp: str, peer: bool, bad: str = "", messages: bool = True) -> Request:
        """A request of this end; `bad`: the name of its key that is wrong."""
        world = self.world
        mine, other = (world.far, world.own) if peer else (world.own, world.far)
        end = self._end(qp, not peer)
        kind = world.random.choice(["write", "write", "send", "read", "message"])
        if kind in ("send", "message") and (not messages or not world.waiting(end)):
            kind = "write"
        if (kind == "read" and self.types[qp] == "uc") or (bad and not (bad == "lkey" and kind == "send")):
            kind = "write"
        number, signaled = world.id(), world.chance(0.5)
        more = ", dct t" if self._shared(qp) else ""
        more += ", stream 1" if self.types[qp] == "streams" else ""
        more += ", signaled" if signaled else ""
        more += f", id {number}"
        here, there = world.random.choice(mine), world.random.choice(other)
        keyed = not peer and not bad and world.chance(0.25)
        text, name = ("k[0 +: 64]", self.layout) if keyed else (here, here)
        wrong = f", but {bad} {there if bad == 'rkey' else here}.{bad} ^ 0xff00" if bad else ""
        if kind == "send":
            imm = world.chance(0.5) and not bad
            text = f"send_imm {text}, imm 7{more}" if imm else f"send {text}{more}{wrong}"
            target = world.waiting(end)[0]
            return Request(text, number, "send", signaled, Effect(name, target, end))
        if kind == "message":
            effect = Effect(name, there, end)
            return Request(f"write {text} to {there}, imm 9{more}", number, "rdma_write", signaled, effect)
        if kind == "read":
            more += ", fence" if world.chance(0.3) else ""
            return Request(f"read {text} from {there}{more}", number, "rdma_read", signaled, Effect(there, name))
        more += ", inline" if not keyed and not bad and world.chance(0.2) else ""
        return Request(f"write {text} to {there}{more}{wrong}", number, "rdma_write", signaled, Effect(name, there))

    def _good(self, qp: str, peer: bool, most: int, *, reads: bool = True) -> list[Request]:
        """Requests that succeed, with their effects; none needs a fence after a READ before it."""
        made: list[Request] = []
        read: list[Effect] = []
        for _ in range(self.world.random.randint(0, most)):
            request = self._request(qp, peer)
            if overlap(read, request.effect) or (request.late and not reads):
                continue
            if request.late:
                read.append(request.effect)
            self.world.apply(request.effect)
            made.append(request)
        return made

    # Statements ------------------------------------------------------------------------------

    def _receive(self, qp: str, peer: bool) -> None:
        peer |= self._shared(qp)
        into = self.world.random.choice(self.world.far if peer else self.world.own)
        self.world.lines.append(("peer " if peer else "") + f"recv {into}" + (f" on {qp}" if qp else ""))
        self.world.waiting(self._end(qp, peer)).append(into)

    def _section(self, qp: str, peer: bool) -> None:
        made = self._good(qp, peer, 3)
        if made:
            more = ", nowait" if self.world.chance(0.5) else ""
            self.world.lines.append(self._at("post", qp, peer, f"{more} {block([one.text for one in made])}"))

    def _failure(self, qp: str, peer: bool) -> None:
        """Good requests, one whose key is wrong, and some that are flushed. On a UC the other end tells nothing to
        the requester (IBTA volume 1, 9.8.3), so only what its own end finds can be claimed."""
        world = self.world
        if self.types[qp] == "streams":
            return
        why = "lkey" if self.types[qp] == "uc" else world.random.choice([*FAILS])
        before = self._good(qp, peer, 2, reads=False)
        bad = self._request(qp, peer, why)
        room = len(world.waiting(self._end(qp, not peer)))
        after: list[Request] = []
        for _ in range(world.random.randint(0, 2)):
            one = self._request(qp, peer)
            if one.effect.takes is None or sum(other.effect.takes is not None for other in after) < room:
                after.append(one)
        requests = block([one.text for one in (*before, bad, *after)])
        if self.listed:
            self._listed(qp, peer, why, before, bad, after)
        else:
            world.lines.append(
                self._at("post", qp, peer, f" {requests}\n        rejected at completion with {FAILS[why]}")
            )
        if not self._shared(qp):
            world.waiting((qp, "owner")).clear()
            world.waiting((qp, "peer")).clear()

    def _listed(self, qp: str, peer: bool, why: str, before: list[Request], bad: Request, after: list[Request]) -> None:
        """All completions of the section. With `nowait` a `poll` lists them: then no other may come there, of a
        receive that is flushed or of an earlier request."""
        world = self.world
        status = f", status {FAILS[why]}" if world.chance(0.7) else ""
        told = [one.told for one in before if one.signaled]
        told += [f"error, id {bad.id}{status}", *(one.flushed for one in after)]
        claim = f"completes {block(told)}"
        requests = block([one.text for one in (*before, bad, *after)])
        end = ("", "") if self._shared(qp) else self._end(qp, peer)
        if world.chance(0.5) and not world.waiting(end):
            poll = self._poll(qp, peer)
            world.lines += [poll, self._at("post", qp, peer, f", nowait {requests}"), f"{poll} {claim}"]
        else:
            world.lines.append(self._at("post", qp, peer, f" {requests}\n        {claim}"))

    def _abort(self, qp: str, peer: bool) -> None:
        lines = [self._request(qp, peer).text for _ in range(self.world.random.randint(1, 2))]
        self.world.lines.append(self._at("abort", qp, peer, f" {block(lines)}"))

    def _refused(self, qp: str, peer: bool) -> None:
        """A configuration that sets its access twice: the whole section is refused (mlx5dv_wr_mkey_configure(3))."""
        if peer or self.types[qp] != "rc":
            return
        lines = ["configure z { access local_write; access local_write }"]
        lines += [self._request(qp, peer).text for _ in range(self.world.random.randint(1, 2))]
        self.world.lines.append(self._at("post", qp, peer, f" {block(lines)}\n        rejected at complete"))

    def _store(self, qp: str, peer: bool) -> None:
        self.world.store(self.world.buffer())

    def _key(self, qp: str, peer: bool) -> None:
        """Another layout of the key k."""
        if peer or self.types[qp] != "rc":
            return
        self.layout = self.world.random.choice(self.world.own)
        more = ", nowait" if self.world.chance(0.5) else ""
        self.world.lines.append(
            self._at("post", qp, False, f"{more} {{ configure k {{ layout list({self.layout}) }} }}")
        )


def mixed(seed: int) -> str:
    """A program whose failures are claimed by `rejected at completion`."""
    return Mixed(seed, listed=False).text()


def listed(seed: int) -> str:
    """A program whose failures are claimed by the list of completions."""
    return Mixed(seed, listed=True).text()
