"""A campaign: each fault in a process of its own, forked from one that has loaded the cases.

The device is opened in that process, so that it is new and has its fault from the beginning. A case that fails kills
the fault; so does one that never ends or takes the process with it.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import select
import signal
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import Blocked, CaseFailed
from mkeyspec.sabotage.catalogue import Fault
from mkeyspec.sabotage.suite import Item, outcome

MakeRig = Callable[[str], Rig]
"""A rig on a new device with the fault of this name; "" is none."""

_NONE = 0xFFFFFFFF


@dataclass(slots=True)
class Killed:
    """What became of one fault. `kills`: item (its place in the suite) to how: a code, `hang`, `crash` or `error`."""

    fault: str
    kills: dict[int, str] = field(default_factory=dict)
    ran: int = 0
    skipped: list[int] = field(default_factory=list)
    seconds: float = 0.0
    unopened: str = ""
    """Why the device could not be opened, if it could not."""

    def with_more(self, more: Killed) -> Killed:
        """This and what other items did to the same fault."""
        kills, skipped = {**self.kills, **more.kills}, [*self.skipped, *more.skipped]
        return Killed(self.fault, kills, self.ran + more.ran, skipped, self.seconds + more.seconds, more.unopened)


def baseline(items: Sequence[Item], make: MakeRig, deadline: float) -> Killed:
    """The suite against a device without any fault, in a process of its own as all others are."""
    return next(iter(campaign([""], items, lambda name: range(len(items)), make, 1, whole=True, deadline=deadline)))


def order(fault: Fault, items: Sequence[Item], first: frozenset[str] = frozenset()) -> list[int]:
    """The items by how likely they kill: those of the ledger's entries that the fault violates, `first` before others,
    and one row of every case before the second of any."""
    violated = set(fault.violates)

    def rank(number: int) -> tuple[bool, bool, int, int]:
        item = items[number]
        return not violated.intersection(item.info.verifies), item.id not in first, item.turn, number

    return sorted(range(len(items)), key=rank)


def campaign(
    names: Iterable[str],
    items: Sequence[Item],
    order_of: Callable[[str], Sequence[int]],
    make: MakeRig,
    workers: int,
    *,
    whole: bool,
    deadline: float,
) -> Iterator[Killed]:
    """The outcome of each fault as it is known. `whole`: every item, and not only up to the first kill.

    `deadline`: seconds after which an item that has not ended is a hang.
    """
    waiting = list(names)[::-1]
    running: dict[int, _Child] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                child = _Child(waiting.pop(), items, order_of, make, whole)
                running[child.pipe] = child
            ready, _, _ = select.select(list(running), [], [], 0.2)
            for pipe in ready:
                child = running[pipe]
                if child.read():
                    continue
                del running[pipe]
                result = child.end()
                if result is not None:
                    yield result
                else:  # it died: in the whole suite what is left runs in another process
                    running[child.pipe] = child
            for child in running.values():
                child.watch(deadline)
    finally:
        for child in running.values():
            child.kill()


class _Child:
    """A process that runs items against one fault; started again after an item that ended it."""

    def __init__(
        self, fault: str, items: Sequence[Item], order_of: Callable[[str], Sequence[int]], make: MakeRig, whole: bool
    ) -> None:
        self.result = Killed(fault)
        self.items = items
        self.left = list(order_of(fault))
        self.make = make
        self.whole = whole
        self.started = monotonic()
        self.place = mmap.mmap(-1, 4)
        self._start()

    def _start(self) -> None:
        self.at, self.since, self.why = _NONE, monotonic(), "crash"
        self.text = b""
        self.done = False
        self.place[:] = struct.pack("I", _NONE)
        sys.stdout.flush()
        sys.stderr.flush()
        self.pipe, into = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            code = 1
            try:
                os.close(self.pipe)
                with os.fdopen(into, "w") as tell:
                    self._run(tell.write, tell.flush)
                code = 0
            finally:
                os._exit(code)
        os.close(into)

    def _run(self, tell: Callable[[str], object], flush: Callable[[], None]) -> None:
        """In the child: a line for every item that did not pass."""
        for stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop, signal.SIG_DFL)
        try:
            rig = self.make(self.result.fault)
        except Exception as error:
            tell(json.dumps([_NONE, f"{type(error).__name__}: {error}"]) + "\n")
            return
        for number in self.left:
            self.place[:] = struct.pack("I", number)
            how = ""
            try:
                if outcome(self.items[number], rig) == "skip":
                    tell(json.dumps([number, "skip"]) + "\n")
            except CaseFailed as failed:
                how = failed.failures[0].code
            except Blocked:
                how = "blocked"
            except Exception as error:
                how = f"error: {type(error).__name__}"
            if how:
                tell(json.dumps([number, how]) + "\n")
                flush()
                if not self.whole:
                    break
                rig = self.again(rig)
        self.place[:] = struct.pack("I", _NONE)
        tell("[]\n")

    def again(self, rig: Rig) -> Rig:
        """A new device after an item that failed, so that the items that are left are judged by themselves."""
        with contextlib.suppress(Exception):
            rig.device.close()
        return self.make(self.result.fault)

    def read(self) -> bool:
        """Take what the child says; False when it has ended."""
        data = os.read(self.pipe, 65536)
        self.text += data
        return bool(data)

    def watch(self, deadline: float) -> None:
        at: int = struct.unpack("I", self.place[:])[0]
        if at != self.at:
            self.at, self.since = at, monotonic()
        elif monotonic() - self.since > deadline:
            self.why = "hang"
            os.kill(self.pid, signal.SIGKILL)

    def end(self) -> Killed | None:
        """The outcome; None where the child died and was started again for what is left."""
        os.close(self.pipe)
        os.waitpid(self.pid, 0)
        told: list[list[object]] = [json.loads(line) for line in self.text.decode().splitlines()]
        for line in told:
            if not line:
                continue
            number, how = line
            assert isinstance(number, int)
            assert isinstance(how, str)
            if number == _NONE:
                self.result.unopened = how
            elif how == "skip":
                self.result.skipped.append(number)
            else:
                self.result.kills[number] = how
        at: int = struct.unpack("I", self.place[:])[0]
        died = [] not in told
        if died and at != _NONE:
            self.result.kills[at] = self.why
        elif died:
            self.result.unopened = self.result.unopened or self.why
            self.result.kills[self.left[0]] = "unopened"
        self.result.seconds = monotonic() - self.started
        last = at if died else None
        if last in self.left:
            behind = self.left.index(last) + 1
            self.result.ran += behind
            self.left = self.left[behind:]
            if self.whole and self.left:
                self._start()
                return None
        else:
            self.result.ran += len(self.left)
        return self.result

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
