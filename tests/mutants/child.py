"""A forked process with a deadline, which hands back one value."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from mkeyspec.process.child import end_with

MEMORY = 3 << 30
"""Bytes that a mutant may have beside what this process has."""


class TimedOut(Exception):
    """The child did not end in time; `str()` says which time."""


class Died(Exception):
    """The child ended without a value."""


def forked(work: Callable[[], Any], seconds: float) -> Any:
    """What `work` returns in a child, as JSON carries it. Whatever the child started ends with it."""
    read, write = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(read)
            os.setsid()
            end_with(parent)
            _limit()
            with os.fdopen(write, "w") as pipe:
                json.dump(work(), pipe)
            code = 0
        except BaseException:  # a mutant may raise anything
            pass
        finally:
            os._exit(code)
    os.close(write)
    said = _all(read, monotonic() + seconds)
    os.close(read)
    if said is None:
        # Its process group is there as soon as it has called setsid.
        for end in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                end(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if said is None:
        raise TimedOut(f"{seconds:.0f} s")
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        raise TimedOut("too much processor time")
    try:
        return json.loads(said)
    except json.JSONDecodeError:
        raise Died from None


def alarm(seconds: float) -> None:
    """This process ends if it uses so much processor time from now on, even in one operation of Python."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _all(pipe: int, ends: float) -> bytes | None:
    """What is written until all have closed the pipe; None if that takes too long."""
    found = b""
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, ends - monotonic()))
        if not ready:
            return None
        part = os.read(pipe, 1 << 20)
        if not part:
            return found
        found += part


def _limit() -> None:
    have = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (have + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
