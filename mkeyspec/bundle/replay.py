"""A device that answers from a bundle: as it answered in the run, wherever the rig asks what it asked then.

Where the rig asks something else, because the case or the rig have changed, it says so (`NotRecorded`), and nothing is
judged. Two things are answered that the run did not ask. The rig's own waiting requests, and resets, depend on what the
case expects: they succeed, if nothing that was posted is left of which the run did not see the end. A key that was
checked, and not used since, has nothing more to tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mkeyspec.bundle.entries import END, LOOKS, MARKS, QUIET, RAN_OUT, Entry, gave_of
from mkeyspec.bundle.position import SKIPPED, Position
from mkeyspec.bundle.reader import Bundle
from mkeyspec.bundle.values import error_of, plain
from mkeyspec.device.protocol import (
    Completion,
    Mkey,
    Qp,
    QpPair,
    Send,
    SignatureError,
    WorkRequest,
    Write,
)
from mkeyspec.run.evidence import FLUSH, SUCCESS
from mkeyspec.run.surroundings import NotRecorded, Surroundings

Given = TypeVar("Given")

LONG = 1e6
"""Seconds that pass at once where nothing more can come."""


class Replay(Surroundings):
    """The rig's surroundings, and what its device answers from. No time passes in it but what is waited for."""

    missing = (NotRecorded,)

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.position: Position | None = None
        self._row: Entry = {}
        self._time = 0.0
        self.looked_at: set[object] = set()
        """Since time passed last: handles of QPs that were polled; None: events."""
        self._received: dict[int, list[int]] = {}
        """By the handle of a QP: the rig's own receives there that the run did not have."""

    # Surroundings ----------------------------------------------------------------------------

    def now(self) -> float:
        return self._time

    def pause(self, seconds: float) -> None:
        self._pass(seconds, waits=True)

    def rest(self, seconds: float) -> None:
        self._pass(seconds, waits=False)

    def _pass(self, seconds: float, *, waits: bool) -> None:
        position, looked_at = self._here(), self.looked_at
        self.looked_at = set()
        self._time += seconds
        if position.is_outstanding(looked_at):
            return
        mark = position.next["call"] if position.next is not None else None
        if waits and mark == QUIET:
            position.cross_mark(QUIET)
        elif mark == (RAN_OUT if waits else QUIET) or not position.bring_forward(looked_at):
            self._time += LONG

    def ran_out(self) -> None:
        if not self._here().cross_mark(RAN_OUT):
            self._must_have_waited("a wait that the run did not end in vain")

    def fell_quiet(self) -> None:
        if not self._here().cross_mark(QUIET):
            self._must_have_waited("a quiet time that the run did not wait for")

    def begin(self, case: str, late: Counter[int]) -> Counter[int]:
        row = self.bundle.row(case)
        if row is None:
            raise NotRecorded("the bundle has no such row")
        if "calls" not in row:
            why = "needs " + ", ".join(row["unmet"]) if "unmet" in row else f"blocked since {row['blocked'][0]}"
            raise NotRecorded(f"the run did not carry it out ({why})")
        self._row, self.position = row, Position(row["calls"], self.bundle.blob)
        self._time, self._received, self.looked_at = 0.0, {}, set()
        return Counter({int(handle): number for handle, number in row.get("late", {}).items()})

    def blocked(self, case: str) -> tuple[str, str] | None:
        """Of a row that was blocked in the run: since which row, and what was wrong."""
        row = self.bundle.row(case)
        if row is None or "blocked" not in row:
            return None
        culprit, symptom = row["blocked"]
        return culprit, symptom

    def end(self, whole: bool) -> None:
        position = self.position
        if position is not None and whole and (left := position.rest()) is not None:
            raise NotRecorded(f"the case ends, and the run went on with {said(left)}")

    def ended(self) -> None:
        self.position = None

    def symptom(self, ask: Callable[[], str]) -> str:
        return str(self._row.get("symptom", ""))

    # Answers ---------------------------------------------------------------------------------

    def _here(self) -> Position:
        if self.position is None:
            raise NotRecorded("a call outside of a row")
        return self.position

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """What this call gave in the run."""
        position = self._here()
        entry = self.take(name, plain(arguments))
        if entry is None:
            raise NotRecorded(f"{said({'call': name, 'args': plain(arguments)})}, and the run {self.went_on(position)}")
        return self.given(entry)

    def given(self, entry: Entry) -> Any:
        if "raised" in entry:
            raise error_of(entry["raised"])
        return gave_of(entry)

    def take(self, name: str, arguments: list[Any]) -> Entry | None:
        """Go on to this call in the recording; None if it is not what the run asked next."""
        position = self._here()
        for place, entry in position.following():
            if entry["call"] == name and self._is_same(name, entry["args"], arguments) and self.own == ("own" in entry):
                self._number(name, entry["args"], arguments, "gave" in entry and entry["gave"] == 0)
                position.cross(place)
                return entry
            skipped = entry["call"] in MARKS or entry["call"] in SKIPPED or "own" in entry
            if not skipped and entry["call"] not in LOOKS:
                return None
        return None

    def went_on(self, position: Position) -> str:
        """What the run did next, in words."""
        for _, entry in position.following():
            if entry["call"] == END:
                break
            if entry["call"] not in MARKS and entry["call"] not in LOOKS and "own" not in entry:
                return f"went on with {said(entry)}"
        return "ended this row there" if self._row.get("whole") else "ended this row there, at a failure"

    def _is_same(self, name: str, recorded: list[Any], today: list[Any]) -> bool:
        if name not in ("post", "post_recv") or recorded[:1] != today[:1]:
            return recorded == today
        return len(recorded) == len(today) and _nameless(name, recorded) == _nameless(name, today)

    def _number(self, name: str, recorded: list[Any], today: list[Any], taken: bool) -> None:
        """Note which number of today is which of the run."""
        if name not in ("post", "post_recv"):
            return
        position = self._here()
        posted = position.posted.setdefault(recorded[0], Counter())
        for old, new in zip(_numbers(name, recorded), _numbers(name, today), strict=True):
            if new != old:
                position.numbers[old] = new
            if taken and not (name == "post" and recorded[2]):
                posted[old] += 1

    def _must_have_waited(self, what: str) -> None:
        """Raises NotRecorded if the run did not see the end of what was posted."""
        position = self._here()
        if self._row["whole"]:
            return
        for handle, posted in position.posted.items():
            if posted - position.answered(handle):
                raise NotRecorded(f"{what}: a failure had ended the row there before")

    def own_post(self, qp: Qp, requests: Sequence[WorkRequest]) -> int:
        """A request of the rig that it waits for others with."""
        entry = self.take("post", plain([qp.handle, requests, False]))
        if entry is not None:
            number: int = self.given(entry)
            return number
        self._must_have_waited("a request of the rig that the run did not have")
        position = self._here()
        position.bring_forward({qp.handle, position.peers.get(qp.handle, qp).handle})
        failed = position.has_failed(qp)
        for request in requests:
            assert isinstance(request, (Send, Write))
            status, opcode = (FLUSH, "") if failed else (SUCCESS, "send" if isinstance(request, Send) else "rdma_write")
            position.queue(qp.handle, Completion(qp, "send", request.wr_id, status, opcode))
            far = position.peers.get(qp.handle)
            if isinstance(request, Send) and far is not None and self._received.get(far.handle):
                wr_id = self._received[far.handle].pop(0)
                status, opcode = (FLUSH, "") if failed else (SUCCESS, "recv")
                position.queue(far.handle, Completion(far, "recv", wr_id, status, opcode))
        return 0

    def own_receive(self, qp: Qp, wr_id: int) -> int:
        entry = self.take("post_recv", plain([qp.handle, wr_id, ()]))
        if entry is not None:
            number: int = self.given(entry)
            return number
        self._received.setdefault(qp.handle, []).append(wr_id)
        return 0

    def reconnect(self, pair: QpPair) -> QpPair:
        entry = self.take("reconnect", plain([pair]))
        if entry is None:
            self._must_have_waited("a reset that the run did not have")
            return pair
        fresh: QpPair = self.given(entry)
        self._here().connect(fresh)
        return fresh

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        position = self._here()
        entry = self.take("mkey_check", plain([mkey]))
        if entry is not None:
            self.given(entry)
            return gave_of(entry)  # type: ignore[no-any-return]
        before = None
        for one in position.entries[: position.at]:
            if one["call"] == "mkey_check" and one["args"] == plain([mkey]):
                before = one
            elif one["call"] not in MARKS | LOOKS | {"mkey_check"}:
                before = before if "own" in one else None
        if before is None:
            raise NotRecorded(f"{said({'call': 'mkey_check', 'args': []})}, and the run {self.went_on(position)}")
        return None


def _numbers(name: str, arguments: list[Any]) -> list[int]:
    """The numbers of the requests that are posted."""
    if name == "post_recv":
        return [arguments[1]]
    return [
        members[0] for request in arguments[1] for kind, members in request.items() if kind != "StraySetter"
    ]  # fmt: skip


RIGS = 1 << 32
"""Numbers from here on are the rig's: how many it has given before depends on what came."""


def _nameless(name: str, arguments: list[Any]) -> list[Any]:
    """The arguments without the numbers that are the rig's."""
    if name == "post_recv":
        return [arguments[0], _case_number(arguments[1]), *arguments[2:]]
    requests = [
        {kind: members if kind == "StraySetter" else [_case_number(members[0]), *members[1:]]}
        for request in arguments[1]
        for kind, members in request.items()
    ]
    return [arguments[0], requests, *arguments[2:]]


def _case_number(number: Any) -> Any:
    return None if isinstance(number, int) and number >= RIGS else number


def said(entry: Entry) -> str:
    """A call in words: its name, and of requests which."""
    name = entry["call"]
    arguments = entry.get("args", [])
    if name == "post" and len(arguments) > 1:
        kinds = [kind for request in arguments[1] for kind in request]
        return f"`post` of {', '.join(kinds[:4])}{' …' if len(kinds) > 4 else ''}"
    return f"`{name}`"
