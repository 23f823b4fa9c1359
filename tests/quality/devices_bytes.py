"""Devices that move bytes of requests which must not move any, and devices that keep what a failed message brought."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from errno import EINVAL
from functools import partial
from typing import Any

import numpy as np

from mkeyspec.device.protocol import (
    Atomic,
    Completion,
    Configure,
    Memory,
    MrList,
    Read,
    Send,
    SetList,
    Sge,
    WorkRequest,
    Write,
)
from tests.quality.devices import device
from tests.quality.subject import GUARD
from tests.quality.tap import Disturbance, Tap

TOUCHES = frozenset({"events", "post", "post_recv", "write", "memory", "reconnect"})
"""Calls before which a late device does what it has kept."""

WRONG = 0xFF00
"""How a case spoils the index of a key."""


class Memories:
    """Where addresses and keys are, as a device knows it that asks for no right and looks at no bound."""

    def __init__(self) -> None:
        self.layouts: dict[int, tuple[Sge, ...]] = {}
        """Of each configured key, by its index."""

    def learn(self, requests: Sequence[WorkRequest]) -> None:
        for request in requests:
            if isinstance(request, MrList):
                self.layouts[request.mkey.rkey >> 8] = request.sges
            for setter in request.setters if isinstance(request, Configure) else ():
                if isinstance(setter, SetList):
                    self.layouts[request.mkey.rkey >> 8] = setter.sges  # type: ignore[union-attr]

    def pieces(self, tap: Tap, sges: Sequence[Sge]) -> Iterator[tuple[Memory, int, int]]:
        """(memory, offset, length) of these bytes, in order."""
        for sge in sges:
            layout = self.layouts.get(sge.lkey >> 8, self.layouts.get((sge.lkey ^ WRONG) >> 8))
            if layout is not None:
                yield from self.pieces(tap, list(_cut(layout, sge.addr, sge.length)))
                continue
            for region in tap.record.regions:
                start = sge.addr - region.memory.addr
                if 0 <= start < region.memory.length:
                    yield region.memory, start, min(sge.length, region.memory.length - start)

    def move(self, tap: Tap, source: Sequence[Sge], target: Sequence[Sge]) -> bool:
        """Whether there was anything to move."""
        data = b"".join(tap.device.read(*piece).tobytes() for piece in self.pieces(tap, source))
        moved = False
        for memory, start, length in self.pieces(tap, target):
            part, data = data[:length], data[length:]
            tap.device.write(memory, start, part)
            moved = moved or bool(part)
        return moved


def _cut(sges: Sequence[Sge], first: int, length: int) -> Iterator[Sge]:
    for sge in sges:
        skipped = min(first, sge.length)
        count = min(length, sge.length - skipped)
        if count:
            yield Sge(sge.addr + skipped, count, sge.lkey)
        first, length = first - skipped, length - count


Chosen = Callable[[Tap, Sequence[WorkRequest], int], Sequence[WorkRequest]]
"""Of a section, and what the driver returned for it: the requests that the device carries out once more."""


class Carries(Disturbance):
    """Moves the bytes of some requests, whatever their keys and rights are, beside what the model does. `late`: not
    before the next call that changes something."""

    def __init__(self, chosen: Chosen, *, late: bool = False) -> None:
        super().__init__()
        self.chosen, self.late = chosen, late
        self.memories = Memories()
        self.receives: dict[int, list[tuple[Sge, ...]]] = {}
        self.ends: dict[int, int] = {}
        self.kept: list[tuple[Sequence[Sge], Sequence[Sge]]] = []

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name in TOUCHES and not tap.given_back:
            self.move(tap)
        if name == "post_recv":
            self.receives.setdefault(args[0].handle, []).append(args[2])
        if name != "post":
            result = go()
            if name in ("qp_pair", "reconnect"):
                self.ends[result.owner.handle], self.ends[result.peer.handle] = result.peer.handle, result.owner.handle
            return result
        self.memories.learn(args[1])
        result = go()
        if tap.given_back:
            return result
        far = self.receives.get(self.ends.get(args[0].handle, 0), [])
        self.kept += [(here, there) for one in self.chosen(tap, args[1], result) for here, there in _moves(one, far)]
        if not self.late:
            self.move(tap)
        return result

    def move(self, tap: Tap) -> None:
        kept, self.kept = self.kept, []
        for source, target in kept:
            self.done |= self.memories.move(tap, source, target)


def _moves(request: WorkRequest, receives: Sequence[tuple[Sge, ...]]) -> Iterator[tuple[Sequence[Sge], Sequence[Sge]]]:
    """From where to where a request moves bytes; a SEND into the last receive that was posted."""
    if isinstance(request, Send) and receives:
        yield request.sges, receives[-1]
    if isinstance(request, Atomic):
        yield (request.sge,), (replace(request.sge, addr=request.remote_addr, lkey=request.rkey),)
    if isinstance(request, (Write, Read)):
        length = sum(sge.length for sge in request.sges)
        far = (Sge(request.remote_addr, length, request.rkey),)
        yield (request.sges, far) if isinstance(request, Write) else (far, request.sges)


def aborted(tap: Tap, requests: Sequence[WorkRequest], errno: int) -> Sequence[WorkRequest]:
    return requests if tap.aborting else ()


def refused(tap: Tap, requests: Sequence[WorkRequest], errno: int) -> Sequence[WorkRequest]:
    return requests if errno else ()


def all_that_wait(tap: Tap, requests: Sequence[WorkRequest], errno: int) -> Sequence[WorkRequest]:
    return () if errno or tap.aborting else requests


def after_the_first(tap: Tap, requests: Sequence[WorkRequest], errno: int) -> Sequence[WorkRequest]:
    return () if errno or tap.aborting else requests[1:]


def second(tap: Tap, requests: Sequence[WorkRequest], errno: int) -> Sequence[WorkRequest]:
    return requests[1:2] if len(requests) > 2 else ()


device("carries_out_second")(partial(Carries, second))
CHOSEN = {"aborted": aborted, "refused": refused, "failed": all_that_wait, "flushed": after_the_first}
for _name, _chosen in CHOSEN.items():
    device(f"carries_out_{_name}")(partial(Carries, _chosen))
    device(f"carries_out_{_name}_late")(partial(Carries, _chosen, late=True))


class Refuses(Carries):
    """The driver refuses each section with a configuration (X-DIFF-08); `completes`: and tells a completion of it;
    `elsewhere`: and changes the first byte of the first buffer."""

    def __init__(self, chosen: Chosen, *, late: bool = False, completes: bool = False, elsewhere: bool = False) -> None:
        super().__init__(chosen, late=late)
        self.completes, self.elsewhere = completes, elsewhere

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name != "post" or tap.aborting or not any(isinstance(one, Configure) for one in args[1]):
            return super().call(tap, name, number, go, args)
        self.done = True
        found = super().call(tap, name, number, lambda: EINVAL, args)
        if self.completes:
            request = args[1][-1]
            tap.arrived(
                tap.numbers[args[0].handle], args[0].handle, Completion(args[0], "send", request.wr_id, "success")
            )
        if self.elsewhere:
            tap.flip(0, GUARD)
        return found


def nothing(tap: Tap, requests: Sequence[WorkRequest], errno: int) -> Sequence[WorkRequest]:
    return ()


device("refuses_configurations")(partial(Refuses, nothing))
device("refuses_and_carries_out")(partial(Refuses, refused))
device("refuses_and_carries_out_late")(partial(Refuses, refused, late=True))
device("refuses_and_carries_out_aborted")(partial(Refuses, aborted))
device("refuses_and_completes")(partial(Refuses, nothing, completes=True))
device("refuses_and_writes_elsewhere")(partial(Refuses, nothing, elsewhere=True))


class Answers(Disturbance):
    """A call has another answer; `change` makes it of the right one and of the arguments."""

    def __init__(self, name: str, change: Callable[[Any, tuple[Any, ...]], Any]) -> None:
        super().__init__()
        self.name, self.change = name, change

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        found = go()
        if name != self.name or tap.given_back:
            return found
        self.done = True
        return self.change(found, args)


def aligned(memory: Memory, args: tuple[Any, ...]) -> Memory:
    return replace(memory, addr=memory.addr // 64 * 64)


RETAGS: dict[str, Callable[[Any, tuple[Any, ...]], Any]] = {
    "not": lambda mkey, args: args[0],
    "otherwise": lambda mkey, args: replace(mkey, lkey=mkey.lkey ^ 1, rkey=mkey.rkey ^ 1),
    "the_index": lambda mkey, args: replace(mkey, lkey=mkey.lkey ^ 0x100, rkey=mkey.rkey ^ 0x100),
    "the_rkey_alone": lambda mkey, args: replace(mkey, lkey=args[0].lkey),
}
for _name, _change in RETAGS.items():
    device(f"retags_{_name}")(partial(Answers, "retag", _change))
device("aligns_memory")(partial(Answers, "memory", aligned))
device("registers_less")(partial(Answers, "memory", lambda memory, args: replace(memory, length=memory.length - 1)))


class Again(Disturbance):
    """A call that makes an object gives the first one again. `member`: it gives another one, with this member of the
    first."""

    def __init__(self, name: str, member: str = "") -> None:
        super().__init__()
        self.name, self.member = name, member
        self.first: Any = None

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name != self.name or tap.given_back:
            return go()
        if self.first is None:
            self.first = go()
            return self.first
        self.done = True
        return replace(go(), **{self.member: getattr(self.first, self.member)}) if self.member else self.first


for _name in ("mkey", "memory", "pd", "dek", "dct"):
    device(f"gives_the_first_{_name}_again")(partial(Again, _name))
device("gives_the_first_lkey_again")(partial(Again, "mkey", "lkey"))


class OneScratchBuffer(Disturbance):
    """What `read` gives is a view of one buffer, which the next read fills again."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch = np.zeros(1 << 16, np.uint8)

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        found = go()
        if name != "read" or len(found) > len(self.scratch):
            return found
        self.done = True
        self.scratch[: len(found)] = found
        return self.scratch[: len(found)]


device("one_scratch_buffer")(OneScratchBuffer)
