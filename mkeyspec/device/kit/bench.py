"""A device under test: each call is timed, and what it returns and raises is checked against the protocol."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from time import monotonic, sleep
from typing import Any, NoReturn

import numpy as np
import pytest

from mkeyspec.abi.constants import MR_ACCESS, QP_EVENTS, WC_OPCODE, WC_STATUS, Access, SendFlag
from mkeyspec.device.protocol import (
    AsyncEvent,
    Capabilities,
    Completion,
    Dek,
    DekState,
    Device,
    Info,
    LabLogin,
    Login,
    Memory,
    Mkey,
    NoSuchCall,
    Pd,
    Qp,
    QpAttributes,
    QpPair,
    Refused,
    Send,
    Sge,
    SignatureError,
    Unsupported,
    WorkRequest,
)

CODE = "MKS0945"
LONGEST = 1.0
"""Seconds. A call that does not wait returns sooner, also on a machine that is busy."""
SIGNALED = int(SendFlag.SIGNALED)
ACCESS = int(MR_ACCESS)
KEY_ACCESS = ACCESS & ~int(Access.REMOTE_ATOMIC)
"""Of mkeys: a device may not take that right in a configuration."""

_STATES = frozenset(WC_STATUS)
_OPCODES = frozenset(WC_OPCODE.values())
_ANSWERS: dict[str, type[Any] | tuple[type[Any], ...]] = {
    "info": Info, "capabilities": Capabilities, "pd": Pd, "memory": Memory, "write": type(None), "read": np.ndarray,
    "mkey": Mkey, "retag": Mkey, "destroy": type(None), "mkey_check": (SignatureError, type(None)),
    "qp_pair": QpPair, "post": int, "post_recv": int, "poll": list, "events": list, "cancel": int, "resume": int,
    "dek": Dek, "query_dek": DekState, "destroy_dek": type(None), "lab_login": LabLogin, "login": type(None),
    "login_state": int, "logout": type(None), "login_object": Login, "query_login": int, "destroy_login": type(None),
    "dct": int, "reconnect": QpPair, "release": type(None), "close": type(None),
}  # fmt: skip
"""Of each call: the class of what it returns."""


def fail(what: str, protocol: str, *more: tuple[str, str]) -> NoReturn:
    """Fail the test. `protocol`: the sentence of the protocol that the device doesn't keep to."""
    lines = [f"error[{CODE}]: {what}", f"    protocol  {protocol}"]
    lines += [f"    {label:<9} {text}" for label, text in more]
    pytest.fail("\n".join(lines), pytrace=False)


class Watched:
    """A device whose calls are checked; what they return and raise is passed on."""

    def __init__(self, device: Device, longest: float = LONGEST) -> None:
        self._device = device
        self._longest = longest
        self.may_refuse = False
        """Whether what is asked for may be refused; if not, it is right and offered."""

    def __getattr__(self, call: str) -> Callable[..., Any]:
        if call not in _ANSWERS:
            raise AttributeError(call)
        return partial(self._call, call)

    def _call(self, call: str, *arguments: Any, **options: Any) -> Any:
        began = monotonic()
        try:
            answer = getattr(self._device, call)(*arguments, **options)
        except Refused as refused:
            if type(refused.errno) is not int or refused.errno <= 0 or not isinstance(refused.call, str):
                what = f"{call}() raises Refused({refused.call!r}, {refused.errno!r})"
                fail(what, "`Refused` has the name of a call and a positive errno", *_raised(refused))
            self._refused(call, refused)
            raise
        except (Unsupported, NoSuchCall) as error:
            self._refused(call, error)
            raise
        except Exception as error:
            what = f"{call}() raises {type(error).__name__}: {error}"
            fail(what, "a call raises Refused, Unsupported or NoSuchCall, and nothing else", *_raised(error))
        took = monotonic() - began
        if took > self._longest:
            fail(f"{call}() took {took:.1f} s", "no call waits; the rig asks again until its deadline")
        wrong = _wrong_answer(call, answer)
        if wrong:
            fail(f"{call}() gives {wrong}", "each call returns what `Device` declares")
        return answer

    def _refused(self, call: str, error: Exception) -> None:
        if not self.may_refuse:
            what = f"{call}() raises {type(error).__name__}: {error}"
            fail(what, "what is right, and offered, is not refused", *_raised(error))


def _raised(error: BaseException) -> list[tuple[str, str]]:
    frames = traceback.extract_tb(error.__traceback__)
    return [("raised", f"{frames[-1].filename}:{frames[-1].lineno}")] if frames else []


def _wrong_answer(call: str, answer: Any) -> str:
    wanted = _ANSWERS[call]
    if not isinstance(answer, wanted) or isinstance(answer, bool):
        names = " or ".join(one.__name__ for one in (wanted if isinstance(wanted, tuple) else (wanted,)))
        return f"{type(answer).__name__}, not {names.replace('NoneType', 'None')}"
    if call == "read" and (answer.dtype != np.uint8 or answer.ndim != 1):
        return f"an array of {answer.dtype} with {answer.ndim} dimensions, not bytes in a row"
    if call == "poll":
        return next(filter(None, map(_wrong_completion, answer)), "")
    if call == "events":
        return next((f"an event {one!r}" for one in answer if not _is_event(one)), "")
    return ""


def _wrong_completion(one: Any) -> str:
    if not isinstance(one, Completion):
        return f"a list with {type(one).__name__}, not Completion"
    if one.status not in _STATES:
        return f"the status {one.status!r}, which is not a name of `constants.WC_STATUS`"
    if one.status == "success" and one.opcode not in _OPCODES:
        return f"the opcode {one.opcode!r}, which is not a name of `constants.WC_OPCODE`"
    if one.queue not in ("send", "recv") or type(one.wr_id) is not int:
        return f"queue {one.queue!r} and wr_id {one.wr_id!r}"
    return ""


def _is_event(one: Any) -> bool:
    return isinstance(one, AsyncEvent) and isinstance(one.kind, str) and (one.qp is None) == (one.kind not in QP_EVENTS)


class Bench:
    """What a test has: the device, and how it is driven. `open_again` opens the device that was closed."""

    def __init__(
        self, device: Device, deadline: float, open_again: Callable[[], Device], longest: float = LONGEST
    ) -> None:
        self.deadline = deadline
        self._open_again = open_again
        self._longest = longest
        self.opened = device
        self.device: Any = Watched(device, longest)

    def open_again(self) -> None:
        """Open the device once more, after it was closed, and go on with that one."""
        self.opened = self._open_again()
        self.device = Watched(self.opened, self._longest)

    def offers(self, name: str) -> bool:
        return name in self.device.capabilities().offers

    def refused(self, call: Callable[[], object], what: str) -> None:
        """The call must raise Refused or NoSuchCall."""
        self.device.may_refuse = True
        try:
            got = call()
        except (Refused, NoSuchCall):
            return
        except Unsupported as error:
            fail(f"{what} raises Unsupported: {error}", "`Unsupported` is for what the device does not offer")
        finally:
            self.device.may_refuse = False
        fail(f"{what} gives {got!r}", "what can't be done is refused: the call raises `Refused`, or `NoSuchCall`")

    def pair(self, **attributes: Any) -> QpPair:
        pair: QpPair = self.device.qp_pair(QpAttributes(**attributes))
        return pair

    def memory(self, side: str, data: bytes, **options: Any) -> Memory:
        """A registered buffer with these bytes."""
        memory: Memory = self.device.memory(side, len(data), access=ACCESS, **options)
        self.device.write(memory, 0, data)
        return memory

    def completions(self, qp: Qp, count: int) -> list[Completion]:
        """So many completions of a QP, which come before the deadline; more, if there are more at once."""
        found: list[Completion] = []
        end = monotonic() + self.deadline
        while True:
            late = monotonic() >= end
            found += self.device.poll(qp)
            if len(found) >= count:
                return found
            if late:
                what = f"{len(found)} completions of {count} came within {self.deadline:g} s"
                fail(what, "the work of a request is done, and reported by `poll`, without any other call")
            sleep(1e-4)

    def quiet(self, qp: Qp) -> list[Completion]:
        """What comes on a QP where nothing should."""
        found: list[Completion] = []
        for _ in range(20):
            found += self.device.poll(qp)
            sleep(1e-3)
        return found

    def post(self, qp: Qp, *requests: WorkRequest) -> None:
        """Post requests that are right."""
        number = self.device.post(qp, requests)
        if number:
            fail(f"post() gives errno {number} for {requests[0]}", "what is right, and offered, is posted")

    def done(self, qp: Qp, request: WorkRequest) -> Completion:
        """Carry out one signaled request; it must succeed."""
        self.post(qp, request)
        found = self.completions(qp, 1)
        if [one.status for one in found] != ["success"]:
            fail(f"{request} ends with {found}", "what is right, and offered, is carried out, with one completion")
        return found[0]

    def content(self, memory: Memory, data: bytes) -> None:
        """The bytes arrive: now, or before the deadline."""
        end = monotonic() + self.deadline
        while True:
            late = monotonic() >= end
            got = self.device.read(memory, 0, len(data)).tobytes()
            if got == data:
                return
            if late:
                fail(f"read() gives {_hex(got)}, not {_hex(data)}", "a request moves the bytes that it names")
            sleep(1e-3)

    def transfer(self, pair: QpPair, data: bytes = bytes(range(64))) -> None:
        """A message from the owner to the peer, with its bytes and both completions."""
        source, target = self.memory("owner", data), self.memory("peer", bytes(len(data)))
        if number := self.device.post_recv(pair.peer, 0x5E, [sge(target)]):
            fail(f"post_recv() gives errno {number}", "a receive is posted on a QP that is connected")
        self.post(pair.owner, Send(0xA5, SIGNALED, (sge(source),)))
        sent, received = self.completions(pair.owner, 1), self.completions(pair.peer, 1)
        wanted = [("send", 0xA5, "success", "send"), ("recv", 0x5E, "success", "recv")]
        got = [(one.queue, one.wr_id, one.status, one.opcode) for one in (*sent, *received)]
        if got != wanted:
            fail(f"a message completes with {got}, not {wanted}", "one completion at each end, with its wr_id")
        if [one.qp for one in (*sent, *received)] != [pair.owner, pair.peer]:
            fail("a completion is of another QP", "`Completion.qp` is the QP that `qp_pair` gave")
        if received[0].byte_len != len(data):
            fail(f"byte_len is {received[0].byte_len}, not {len(data)}", "a receive reports how many bytes came")
        self.content(target, data)


def sge(memory: Memory) -> Sge:
    """The whole buffer."""
    return Sge(memory.addr, memory.length, memory.lkey)


def _hex(data: bytes) -> str:
    return data[:16].hex() + ("…" if len(data) > 16 else "")
