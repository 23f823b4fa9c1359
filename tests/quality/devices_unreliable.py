"""Devices whose unreliable connections lose messages, or completions of what has arrived."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mkeyspec.device.protocol import Completion, Send, WorkRequest, Write
from tests.quality.devices import device
from tests.quality.kinds_late import LateBytes
from tests.quality.tap import Disturbance, Held, Tap


def _length(request: Send | Write) -> int:
    return sum(sge.length for sge in request.sges)


def _type(tap: Tap, handle: int) -> str:
    return tap.record.types[tap.numbers[handle]].type


class LosesMessages(Disturbance):
    """Messages of `length` bytes on UC are lost, at most `most` of them: their requests succeed."""

    def __init__(self, length: int, most: int) -> None:
        super().__init__()
        self.length, self.left = length, most
        self.lost: dict[int, str] = {}

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name != "post" or _type(tap, args[0].handle) != "uc" or tap.given_back:
            return go()
        return tap.device.post(args[0], [self.instead(one) for one in args[1]], abort=tap.aborting)

    def instead(self, request: WorkRequest) -> WorkRequest:
        """An empty RDMA WRITE in the place of a message: it has a completion, and nobody receives it."""
        if not isinstance(request, (Send, Write)) or (isinstance(request, Write) and request.imm is None):
            return request
        if _length(request) != self.length or not self.left:
            return request
        self.done, self.left = True, self.left - 1
        self.lost[request.wr_id] = "send" if isinstance(request, Send) else "rdma_write"
        return Write(request.wr_id, request.flags, (), 0, 0, None, None)

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        lost = queue == "send" and completion.wr_id in self.lost
        return (Held(replace(completion, opcode=self.lost[completion.wr_id]) if lost else completion),)


device("loses_its_first_message")(partial(LosesMessages, 64, 1))
device("loses_every_message")(partial(LosesMessages, 64, 99))
device("loses_an_empty_message")(partial(LosesMessages, 0, 1))
device("loses_every_empty_message")(partial(LosesMessages, 0, 99))


class ReceiveFails(Disturbance):
    """The completion of the first receive is an error; its bytes are there, and its request has succeeded."""

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if queue != "recv" or self.done or tap.given_back:
            return (Held(completion),)
        self.done = True
        return (Held(replace(completion, status="loc_prot_err")),)


device("its_first_receive_fails")(ReceiveFails)


class ReceivesUntold(Disturbance):
    """Receives that a UC message of `length` bytes has taken have no completion, but for the first `told`."""

    def __init__(self, length: int, told: int = 0) -> None:
        super().__init__()
        self.length, self.told = length, told

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        of = completion.byte_len == self.length and completion.status == "success"
        if queue != "recv" or not of or _type(tap, completion.qp.handle) != "uc" or tap.given_back:
            return (Held(completion),)
        self.told -= 1
        if self.told >= 0:
            return (Held(completion),)
        self.done = True
        return ()


device("tells_no_receive")(partial(ReceivesUntold, 64))
device("tells_one_receive")(partial(ReceivesUntold, 64, 1))
device("tells_no_receive_of_an_empty_message")(partial(ReceivesUntold, 0))


class PostsNoReceive(Disturbance):
    """The receive of the given number on UC is not there, though ibv_post_recv has returned 0. `empty`: those without
    a buffer alone."""

    def __init__(self, *, empty: bool) -> None:
        super().__init__()
        self.empty = empty

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name != "post_recv" or _type(tap, args[0].handle) != "uc" or bool(args[2]) is self.empty or tap.given_back:
            return go()
        self.done = True
        return 0


device("posts_no_receive")(partial(PostsNoReceive, empty=False))
device("posts_no_empty_receive")(partial(PostsNoReceive, empty=True))


class LastReceiveFirst(Disturbance):
    """Of two receives on UC, a message takes the later one."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Callable[[], Any]] = []

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name == "post_recv" and _type(tap, args[0].handle) == "uc" and not self.done and not self.kept:
            self.kept.append(go)
            return 0
        found = go()
        if name == "post_recv" and self.kept:
            self.done = True
            self.kept.pop()()
        return found


device("takes_the_last_receive_first")(LastReceiveFirst)
device("writes_arrive_with_a_message")(partial(LateBytes, lambda of: of == "uc", 1.0))
