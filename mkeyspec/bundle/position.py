"""Where a row is in its recording: which calls were asked for again, and what is there to be seen.

The calls that change something are asked for in their order. Between two of them lies what was seen there: completions,
events, bytes. It is given as often, and after as many looks that gave nothing, as in the run.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from mkeyspec.bundle.entries import EFFECTS, END, LOOKS, Entry, seen
from mkeyspec.bundle.frames import WrongFrame
from mkeyspec.bundle.images import Bytes, Images
from mkeyspec.bundle.values import error_of
from mkeyspec.device.protocol import AsyncEvent, Completion, Qp, QpPair

SKIPPED = frozenset({"reconnect"})
"""Calls of the rig that depend on what came, as its own do."""


class Position:
    """Of one row. `at`: the entry that is next."""

    def __init__(self, entries: list[Entry], blob: Callable[[str], bytes]) -> None:
        self.entries = entries
        self.at = 0
        self.images = Images(blob)
        self.qps: dict[int, Qp] = {}
        self.peers: dict[int, Qp] = {}
        """By handle: the QP at the other end."""
        self.posted: dict[int, Counter[int]] = {}
        """By the handle of a QP: which requests and receives were posted, by the number that they had in the run."""
        self.numbers: dict[int, int] = {}
        """The rig's numbers of requests: of the run, and of today."""
        self.not_asked: set[int] = set()
        """Numbers of the rig's own requests in the run that were not asked for again."""
        self._seen: set[int] = set()
        """Entries that were given."""
        self._left: dict[int, list[Entry]] = {}
        """Of an entry of which some completions were given before: the others."""
        self._carried: dict[int, list[Completion]] = {}
        """By the handle of a QP, with today's numbers: what the next look tells."""
        self._carried_events: list[AsyncEvent] = []
        self._empty: Counter[object] = Counter()
        self._gap()

    def _gap(self) -> None:
        """Find what is to be seen before the next call or mark."""
        self._polls: dict[int, deque[int]] = {}
        self._events: deque[int] = deque()
        self._reads: list[int] = []
        self._empty.clear()
        self.stop = self.at
        while self.stop < len(self.entries) and self.entries[self.stop]["call"] in LOOKS:
            entry = self.entries[self.stop]
            if entry["call"] == "poll":
                self._polls.setdefault(entry["args"][0], deque()).append(self.stop)
            elif entry["call"] == "events":
                self._events.append(self.stop)
            else:
                self._reads.append(self.stop)
            self.stop += 1

    @property
    def next(self) -> Entry | None:
        """The next call that is not a look, or mark."""
        return self.entries[self.stop] if self.stop < len(self.entries) else None

    def following(self) -> Iterator[tuple[int, Entry]]:
        """The entries from the next call or mark on."""
        for place in range(self.stop, len(self.entries)):
            yield place, self.entries[place]

    def cross(self, place: int) -> None:
        """Continue after the entry at `place`. Entries that were not read before are kept for the next read."""
        for number in range(self.at, place):
            entry = self.entries[number]
            if number in self._seen or "raised" in entry:
                continue
            if entry["call"] == "poll":
                self._carried.setdefault(entry["args"][0], []).extend(self._renumbered(self._completions(number)))
            elif entry["call"] == "events":
                self._carried_events += self._told(entry)
            elif entry["call"] == "read":
                self.images.apply(entry)
            elif "own" in entry:
                self.not_asked.add(_number_of(entry))
        self.at = place + 1
        self._gap()

    def cross_mark(self, mark: str) -> bool:
        """Continue after the next mark, if it is this one."""
        if self.next is not None and self.next["call"] == mark:
            self.cross(self.stop)
            return True
        return False

    # What is seen ----------------------------------------------------------------------------

    def poll(self, qp: Qp) -> list[Completion]:
        carried = self._carried.pop(qp.handle, None)
        if carried:
            return carried
        waiting = self._polls.get(qp.handle)
        if not waiting:
            return []
        place = waiting[0]
        entry = self.entries[place]
        if self._empty[qp.handle] < entry.get("after", 0):
            self._empty[qp.handle] += 1
            return []
        waiting.popleft()
        self._seen.add(place)
        self._empty[qp.handle] = 0
        if "raised" in entry:
            raise error_of(entry["raised"])
        return self._renumbered(self._completions(place))

    def events(self) -> list[AsyncEvent]:
        if self._carried_events:
            found, self._carried_events = self._carried_events, []
            return found
        if not self._events:
            return []
        place = self._events[0]
        entry = self.entries[place]
        if self._empty[None] < entry.get("after", 0):
            self._empty[None] += 1
            return []
        self._events.popleft()
        self._seen.add(place)
        self._empty[None] = 0
        if "raised" in entry:
            raise error_of(entry["raised"])
        return self._told(entry)

    def is_outstanding(self, looked_at: set[object]) -> bool:
        """Whether more is to be seen here of these QPs; of None: of events."""
        if None in looked_at and (self._events or self._carried_events):
            return True
        return any(self._polls.get(one) or self._carried.get(one) for one in looked_at if isinstance(one, int))

    def bring_forward(self, looked_at: set[object]) -> bool:
        """Take what the run saw later of requests that are posted already, and events. Whether there was something."""
        found = False
        for place, entry in self.following():
            if place in self._seen or "raised" in entry:
                continue
            if entry["call"] == "poll" and entry["args"][0] in looked_at:
                handle = entry["args"][0]
                posted = self.posted.get(handle, Counter())
                mine = [one for one in self._completions(place) if posted[one.wr_id]]
                if mine:
                    self._left[place] = [
                        one for one in self._raw(place) if _wr_id(one) not in {it.wr_id for it in mine}
                    ]
                    self._carried.setdefault(handle, []).extend(self._renumbered(mine))
                    found = True
            elif entry["call"] == "events" and None in looked_at:
                self._carried_events += self._told(entry)
                self._seen.add(place)
                found = True
            elif entry["call"] in EFFECTS and "own" not in entry and None in looked_at:
                break
        return found

    def answered(self, handle: int) -> Counter[int]:
        """The numbers of requests of this QP of which the recording has a completion."""
        return Counter(
            _wr_id(one) for entry in self.entries if entry["call"] == "poll" and entry["args"] == [handle]
            for one in entry.get("gave", ())
        )  # fmt: skip

    def has_failed(self, qp: Qp) -> bool:
        """Whether an error completion of this QP or of its other end came before, since they were connected."""
        handles = {qp.handle, self.peers.get(qp.handle, qp).handle}
        failed = False
        for entry in self.entries[: self.stop]:
            if entry["call"] == "reconnect":
                failed = False
            elif entry["call"] == "poll" and entry["args"][0] in handles:
                failed = failed or any(next(iter(one.values()))[3] != "success" for one in entry.get("gave", ()))
        return failed

    def queue(self, handle: int, completion: Completion) -> None:
        """A completion that the next look tells."""
        self._carried.setdefault(handle, []).append(completion)

    def _raw(self, place: int) -> list[Entry]:
        left = self._left.get(place)
        return left if left is not None else list(self.entries[place]["gave"])

    def _completions(self, place: int) -> list[Completion]:
        return seen({"call": "poll", "gave": self._raw(place)}, self._qp)

    def _told(self, entry: Entry) -> list[AsyncEvent]:
        return seen(entry, self._qp)

    def _qp(self, handle: int) -> Qp:
        return self.qps.get(handle) or Qp(handle, "owner", 0, 0)

    def _renumbered(self, completions: list[Completion]) -> list[Completion]:
        """With today's numbers; without those of the rig's requests that today's rig did not post."""
        found = []
        for one in completions:
            if one.wr_id in self.numbers:
                one = replace(one, wr_id=self.numbers[one.wr_id])
            elif one.wr_id in self.not_asked:
                continue
            found.append(one)
        return found

    # Bytes -----------------------------------------------------------------------------------

    def read(self, handle: int, offset: int, length: int) -> Bytes | None:
        """These bytes, as the run saw them here; None if it does not tell. Raises WrongFrame, and what it raised."""
        asked = [handle, offset, length]
        for place in self._reads:
            if place not in self._seen and self.entries[place]["args"] == asked:
                for earlier in (one for one in self._reads if one <= place and one not in self._seen):
                    self._seen.add(earlier)
                    self.images.apply(self.entries[earlier])
                entry = self.entries[place]
                if "raised" in entry:
                    raise error_of(entry["raised"])
                return self.images.read(entry)
        return self._composed(handle, offset, length)

    def _composed(self, handle: int, offset: int, length: int) -> Bytes | None:
        """Of several reads of the run: those before the next call that lets the device change memory."""
        known = self.images.of(handle)
        if known is None or offset < 0 or length < 0 or offset + length > len(known):
            return None
        found = known.copy()
        sure = np.zeros(length, bool)
        for place in range(self.at, len(self.entries)):
            entry = self.entries[place]
            if entry["call"] == "read" and entry["args"][0] == handle and "raised" not in entry:
                if place not in self._seen:
                    try:
                        self.images.apply(entry, found)
                    except WrongFrame:  # later writes of the host are in its dictionary
                        break
                begin = entry["args"][1] - offset
                sure[max(0, begin) : max(0, begin + entry["args"][2])] = True
            elif (entry["call"] == "write" and entry["args"][0] == handle) or (
                entry["call"] in EFFECTS and "own" not in entry
            ):
                break
        part: Bytes = found[offset : offset + length]
        return part if sure.all() else None

    # Objects ---------------------------------------------------------------------------------

    def connect(self, pair: QpPair) -> None:
        for one, other in ((pair.owner, pair.peer), (pair.peer, pair.owner)):
            self.qps[one.handle] = one
            self.peers[one.handle] = other

    def rest(self) -> Entry | None:
        """The first call of the case that was not asked for again before the end of its steps."""
        for _, entry in self.following():
            if entry["call"] == END:
                return None
            if entry["call"] in EFFECTS - SKIPPED and "own" not in entry:
                return entry
        return None


def _wr_id(completion: Entry) -> int:
    (members,) = completion.values()
    number: int = members[2]
    return number


def _number_of(entry: Entry) -> int:
    """The number of the rig's own request, or receive."""
    if entry["call"] == "post_recv":
        number: int = entry["args"][1]
    else:
        ((members,),) = (request.values() for request in entry["args"][1])
        number = members[0]
    return number
