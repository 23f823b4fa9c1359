"""Programs on a QP with signature pipelining: a bad block stops it, some requests are cancelled, it is resumed."""

from __future__ import annotations

import random

from tests.quality.programs_world import Effect, End, Request, World, block

PEER: End = ("q", "peer")
CANCELLED = 2
"""The id of all requests that are cancelled."""
CHECK = "check k is bad_guard, block 0"


class Pipelining:
    def __init__(self, seed: int) -> None:
        self.world = World(random.Random(seed), ids=10)
        self.layout = ""
        """The buffer that the key l names."""
        self.told: list[str] = []
        self.void = 0
        """Messages that are cancelled: `check` asks for a receive of theirs, too (MKS0511)."""

    def text(self) -> str:
        """The whole program."""
        world = self.world
        self._objects()
        section: list[str] = []
        for _ in range(world.random.randint(0, 2)):
            section += self._request(reads=False)
        section.append("write k[0 +: 512] to big, signaled, id 1")
        self.told.append("rdma_write, id 1")
        cancelled = 0
        for turn in range(world.random.randint(1, 4)):
            cancel = world.chance(0.5)
            cancelled += cancel
            # What may be cancelled carries a fence (mlx5dv_qp_cancel_posted_send_wrs(3)): the first stops the queue.
            section += self._request(cancel=cancel, fence=turn == 0 or world.chance(0.3))
        world.lines += [f"post on q, nowait {block(section)}", "await sq_drained on q"]
        first = world.chance(0.5)
        world.lines += [CHECK] if first else []
        if world.chance(0.4):
            cancel = world.chance(0.5)
            cancelled += cancel
            world.lines.append(f"post on q, nowait {block(self._request(cancel=cancel, fence=True))}")
        if cancelled:
            world.lines += [f"cancel {CANCELLED} on q as c", f"expect c.count == {cancelled}"]
        world.lines += [] if first else [CHECK]
        world.lines += ["resume q", f"poll q completes {block(self.told)}", "expect big == counter(512)"]
        for name in world.own + world.far:
            world.expect(name)
        here, there = world.random.choice(world.own), world.random.choice(world.far)
        world.lines.append(f"write {here} to {there} on q")
        world.apply(Effect(here, there))
        if world.waiting(PEER):
            world.lines.append(f"send {here} on q")
            world.apply(Effect(here, world.waiting(PEER)[0], PEER))
        return world.text()

    def _objects(self) -> None:
        world = self.world
        world.lines.append("let d = crc32(ones) every 512")
        world.buffers()
        self.layout = world.random.choice(world.own)
        world.lines += [
            "memory src = flip(framed(counter(512), d), field_at(d, 0))",
            "peer memory big[512]",
            "qp q { sig_pipelining }",
            "mkey k { block_signature }",
            "mkey l",
            "configure k on q { layout list(src); signature { mem d } }",
            f"configure l on q {{ access local_write; layout list({self.layout}) }}",
        ]
        for _ in range(world.random.randint(0, 3)):
            into = world.random.choice([name for name in world.far if name not in world.waiting(PEER)])
            world.waiting(PEER).append(into)
            world.lines.append(f"peer recv {into} on q")

    def _request(self, *, cancel: bool = False, fence: bool = False, reads: bool = True) -> list[str]:
        """The text of one request, whose effect and completion are noted. Of a cancelled one, the completion alone:
        it is a NOP (mlx5dv_qp_cancel_posted_send_wrs(3))."""
        world = self.world
        kind = world.random.choice(
            ["write", "write", "write", "send", "message", "configure", *(["read"] if reads else [])]
        )
        here, there = world.random.choice(world.own), world.random.choice(world.far)
        if kind in ("send", "message") and len(world.waiting(PEER)) <= self.void:
            kind = "write"
        fence |= kind == "read"
        number, signaled = CANCELLED if cancel else world.id(), world.chance(0.6)
        more = (", fence" if fence else "") + (", signaled" if signaled else "") + f", id {number}"
        text, name = ("l[0 +: 64]", self.layout) if world.chance(0.4) else (here, here)
        if kind == "configure":
            if not cancel:
                self.layout = here
            self.told += [f"driver1, id {number}"] if signaled else []
            return [f"configure l{more} {{ layout list({here}) }}"]
        made = Request(f"write {text} to {there}{more}", number, "rdma_write", signaled, Effect(name, there))
        if kind == "send":
            effect = Effect(name, world.waiting(PEER)[0], PEER)
            made = Request(f"send {text}{more}", number, "send", signaled, effect)
        elif kind == "message":
            effect = Effect(name, there, PEER)
            made = Request(f"write {text} to {there}, imm 3{more}", number, "rdma_write", signaled, effect)
        elif kind == "read":
            made = Request(f"read {here} from {there}{more}", number, "rdma_read", signaled, Effect(there, here))
        if cancel:
            self.void += made.effect.takes is not None
        else:
            world.apply(made.effect)
        self.told += [made.told] if signaled else []
        return [made.text]


def pipelining(seed: int) -> str:
    return Pipelining(seed).text()
