"""Which statements may have changed a byte that nothing names. Worked out from the steps once a case has failed.

The closing rule finds such a byte at the end of a case, when nobody can say any more what wrote it. The steps tell
where to look: those that carry data into the buffer, those that only read it, and last those that move data at all.
Only what ran since somebody last looked at the byte counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Union

from mkeyspec import plan
from mkeyspec.value.layout import Chunk, Interleaved, Layout, Part, Repeated

Moved = tuple[plan.At, frozenset[str], frozenset[str]]
"""A statement that moved data: its place, the buffers it may write, those it may read."""

NOTHING: frozenset[str] = frozenset()
ANY = "*"
"""Stands for every buffer: a raw WQE names its own addresses."""


class Suspects(NamedTuple):
    """`label` says how sure it is."""

    label: str
    places: tuple[plan.At, ...]


def unnamed(at: plan.At) -> str:
    """The peer's buffer of the short form at `at`, which has no name."""
    return f"{at.line}:{at.column}"


def suspects(steps: Sequence[plan.Step], name: str, since: int) -> Suspects:
    """The statements behind a change of the buffer `name`, of those from number `since` on."""
    moved = list(_moved(steps, since))
    for label, kind in (("maybe by", 1), ("read by", 2)):
        found = [entry[0] for entry in moved if name in entry[kind] or ANY in entry[kind]]
        if found:
            return Suspects(label, tuple(dict.fromkeys(found)))
    return Suspects("since", tuple(dict.fromkeys(at for at, _, _ in moved)))


def reach(steps: Sequence[plan.Step]) -> frozenset[str]:
    """The buffers that the last of these steps may write."""
    found: set[str] = set()
    for _, written, _ in _moved(steps, len(steps) - 1):
        found |= written
    return frozenset(found)


def _moved(steps: Sequence[plan.Step], since: int) -> Iterator[Moved]:
    reach = _Reach()
    for number, step in enumerate(steps):
        for entry in reach.take(step):
            if number >= since:
                yield entry


class _Reach:
    """Which buffers each mkey reaches, and which receives wait, as far as the steps say."""

    def __init__(self) -> None:
        self.mkeys: dict[str, frozenset[str]] = {}
        self.receives: dict[tuple[str | None, bool], list[frozenset[str]]] = {}

    def take(self, step: plan.Step) -> Iterator[Moved]:
        if isinstance(step, plan.Receive):
            yield step.at, self.behind((step.part,)), frozenset((unnamed(step.at),))
        elif isinstance(step, plan.Transmit):
            yield step.at, frozenset((unnamed(step.at),)), self.behind((step.part,))
        elif isinstance(step, plan.Recv):
            self.receives.setdefault((step.qp, step.peer), []).append(self.behind(step.into))
        elif isinstance(step, plan.Post):
            refused = step.abort or any(isinstance(outcome, plan.Rejected) for outcome in step.claim)
            for request in step.requests:
                yield from self.request(request, step, refused)

    def request(self, request: plan.Wr, step: plan.Post, refused: bool) -> Iterator[Moved]:
        if isinstance(request, plan.Configure):
            for setter in request.setters:
                if isinstance(setter, plan.SetLayout):
                    self.lay(request.mkey, setter.layout, refused)
        elif isinstance(request, (plan.MrList, plan.MrInterleaved)):
            self.lay(request.mkey, request.layout, refused)
        elif isinstance(request, plan.Send):
            waiting = self.receives.get((step.qp, not step.peer))
            yield request.at, waiting.pop(0) if waiting else NOTHING, self.behind(request.data)
        elif isinstance(request, plan.Write):
            yield request.at, self.behind((request.to,)), self.behind(request.data)
        elif isinstance(request, plan.Read):
            yield request.at, self.behind(request.into), self.behind((request.source,))
        elif isinstance(request, plan.FetchAdd):
            yield request.at, self.behind((request.into, request.source)), NOTHING
        elif isinstance(request, plan.Memcpy):
            moves = request.source.length != 0
            yield request.at, self.behind((request.to,)) if moves else NOTHING, self.behind((request.source,))
        elif isinstance(request, plan.RawWqe):
            yield request.at, frozenset((ANY,)), NOTHING

    def behind(self, parts: Iterable[Part]) -> frozenset[str]:
        """The buffers behind these parts; an mkey's are those of its layout."""
        found: set[str] = set()
        for part in parts:
            found |= self.mkeys.get(part.name, {part.name})
        return frozenset(found)

    def lay(self, mkey: str, layout: Layout, refused: bool) -> None:
        """A layout that should have been refused may be in force all the same, or the one before it."""
        entries: Iterable[Union[Part, Chunk, Repeated]] = (
            layout.entries if isinstance(layout, Interleaved) else layout.parts
        )
        bare = (entry.part if isinstance(entry, Repeated) else entry for entry in entries)
        reach = self.behind(one.part if isinstance(one, Chunk) else one for one in bare)
        self.mkeys[mkey] = reach | self.mkeys.get(mkey, frozenset()) if refused else reach
