"""Which outstanding requests a statement depends on or would disturb.

Nothing orders two send queues, or a send queue and the host (IBTA 9.5). Steps are carried out in the order
of the text: a request whose bytes, key or receive a statement uses must end before the statement is carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.run.moved import ANY, NOTHING
from mkeyspec.run.reach import MkeyReach

TARGETS = "the receives of the case's DCTs"
"""One receive queue for the messages of all DCIs: they consume its receives in the order in which they arrive."""


class Touched(NamedTuple):
    """What a request, or a statement of the host, accesses: buffers by name, and the mkeys that it uses or changes,
    with those in their layouts. `takes`: buffers that are read when it is posted, and never after (inline data)."""

    at: plan.At
    reads: frozenset[str] = NOTHING
    writes: frozenset[str] = NOTHING
    uses: frozenset[str] = NOTHING
    changes: frozenset[str] = NOTHING
    takes: frozenset[str] = NOTHING
    dct: str | None = None
    stream: int = 0
    """Of a DCI's request: the DCT that it goes to, and the stream that it is in."""


def meet(one: Touched, other: Touched) -> bool:
    """Whether `one`, which is posted, must be over before `other`."""
    return (
        _overlap(one.writes, other.reads | other.writes | other.takes)
        or _overlap(one.reads, other.writes)
        or bool(one.changes & (other.uses | other.changes) or one.uses & other.changes)
    )


def _overlap(some: frozenset[str], others: frozenset[str]) -> bool:
    return bool(some & others) or (ANY in some and bool(others)) or (ANY in others and bool(some))


class Walk:
    """Follows the steps of a case."""

    def __init__(self, steps: Sequence[plan.Step]) -> None:
        self.reach = MkeyReach(steps)
        self.receives: dict[tuple[str | None, bool], list[frozenset[str]]] = {}
        """The keys that waiting receives use."""

    def take(self, step: plan.Step) -> Iterator[Touched]:
        reach = self.reach
        if isinstance(step, plan.Post):
            refused = step.abort or plan.may_be_rejected(step.claim)
            for request in step.requests:
                yield self._request(request, step, refused)
            return
        moved = list(reach.take(step))
        if isinstance(step, plan.Recv):
            waiting = self.receives.setdefault(reach.queue(step.qp, step.peer), [])
            waiting.append(self._keys(part.name for part in step.into))
        elif isinstance(step, (plan.Transmit, plan.Receive)):
            changes = frozenset({TARGETS}) if step.options.dct is not None else NOTHING
            for one in moved:
                uses = self._keys([step.part.name])
                written = frozenset(name for name, _, _ in one.written)
                to = step.options
                yield Touched(one.at, one.read, written, uses, changes, dct=to.dct, stream=to.stream or 0)

    def _request(self, request: plan.Wr, step: plan.Post, refused: bool) -> Touched:
        reads, writes = set[str](), set[str]()
        for one in list(self.reach.request(request, step, refused)):
            reads |= one.read
            writes |= {name for name, _, _ in one.written}
        uses = self._keys(end.part.name for end in request.ends())
        changes = set(request.changes())
        if request.takes_receive():
            waiting = self.receives.get(self.reach.queue(step.qp, not step.peer))
            uses |= waiting.pop(0) if waiting else NOTHING
            if request.options.dct is not None:
                changes.add(TARGETS)
        now = frozenset(reads)
        to = plan.options_of(request)
        reading, taking = (NOTHING, now) if to.inline else (now, NOTHING)
        return Touched(request.at, reading, frozenset(writes), uses, frozenset(changes), taking, to.dct, to.stream or 0)

    def _keys(self, names: Iterable[str]) -> frozenset[str]:
        """These keys and those in their layouts."""
        found, left = set[str](), list(names)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += [part.name for part in self.reach.mkeys.get(name, ())]
        return frozenset(found)
