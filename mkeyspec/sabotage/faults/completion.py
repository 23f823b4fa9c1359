"""Faults of completions and of atomics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from mkeyspec.abi.constants import SendFlag
from mkeyspec.device.model.data_path import M32
from mkeyspec.device.model.queue import Done, Queue
from mkeyspec.device.model.transfer import SUCCESS, Transfer
from mkeyspec.device.protocol import CompareSwap, Completion, FetchAdd
from mkeyspec.sabotage.fault import fault

SIGNALED = int(SendFlag.SIGNALED)
UMR, MEMCPY = "driver1", "driver3"


class Sent(NamedTuple):
    """A request that is over."""

    wr_id: int
    flags: int
    status: str
    opcode: str
    byte_len: int


def _sent(name: str, change: Callable[[Sent], list[Sent]]) -> None:
    """The completions of a request that succeeded: as many times as `change` gives it."""

    @fault(name)
    class Mutant(Queue):
        def sent(self, wr_id: int, flags: int, status: str, opcode: str, byte_len: int = 0) -> None:
            given = Sent(wr_id, flags, status, opcode, byte_len)
            made = change(given) if status == SUCCESS else [given]
            for one in made:
                super().sent(*one)


def _lost(opcode: str) -> Callable[[Sent], list[Sent]]:
    return lambda sent: [] if sent.opcode == opcode else [sent]


def _twice(opcode: str) -> Callable[[Sent], list[Sent]]:
    return lambda sent: [sent, sent] if sent.opcode == opcode else [sent]


def _unsignaled(*opcodes: str) -> Callable[[Sent], list[Sent]]:
    return lambda sent: [sent._replace(flags=sent.flags | SIGNALED) if sent.opcode in opcodes else sent]


def _named(opcode: str, other: str) -> Callable[[Sent], list[Sent]]:
    return lambda sent: [sent._replace(opcode=other) if sent.opcode == opcode else sent]


_sent("umr_completion_lost", _lost(UMR))
_sent("umr_completion_twice", _twice(UMR))
_sent("umr_unsignaled_completes", _unsignaled(UMR))
_sent("umr_opcode", _named(UMR, "local_inv"))
_sent("data_completion_lost", _lost("rdma_write"))
_sent("data_completion_twice", _twice("send"))
_sent("data_unsignaled_completes", _unsignaled("send", "rdma_write", "rdma_read"))
_sent("write_opcode", _named("rdma_write", "send"))
_sent("memcpy_opcode", _named(MEMCPY, UMR))
_sent(
    "read_byte_len_short",
    lambda sent: [sent._replace(byte_len=sent.byte_len - 1) if sent.opcode == "rdma_read" else sent],
)


def _received(name: str, change: Callable[[Completion], Completion | None]) -> None:
    """The completion of a receive that succeeded; None: there is none."""

    @fault(name)
    class Mutant(Queue):
        def received(
            self,
            wr_id: int,
            status: str,
            opcode: str = "",
            byte_len: int = 0,
            imm: int | None = None,
            invalidated: int | None = None,
        ) -> None:
            super().received(wr_id, status, opcode, byte_len, imm, invalidated)
            if status == SUCCESS:
                done = self.entries.pop()
                assert isinstance(done, Done)
                made = change(done.completion)
                if made is not None:
                    self.entries.append(done._replace(completion=made))


def _imm_turned(done: Completion) -> Completion:
    return done if done.imm is None else replace(done, imm=int.from_bytes(done.imm.to_bytes(4, "big"), "little"))


def _as_recv(done: Completion) -> Completion:
    return replace(done, opcode="recv")


def _rkey_zero(done: Completion) -> Completion:
    return done if done.invalidated_rkey is None else replace(done, invalidated_rkey=0)


_received("recv_byte_len_zero", lambda done: replace(done, byte_len=0))
_received("recv_imm_swapped", _imm_turned)
_received("recv_completion_lost", lambda done: done if done.imm is not None else None)
_received("write_imm_as_recv", _as_recv)
_received("invalidated_rkey_zero", _rkey_zero)


@fault("fetch_add_no_add")
class FetchAddNoAdd(Transfer):
    def fetch_add(self, queue: Queue, request: FetchAdd) -> tuple[str, int]:
        return super().fetch_add(queue, replace(request, add=0))


@fault("fetch_add_no_carry")
class FetchAddNoCarry(Transfer):
    def fetch_add(self, queue: Queue, request: FetchAdd) -> tuple[str, int]:
        return self._atomic(queue, request, lambda old: old & ~M32 | (old + request.add) & M32)


@fault("fetch_add_new_value")
class FetchAddNewValue(Transfer):
    def fetch_add(self, queue: Queue, request: FetchAdd) -> tuple[str, int]:
        """The sum is there when it is asked for a second time."""
        outcome = super().fetch_add(queue, request)
        return super().fetch_add(queue, replace(request, add=0)) if outcome[0] == SUCCESS else outcome


def _swapped(name: str, after: Callable[[int, int, int], int]) -> None:
    """`after`: what is there after a CMP_SWAP, of what was there, what is compared, and what is to be written."""

    @fault(name)
    class Swapped(Transfer):
        def compare_swap(self, queue: Queue, request: CompareSwap) -> tuple[str, int]:
            return self._atomic(queue, request, lambda old: after(old, request.compare, request.swap))


_swapped("compare_swap_always", lambda old, compare, swap: swap)
_swapped("compare_swap_never", lambda old, compare, swap: old)
_swapped("compare_swap_low_half", lambda old, compare, swap: swap if not (old ^ compare) & M32 else old)
_swapped("compare_swap_high_half", lambda old, compare, swap: swap if not (old ^ compare) >> 32 else old)
_swapped(
    "compare_swap_half_written",
    lambda old, compare, swap: old & ~M32 | swap & M32 if old == compare else old,
)
_swapped("compare_swap_exchanged", lambda old, compare, swap: compare if old == swap else old)


@fault("compare_swap_new_value")
class CompareSwapNewValue(Transfer):
    def compare_swap(self, queue: Queue, request: CompareSwap) -> tuple[str, int]:
        """It is there when it is asked for a second time, by a swap of equal values."""
        outcome = super().compare_swap(queue, request)
        return super().compare_swap(queue, replace(request, swap=request.compare)) if outcome[0] == SUCCESS else outcome
