"""What a program that is drawn has made so far: its lines, what is in each buffer, what waits to receive.

A program says of every buffer what is in it at the end, and of every failure which requests fail and how. So its
outcome is predicted here, by what the pages say of each request, and by no device.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import NamedTuple

HEAD = 'mks 1\nsuite "programs"\n\ncase program\n    verifies CFG-18\n'
BUFFERS = 4
"""Of each side, of 64 bytes each."""

End = tuple[str, str]
"""A queue pair ("" is the default one, "dci" stands for the receives that all DCIs share), and owner or peer."""


class Effect(NamedTuple):
    """The bytes of `source` come to `target`; `takes`: the end whose first receive the message takes."""

    source: str
    target: str
    takes: End | None = None


class Request(NamedTuple):
    """`text` of a request; `opcode` of its completion, which comes if it succeeds and `signaled`."""

    text: str
    id: int
    opcode: str
    signaled: bool
    effect: Effect
    stream: int = 0

    @property
    def late(self) -> bool:
        return self.opcode == "rdma_read"

    @property
    def told(self) -> str:
        """Its completion, as `completes` lists it."""
        return f"{self.opcode}, id {self.id}"

    @property
    def flushed(self) -> str:
        return f"error, id {self.id}, status wr_flush_err"


@dataclass
class World:
    """`bytes`: the expression that says what a buffer holds. `changed`: buffers with bytes that no statement has named
    since a request brought them; these must be compared before a `store` (MKS2103)."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    bytes: dict[str, str] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    receives: dict[End, list[str]] = field(default_factory=dict)
    ids: int = 0
    seeds: int = 100

    own: list[str] = field(default_factory=lambda: [f"a{number}" for number in range(BUFFERS)])
    far: list[str] = field(default_factory=lambda: [f"w{number}" for number in range(BUFFERS)])

    def buffers(self) -> None:
        for number, name in enumerate(self.own):
            self._memory("memory", name, number + 1)
        for number, name in enumerate(self.far):
            self._memory("peer memory", name, number + 11)

    def _memory(self, statement: str, name: str, seed: int) -> None:
        self.bytes[name] = f"random(64, seed={seed})"
        self.lines.append(f"{statement} {name} = {self.bytes[name]}")

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def buffer(self) -> str:
        return self.random.choice(self.own + self.far)

    def id(self) -> int:
        self.ids += 1
        return self.ids

    def waiting(self, end: End) -> list[str]:
        """The buffers of the receives that wait there, the first one first."""
        return self.receives.setdefault(end, [])

    def apply(self, effect: Effect) -> None:
        """A request succeeds."""
        if effect.takes is not None:
            self.waiting(effect.takes).pop(0)
        self.bytes[effect.target] = self.bytes[effect.source]
        self.changed.add(effect.target)

    def expect(self, name: str) -> None:
        self.lines.append(f"expect {name} == {self.bytes[name]}")
        self.changed.discard(name)

    def store(self, name: str) -> None:
        if name in self.changed:
            self.expect(name)
        self.seeds += 1
        self.bytes[name] = f"random(64, seed={self.seeds})"
        self.lines.append(f"store {name} = {self.bytes[name]}")

    def text(self) -> str:
        """The program, with what is in each buffer at its end."""
        for name in self.own + self.far:
            self.expect(name)
        return HEAD + "".join(f"    {line}\n" for line in self.lines)


def block(requests: list[str]) -> str:
    return "{ " + "; ".join(requests) + " }"


def overlap(effects: list[Effect], effect: Effect) -> bool:
    """Whether a request uses or brings bytes that one of these brings: after a READ it would need a fence."""
    return any(one.target in (effect.source, effect.target) for one in effects)
