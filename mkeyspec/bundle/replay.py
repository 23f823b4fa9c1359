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

import numpy as np
import numpy.typing as npt

from mkeyspec.bundle.entries import END, LOOKS, MARKS, QUIET, RAN_OUT, Entry, gave_of
from mkeyspec.bundle.position import SKIPPED, Position
from mkeyspec.bundle.reader import Bundle
from mkeyspec.bundle.recorder import dek_arguments, sha256, without_secrets
from mkeyspec.bundle.values import error_of, plain
from mkeyspec.device.protocol import (
    AsyncEvent,
    Capabilities,
    Completion,
    Dek,
    DekAttr,
    DekState,
    Info,
    LabLogin,
    Login,
    LoginAttr,
    Memory,
    Mkey,
    Pd,
    Qp,
    QpAttributes,
    QpPair,
    Send,
    Sge,
    Side,
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


class Replayed:
    """A `protocol.Device` that answers from a bundle."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def info(self) -> Info:
        return self.replay.bundle.info()

    def capabilities(self) -> Capabilities:
        return self.replay.bundle.capabilities()

    def pd(self, side: Side) -> Pd:
        return self._gave(Pd, "pd", side)

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        memory = self._gave(Memory, "memory", side, length, access, misaligned, pd)
        self._position.images[memory.handle] = np.zeros(length, np.uint8)
        return memory

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        data = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
        self._call("write", memory.handle, offset, len(data), sha256(data))
        image = self._position.images.get(memory.handle)
        if image is not None:
            image[offset : offset + len(data)] = data

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        found = self._position.read(memory.handle, offset, length)
        if found is None:
            raise NotRecorded("a `read` of bytes, and the run did not look at them there")
        return found

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        return self._gave(Mkey, "mkey", side, create_flags, max_entries, pd)

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        return self._gave(Mkey, "retag", mkey, tag)

    def destroy(self, mkey: Mkey) -> None:
        self._call("destroy", mkey)

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        return self.replay.mkey_check(mkey)

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        pair = self._gave(QpPair, "qp_pair", attributes)
        self._position.connect(pair)
        return pair

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        if self.replay.own:
            return self.replay.own_post(qp, requests)
        return self._gave(int, "post", qp.handle, requests, abort)

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        if self.replay.own:
            return self.replay.own_receive(qp, wr_id)
        return self._gave(int, "post_recv", qp.handle, wr_id, sges)

    def poll(self, qp: Qp) -> list[Completion]:
        self.replay.looked_at.add(qp.handle)
        return self._position.poll(qp)

    def events(self) -> list[AsyncEvent]:
        position = self.replay.position
        if position is None:
            return []
        self.replay.looked_at.add(None)
        return position.events()

    def cancel(self, qp: Qp, wr_id: int) -> int:
        return self._gave(int, "cancel", qp.handle, wr_id)

    def resume(self, qp: Qp) -> int:
        return self._gave(int, "resume", qp.handle)

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        return self._gave(Dek, "dek", *dek_arguments(key, keytag, attr))

    def query_dek(self, dek: Dek) -> DekState:
        return self._gave(DekState, "query_dek", dek)

    def destroy_dek(self, dek: Dek) -> None:
        self._call("destroy_dek", dek)

    def lab_login(self) -> LabLogin:
        credential, length, kek, size = self._gave(list, "lab_login")
        return LabLogin(credential, bytes(length), kek, bytes(size))

    def login(self, attr: LoginAttr) -> None:
        self._call("login", *without_secrets(attr))

    def login_state(self) -> int:
        return self._gave(int, "login_state")

    def logout(self) -> None:
        self._call("logout")

    def login_object(self, attr: LoginAttr) -> Login:
        return self._gave(Login, "login_object", *without_secrets(attr))

    def query_login(self, login: Login) -> int:
        return self._gave(int, "query_login", login)

    def destroy_login(self, login: Login) -> None:
        self._call("destroy_login", login)

    def dct(self, key: int) -> int:
        return self._gave(int, "dct", key)

    def reconnect(self, pair: QpPair) -> QpPair:
        return self.replay.reconnect(pair)

    def release(self, *, healthy: bool) -> None:
        position = self.replay.position
        if position is None:
            return
        place = next((place for place, entry in position.following() if entry["call"] == "release"), None)
        if place is not None:
            position.cross(place)
            self.replay.given(position.entries[place])

    def close(self) -> None:
        pass

    @property
    def _position(self) -> Position:
        if self.replay.position is None:
            raise NotRecorded("a call outside of a row")
        return self.replay.position

    def _call(self, name: str, *arguments: Any) -> None:
        self.replay.call(name, arguments)

    def _gave(self, kind: type[Given], name: str, *arguments: Any) -> Given:
        gave = self.replay.call(name, arguments)
        assert isinstance(gave, kind)
        return gave
