"""Runs a part of this program in a child process, so that this process can report how it ended."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable

from mkeyspec.process.child import end_with, signals_for

FAILED_ITSELF = 4


def supervised(body: Callable[[], int]) -> int | None:
    """What `body` returns, in a child process; None if that ended by a signal or too early. The child has this
    process's terminal and process group, so it gets ^C and ^Z itself; SIGTERM is passed on.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    there, here = os.pipe()
    child = os.fork()
    if not child:
        os.close(there)
        if not end_with(parent):
            os._exit(FAILED_ITSELF)
        code = _outcome(body)
        with contextlib.suppress(OSError):
            os.write(here, b"\0")
        os._exit(code)
    os.close(here)
    try:
        with signals_for(child):
            _, status = os.waitpid(child, 0)
        finished = bool(os.read(there, 1))
    finally:
        os.close(there)
    return os.waitstatus_to_exitcode(status) if finished else None


def _outcome(body: Callable[[], int]) -> int:
    try:
        code = body()
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else FAILED_ITSELF
    except BaseException:
        traceback.print_exc()
        code = FAILED_ITSELF
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return code
