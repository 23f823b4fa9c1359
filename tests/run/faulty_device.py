"""A device that makes the errors it is given: any real device, with one fault at a time put in between.

Every call is recorded in `calls`, so that tests can say what the rig asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

from mkeyspec.device.protocol import AsyncEvent, Completion, Device, Qp, Send, SignatureError, Write

Twist = Callable[[list[Completion]], list[Completion]]


class Crooked:
    """Wraps `device`. Set the members below to make it misbehave; they all do nothing by default."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.twist: Twist | None = None
        """Changes what `poll` returns."""
        self.silent = False
        """`poll` returns nothing."""
        self.dead: Exception | None = None
        """Every call but `release` and `close` raises this."""
        self.after_post: Callable[[Qp], None] | None = None
        """Called after every accepted section but the rig's markers: scribbles on memories."""
        self.errno: int | None = None
        """What `post` returns, without posting anything, but for markers."""
        self.record: SignatureError | None = None
        """What `mkey_check` says instead of the truth, once a case."""
        self.told = False
        self.sick = False
        """The canary transfer, which numbers its requests from 1, is disturbed as well."""
        self.stuck_events: list[AsyncEvent] = []
        self.memories: list[Any] = []
        self.released: list[bool] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.device, name)

        def call(*args: Any, **options: Any) -> Any:
            self.calls.append((name, args, options))
            if self.dead is not None and name not in ("release", "close", "capabilities", "info"):
                raise self.dead
            return method(*args, **options)

        return call

    def named(self, name: str) -> list[tuple[Any, ...]]:
        """Arguments of the calls of that name."""
        return [args for called, args, _ in self.calls if called == name]

    def memory(self, *args: Any, **options: Any) -> Any:
        memory = self.__getattr__("memory")(*args, **options)
        self.memories.append(memory)
        return memory

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if requests and getattr(requests[0], "wr_id", 0) in (1, 2) and not self.sick:
            healthy: int = self.__getattr__("post")(qp, requests, abort=abort)
            return healthy
        marker = all(isinstance(request, (Send, Write)) and not request.sges for request in requests)
        if self.errno is not None and not marker:
            self.calls.append(("post", (qp, requests), {"abort": abort}))
            return self.errno
        result: int = self.__getattr__("post")(qp, requests, abort=abort)
        if self.after_post is not None and not result and not marker:
            self.after_post(qp)
        return result

    def poll(self, qp: Qp) -> list[Completion]:
        found: list[Completion] = self.__getattr__("poll")(qp)
        if self.silent:
            return []
        return self.twist(found) if self.twist is not None and found else found

    def delay(self, seconds: float, late: Callable[[Completion], bool] = lambda completion: True) -> None:
        """Completions (those that are `late`) are reported this much later than they came, in order in each queue."""
        held: dict[int, list[tuple[float, Completion]]] = {}
        poll = self.device.poll

        def slow(qp: Qp) -> list[Completion]:
            queue = held.setdefault(qp.handle, [])
            now = monotonic()
            queue += [(now + (seconds if late(one) else 0), one) for one in poll(qp)]
            ready = [one for due, one in queue if due <= now]
            queue[:] = [(due, one) for due, one in queue if due > now]
            return self.twist(ready) if self.twist is not None and ready else ready

        self.poll = slow  # type: ignore[method-assign]

    def mkey_check(self, mkey: Any) -> SignatureError | None:
        found: SignatureError | None = self.__getattr__("mkey_check")(mkey)
        if self.record is None or self.told:
            return found
        self.told = True
        return self.record

    def events(self) -> list[AsyncEvent]:
        found, self.stuck_events = [*self.device.events(), *self.stuck_events], []
        return found

    def release(self, *, healthy: bool) -> None:
        self.released.append(healthy)
        self.told = False
        self.memories.clear()
        self.device.release(healthy=healthy)

    # Faults ----------------------------------------------------------------------------------

    def flip(self, index: int, offset: int) -> None:
        """Flip a bit of byte `offset` of the index-th memory that was registered (guards count)."""
        memory = self.memories[index]
        byte = int(self.device.read(memory, offset, 1)[0])
        self.device.write(memory, offset, bytes([byte ^ 1]))


def change(**members: Any) -> Twist:
    """Completions with other members; of those that arrive together only the last."""

    def twist(found: list[Completion]) -> list[Completion]:
        return [*found[:-1], replace(found[-1], **members)]

    return twist


def double(found: list[Completion]) -> list[Completion]:
    return [*found, found[-1]]
