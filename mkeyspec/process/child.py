"""A child process that does not outlive its parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterator
from types import FrameType

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> bool:
    """In a child that was just forked: from now on the kernel ends it with its parent. False if that has ended
    already."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == parent


@contextlib.contextmanager
def signals_for(child: int) -> Iterator[None]:
    """While this process waits for its child: SIGTERM is passed on; ^C comes to both, and is the child's to answer."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, pass_on)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
