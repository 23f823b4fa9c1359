"""`python -m mkeyspec …` and `python -m pytest …`, run as processes of their own that need not import anything first.

`run` is `subprocess.run` with `capture_output` for these two. Each process that it starts is a fork of one, the server,
that has imported mkeyspec, pytest and what they need, and has done nothing else: imports are most of the time of a
command in a small project. The fork gets the arguments, the environment, the folder, the search path and the standard
files that a new process would have; then the module runs as `-m` runs it. What a fork can't be given starts anew, by
`subprocess.run`: another module, variables that Python or the loader reads when it starts, and folders of the search
path with a module of a name that is imported already. tests/process/test_forked.py compares both ways.
"""

from __future__ import annotations

import array
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("mkeyspec", "pytest")
ANEW = "MKEYSPEC_TESTS_START_ANEW"
"""Set where each process is to be a new one."""
_STARTS = ("PYTHON", "LD_", "LC_", "LANG", "TZ", "COV_", "GLIBC", "MALLOC", "OPENBLAS", "OMP_")
"""Beginnings of names of variables that are read before the first module of ours, or while numpy is imported."""


def run(
    arguments: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run([sys.executable, *arguments], …)` with the output kept as text, and nothing to read."""
    words = [os.fspath(one) for one in arguments]
    environment = dict(os.environ if env is None else env)
    folder = os.path.abspath(cwd or ".")
    server = None if ANEW in os.environ else _Server.of(os.getpid())
    if server is None or not server.suits(words, environment, folder):
        return subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )
    return server.run(words, environment, folder, timeout)


class _Server:
    """The process that is forked, of this process."""

    @classmethod
    @cache
    def of(cls, process: int) -> _Server:
        """Of the process of this number, which is this one: a fork of it has a server of its own."""
        return cls()

    def __init__(self) -> None:
        self.environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        here, there = socket.socketpair()
        with there:
            self.process = subprocess.Popen(
                [sys.executable, "-c", f"from tests.forked_server import serve; serve({there.fileno()})"],
                env=self.environment,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[there.fileno()],
            )
        self.socket = here
        self.replies = here.makefile("rb")
        self.imported = frozenset(json.loads(self.replies.readline())) | {"sitecustomize", "usercustomize"}

    def suits(self, words: Sequence[str], environment: Mapping[str, str], folder: str) -> bool:
        """Whether a fork is what a new process would be."""
        if len(words) < 2 or words[0] != "-m" or words[1] not in MODULES:
            return False
        names = {name for name in (*environment, *self.environment) if name.startswith(_STARTS)} - {"PYTHONPATH"}
        if any(environment.get(name) != self.environment.get(name) for name in names):
            return False
        places = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
        return all(self._hides_nothing(place) for place in places)

    def _hides_nothing(self, place: str) -> bool:
        try:
            names = os.listdir(place)  # noqa: PTH208
        except OSError:
            return True
        if os.path.realpath(place) == str(ROOT):
            return True
        modules = (name.split(".")[0] for name in names if name.endswith((".py", ".so")) or "." not in name)
        return self.imported.isdisjoint(modules)

    def run(
        self, words: list[str], environment: Mapping[str, str], folder: str, timeout: float | None
    ) -> subprocess.CompletedProcess[str]:
        request = json.dumps({"words": words, "environment": environment, "folder": folder}).encode() + b"\n"
        out, their_out = os.pipe()
        err, their_err = os.pipe()
        try:
            files = array.array("i", [their_out, their_err])
            self.socket.sendmsg([request[:1]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        finally:
            os.close(their_out)
            os.close(their_err)
        self.socket.sendall(request[1:])
        child = int(self.replies.readline())
        command = [sys.executable, *words]
        try:
            texts = _read([out, err], timeout)
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            self.replies.readline()
            raise subprocess.TimeoutExpired(command, timeout or 0) from None
        finally:
            os.close(out)
            os.close(err)
        code = os.waitstatus_to_exitcode(int(self.replies.readline()))
        return subprocess.CompletedProcess(command, code, *(text.decode() for text in texts))


def _read(files: Sequence[int], timeout: float | None) -> list[bytes]:
    """What comes in until all writers have ended."""
    got: dict[int, list[bytes]] = {file: [] for file in files}
    end = None if timeout is None else time.monotonic() + timeout
    with selectors.DefaultSelector() as waiting:
        for file in files:
            waiting.register(file, selectors.EVENT_READ)
        while waiting.get_map():
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            for key, _ in waiting.select(left):
                part = os.read(key.fd, 1 << 16)
                got[key.fd].append(part)
                if not part:
                    waiting.unregister(key.fd)
    return [b"".join(got[file]) for file in files]
