"""pytest alone, on a device: its exit code is not 0 if the process ended before all rows were run.

A driver or a device that calls exit(0) or _exit(0) would end pytest with success, and the rows after it would be
missing. So the session runs in a child process, and this one waits for it, as `mkeyspec run` does. The model calls
nothing of the kind, so it has no child; nor has a session under a debugger or a tracer, one with workers, and one that
another program has started by `pytest.main`.
"""

from __future__ import annotations

import contextlib
import os
import sys

import pytest

from mkeyspec.plugin.option_values import read_choice
from mkeyspec.process.child import end_with, signals_for

NAME = "mkeyspec-early-end"
_OPENS, _RUNS = b"o", b"r"


class _Tells:
    """In the child: the device will be opened, the rows will be run, they have been, with this exit code."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe

    def _say(self, text: bytes) -> None:
        with contextlib.suppress(OSError):
            os.write(self.pipe, text)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        self._say(_OPENS)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        self._say(_RUNS)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._say(b"%d" % int(session.exitstatus))


def run_in_child(config: pytest.Config) -> int | None:
    """In the child, and where none is needed: None, and the session goes on. In the parent: the session's exit code."""
    if not _is_needed(config):
        return None
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    parent = os.getpid()
    there, here = os.pipe()
    child = os.fork()
    if not child:
        os.close(there)
        if not end_with(parent):
            os._exit(pytest.ExitCode.INTERNAL_ERROR)
        config.pluginmanager.register(_Tells(here), NAME)
        return None
    os.close(here)
    try:
        with signals_for(child):
            _, status = os.waitpid(child, 0)
        os.set_blocking(there, False)  # a process that the child has left behind may hold the other end
        said = b""
        with contextlib.suppress(BlockingIOError):
            said = os.read(there, 64)
    finally:
        os.close(there)
    return _code(os.waitstatus_to_exitcode(status), said)


def _code(ended: int, said: bytes) -> int:
    told = said.lstrip(_OPENS + _RUNS)
    if told and ended >= 0:
        return ended or int(told)
    if (ended >= 0 and not said) or (ended > 0 and said == _OPENS):
        return ended  # before any row: `--help`, a usage error, a device that can't be opened
    how = f"with exit code {ended}" if ended >= 0 else f"by signal {-ended}"
    where = "after the last row" if told else "before all rows were run"
    print(
        f"error[MKS2012]: pytest's process ended {how} {where}; `mkeyspec run` says in which row, and leaves a report",
        file=sys.stderr,
    )
    return int(pytest.ExitCode.TESTS_FAILED)


def _is_needed(config: pytest.Config) -> bool:
    option = config.option
    if read_choice(option.device).kind in ("model", "bundle") or hasattr(config, "workerinput"):
        return False
    if option.journal is not None or option.replay is not None or option.collectonly:
        return False  # `mkeyspec run` waits for this process
    if getattr(option, "dist", "no") != "no" or option.usepdb or option.trace:
        return False
    arguments = [str(argument) for argument in config.invocation_params.args]
    command = sys.orig_argv[len(sys.orig_argv) - len(arguments) :]
    return arguments == sys.argv[1:] == command and sys.gettrace() is None and sys.getprofile() is None
