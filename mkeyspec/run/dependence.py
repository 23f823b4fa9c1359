"""Which outstanding requests a statement depends on or would disturb.

Nothing orders two send queues, or a send queue and the host (IBTA 9.5). Steps are carried out in the order
of the text: a request whose bytes, key or receive a statement uses must end before the statement is carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.run.course import UNKNOWN, Course
from mkeyspec.run.moved import ANY, NOTHING, Moved, names_of
from mkeyspec.run.reach import MkeyReach

TARGETS = "the receives of the case's DCTs"
"""One receive queue for the messages of all DCIs: they consume its receives in the order in which they arrive."""


class Taking(NamedTuple):
    """A receive that a message may take, by the number of its step: the buffers that are then written, and the keys
    that it uses."""

    step: int
    writes: frozenset[str]
    uses: frozenset[str]


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
    message: Moved | None = None
    """Where several receives are open to its message: which of them it takes. They are not in `writes` and `uses`."""
    takings: tuple[Taking, ...] = ()

    def by_now(self, course: Course) -> Touched:
        """With the receives that its message may have taken, as far as is known by now."""
        if self.message is None:
            return self
        taken = {one.step for one in self.message.taken_by_now(course)}
        takings = [one for one in self.takings if one.step in taken]
        writes = self.writes.union(*(one.writes for one in takings))
        return self._replace(
            writes=writes, uses=self.uses.union(*(one.uses for one in takings)), message=None, takings=()
        )


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
    """Follows the steps of a case. Of requests that are known not to have been carried out nothing is told."""

    def __init__(self, steps: Sequence[plan.Step], course: Course = UNKNOWN) -> None:
        self.reach = MkeyReach(steps, course)
        self.receives: dict[int, frozenset[str]] = {}
        """The keys that each receive uses, by the numbers of their steps."""

    def fork(self) -> Walk:
        """One that goes on from here by itself."""
        made = Walk.__new__(Walk)
        made.receives, made.reach = self.receives, self.reach.fork()
        return made

    def take(self, step: plan.Step) -> Iterator[Touched]:
        reach = self.reach
        if plan.is_post(step):
            reach.begin()
            for request, refused in reach.carried_out(step):
                yield self._request(request, step, refused)
            return
        moved = list(reach.take(step))
        if isinstance(step, plan.Recv):
            self.receives[reach.number] = self._keys(part.name for part in step.into)
        elif isinstance(step, (plan.Transmit, plan.Receive)):
            changes = frozenset({TARGETS}) if step.options.dct is not None else NOTHING
            for one in moved:
                uses = self._keys([step.part.name])
                written = names_of(one.written)
                to = step.options
                yield Touched(one.at, one.read, written, uses, changes, dct=to.dct, stream=to.stream or 0)

    def _request(self, request: plan.Wr, step: plan.Post, refused: bool) -> Touched:
        self.reach.met = None
        moved = list(self.reach.request(request, step, refused))
        into_receive = _fills_receive(request)
        reads = NOTHING.union(*(one.read for one in moved))
        writes = NOTHING.union(*(names_of(one.written) for one in moved)) if not into_receive else NOTHING
        uses = self._keys(end.part.name for end in request.ends())
        changes = set(request.changes())
        if request.takes_receive() and request.options.dct is not None:
            changes.add(TARGETS)
        to = plan.options_of(request)
        reading, taking = (NOTHING, reads) if to.inline else (reads, NOTHING)
        touched = Touched(request.at, reading, writes, uses, frozenset(changes), taking, to.dct, to.stream or 0)
        met = self.reach.met
        if met is None:
            return touched
        takings = tuple(
            Taking(one.step, names_of(one.spans) if into_receive else NOTHING, self.receives.get(one.step, NOTHING))
            for one in met.arrivals
        )
        touched = touched._replace(message=met, takings=takings)
        return touched if met.unsettled else touched.by_now(self.reach.course)

    def _keys(self, names: Iterable[str]) -> frozenset[str]:
        """These keys and those in their layouts."""
        found, left = set[str](), list(names)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                laid = self.reach.mkeys.get(name)
                left += laid.names if laid is not None else ()
        return frozenset(found)


def _fills_receive(request: plan.Wr) -> bool:
    """Whether the bytes of its message are written into a receive."""
    match request:
        case plan.Send():
            return True
        case _:
            return False
