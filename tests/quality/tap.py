"""A device between the rig and a real one: every call passes through it, is numbered, and may be disturbed.

A `Disturbance` has one hook for each way in which a device can be wrong. Those that it does not override change
nothing. Objects are named by the order in which they were made, completions by their place in their own completion
queue, so that the same place is found again in another run and on another device.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from mkeyspec.device.protocol import (
    AsyncEvent,
    Capabilities,
    Completion,
    Dek,
    DekAttr,
    DekState,
    Device,
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
    Refused,
    Sge,
    Side,
    SignatureError,
    WorkRequest,
)

Bytes = npt.NDArray[np.uint8]


@dataclass(slots=True)
class Region:
    """A registered buffer, `step`: during which step it was made (-1: before the first)."""

    number: int
    memory: Memory
    step: int


@dataclass(slots=True)
class Call:
    """One call of the rig and its answer; `number` counts the calls of this name."""

    step: int
    name: str
    number: int
    args: tuple[Any, ...]
    options: dict[str, Any]
    result: Any


@dataclass(slots=True)
class Seen:
    """A completion as the device gave it: the `place`-th of its queue, `qp` is the number of its QP."""

    step: int
    qp: int
    queue: str
    place: int
    completion: Completion


@dataclass(slots=True)
class Record:
    """What a run showed, in order."""

    calls: list[Call] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    mkeys: list[tuple[int, Mkey, int]] = field(default_factory=list)
    """Step, mkey, create flags."""
    events: list[tuple[int, AsyncEvent]] = field(default_factory=list)
    pairs: list[tuple[int, int, int]] = field(default_factory=list)
    """Step, and the numbers of both ends."""
    types: dict[int, QpAttributes] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    """QPs' numbers, by handle."""
    images: list[bytes] = field(default_factory=list)
    """All regions when the case's objects are given back."""

    def named(self, name: str) -> list[Call]:
        return [call for call in self.calls if call.name == name]


@dataclass(slots=True)
class Held:
    """A completion that the wrapper has and has not told.

    It is the queue's first until `polls` polls have gone by, and the clock is at `since` (monotonic seconds).
    """

    completion: Completion
    polls: int = 0
    since: float = 0.0


class Disturbance:
    """What is done wrong, and whether it was done. The base class does nothing."""

    def __init__(self) -> None:
        self.done = False

    def boundary(self, tap: Tap, step: int) -> None:
        """Between two steps: `step` is the next one, the number of steps stands for the end of the case."""

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        """A call but for poll. `go` makes it."""
        return go()

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        """A completion reaches its queue; what is put there in its stead."""
        return (Held(completion),)

    def polled(self, tap: Tap, qp: int, found: list[Completion]) -> list[Completion]:
        """What a poll is about to tell."""
        return found

    def events(self, tap: Tap, found: list[AsyncEvent]) -> list[AsyncEvent]:
        return found


class Tap:
    """A `protocol.Device` around another. `keep`: record every call, and the images at the end."""

    def __init__(self, device: Device, disturbance: Disturbance | None = None, *, keep: bool = False) -> None:
        self.device = device
        self.disturbance = disturbance if disturbance is not None else Disturbance()
        self.keep = keep
        self.record = Record()
        self.step = -1
        self.counts: dict[str, int] = {}
        self.numbers = self.record.numbers
        self.qps: list[Qp] = []
        self.queues: dict[tuple[int, str], deque[Held]] = {}
        self.places: dict[tuple[int, str], int] = {}
        self.polls = 0
        self.gone: set[int] = set()
        """Handles of QPs that others have taken the place of: nothing comes from them any more."""
        self.given_back = False
        """The case is over: what follows is the rig's canary, and nothing of the row."""
        self.posted: dict[int, list[int]] = {}
        """wr_ids by QP handle."""
        self.aborting = False
        """Whether the section that is posted is aborted."""

    # Steps -----------------------------------------------------------------------------------

    def begin(self, step: int) -> None:
        """The next step is the `step`-th."""
        self.disturbance.boundary(self, step)
        self.step = step

    # Calls -----------------------------------------------------------------------------------

    def _call(self, name: str, method: Callable[..., Any], *args: Any, **options: Any) -> Any:
        number = self.counts.get(name, 0)
        self.counts[name] = number + 1
        result: Any = None
        try:
            result = self.disturbance.call(self, name, number, lambda: method(*args, **options), args)
        except Refused as refused:
            result = refused
            raise
        finally:
            if self.keep and not self.given_back and name not in ("read", "write"):
                self.record.calls.append(Call(self.step, name, number, args, options, result))
        return result

    def info(self) -> Info:
        return self.device.info()

    def capabilities(self) -> Capabilities:
        return self.device.capabilities()

    def pd(self, side: Side) -> Pd:
        found: Pd = self._call("pd", self.device.pd, side)
        return found

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        found: Memory = self._call(
            "memory", self.device.memory, side, length, access=access, misaligned=misaligned, pd=pd
        )
        if not self.given_back:
            self.record.regions.append(Region(len(self.record.regions), found, self.step))
        return found

    def write(self, memory: Memory, offset: int, data: bytes | Bytes) -> None:
        self._call("write", self.device.write, memory, offset, data)

    def read(self, memory: Memory, offset: int, length: int) -> Bytes:
        found: Bytes = self._call("read", self.device.read, memory, offset, length)
        return found

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        found: Mkey = self._call(
            "mkey", self.device.mkey, side, create_flags=create_flags, max_entries=max_entries, pd=pd
        )
        self.record.mkeys.append((self.step, found, create_flags))
        return found

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        found: Mkey = self._call("retag", self.device.retag, mkey, tag)
        return found

    def destroy(self, mkey: Mkey) -> None:
        self._call("destroy", self.device.destroy, mkey)

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        found: SignatureError | None = self._call("mkey_check", self.device.mkey_check, mkey)
        return found

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        found: QpPair = self._call("qp_pair", self.device.qp_pair, attributes)
        self._know(found, attributes)
        return found

    def reconnect(self, pair: QpPair) -> QpPair:
        for qp in (pair.owner, pair.peer):
            for queue in ("send", "recv"):
                self.queues.pop((qp.handle, queue), None)
        found: QpPair = self._call("reconnect", self.device.reconnect, pair)
        self.gone |= {pair.owner.handle, pair.peer.handle} - {found.owner.handle, found.peer.handle}
        self._know(found, self.record.types.get(self.numbers[pair.owner.handle], QpAttributes()))
        return found

    def _know(self, pair: QpPair, attributes: QpAttributes) -> None:
        for qp in (pair.owner, pair.peer):
            if qp.handle not in self.numbers:
                self.numbers[qp.handle] = len(self.qps)
                self.qps.append(qp)
            self.record.types[self.numbers[qp.handle]] = attributes
        if self.given_back:
            return
        self.record.pairs.append((self.step, self.numbers[pair.owner.handle], self.numbers[pair.peer.handle]))

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        self.posted.setdefault(qp.handle, []).extend(one.wr_id for one in requests if hasattr(one, "wr_id"))
        self.aborting = abort
        found: int = self._call("post", self.device.post, qp, requests, abort=abort)
        return found

    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        found: int = self._call("post_recv", self.device.post_recv, qp, wr_id, sges)
        return found

    def cancel(self, qp: Qp, wr_id: int) -> int:
        found: int = self._call("cancel", self.device.cancel, qp, wr_id)
        return found

    def resume(self, qp: Qp) -> int:
        found: int = self._call("resume", self.device.resume, qp)
        return found

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        given = () if attr is None else (attr,)
        found: Dek = self._call("dek", self.device.dek, key, keytag, *given)
        return found

    def query_dek(self, dek: Dek) -> DekState:
        found: DekState = self._call("query_dek", self.device.query_dek, dek)
        return found

    def destroy_dek(self, dek: Dek) -> None:
        self._call("destroy_dek", self.device.destroy_dek, dek)

    def lab_login(self) -> LabLogin:
        return self.device.lab_login()

    def login(self, attr: LoginAttr) -> None:
        self._call("login", self.device.login, attr)

    def login_state(self) -> int:
        found: int = self._call("login_state", self.device.login_state)
        return found

    def logout(self) -> None:
        self._call("logout", self.device.logout)

    def login_object(self, attr: LoginAttr) -> Login:
        found: Login = self._call("login_object", self.device.login_object, attr)
        return found

    def query_login(self, login: Login) -> int:
        found: int = self._call("query_login", self.device.query_login, login)
        return found

    def destroy_login(self, login: Login) -> None:
        self._call("destroy_login", self.device.destroy_login, login)

    def dct(self, key: int) -> int:
        found: int = self._call("dct", self.device.dct, key)
        return found

    def release(self, *, healthy: bool) -> None:
        if self.keep and not self.given_back:
            self.record.images = self.images()
        self._call("release", self.device.release, healthy=healthy)
        self.given_back = True
        self.queues.clear()

    def close(self) -> None:
        self._call("close", self.device.close)

    # What comes back -------------------------------------------------------------------------

    def poll(self, qp: Qp) -> list[Completion]:
        """Each queue's completions in the order in which they came; between the two queues that of the device."""
        self.polls += 1
        number = self.numbers[qp.handle]
        for completion in self._call("poll", self.device.poll, qp):
            self.arrived(number, qp.handle, completion)
        found: list[Completion] = []
        for queue in ("send", "recv"):
            held = self.queues.get((qp.handle, queue))
            while held and not held[0].polls and (not held[0].since or monotonic() >= held[0].since):
                found.append(held.popleft().completion)
            if held and held[0].polls:
                held[0].polls -= 1
        return self.disturbance.polled(self, number, found)

    def arrived(self, number: int, handle: int, completion: Completion) -> None:
        """A completion reaches its queue."""
        queue = completion.queue
        place = self.places.get((number, queue), 0)
        self.places[number, queue] = place + 1
        if not self.given_back:
            self.record.seen.append(Seen(self.step, number, queue, place, completion))
        for held in self.disturbance.arrive(self, number, queue, place, completion):
            self.put(handle, queue, held)

    def put(self, handle: int, queue: str, held: Held) -> None:
        """After everything else that is in this queue."""
        self.queues.setdefault((handle, queue), deque()).append(held)

    def events(self) -> list[AsyncEvent]:
        found: list[AsyncEvent] = self._call("events", self.device.events)
        self.record.events += [] if self.given_back else [(self.step, event) for event in found]
        return self.disturbance.events(self, found)

    # Bytes -----------------------------------------------------------------------------------

    def flip(self, region: int, offset: int, mask: int = 1) -> None:
        """Invert bits of one byte of a region, as the device alone can see to it."""
        memory = self.record.regions[region].memory
        byte = int(self.device.read(memory, offset, 1)[0])
        self.device.write(memory, offset, bytes([byte ^ mask]))

    def images(self) -> list[bytes]:
        """The bytes of all regions, in the order in which they were registered."""
        return [self.image(region) for region in self.record.regions]

    def image(self, region: Region) -> bytes:
        return self.device.read(region.memory, 0, region.memory.length).tobytes()
