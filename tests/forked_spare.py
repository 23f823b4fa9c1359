"""Forks of the server of tests/forked.py that wait until pytest-xdist, in a process beside them, starts a worker."""

from __future__ import annotations

import array
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from execnet import gateway_io
from execnet.gateway_base import Popen2IO

MOST = 2
"""A worker more, or one that takes the place of another one, is a new process."""

Begin = Callable[[str, dict[str, str], str], NoReturn]


class Spare:
    """Like a `subprocess.Popen` when it has started."""

    def __init__(self, begin: Begin, others: list[Spare]) -> None:
        self.socket, there = socket.socketpair()
        self.pid = os.fork()
        if not self.pid:
            for one in (self, *others):
                one.socket.close()
            _wait(there, begin)
        there.close()
        self.returncode: int | None = None

    def start(self, code: str) -> None:
        theirs, outgoing = os.pipe()
        incoming, their_end = os.pipe()
        self.stdin = os.fdopen(outgoing, "wb")
        self.stdout = os.fdopen(incoming, "rb")
        request = json.dumps({"code": code, "environment": dict(os.environ), "folder": str(Path.cwd())}).encode()
        with self.socket:
            files = array.array("i", [theirs, their_end, 2])
            self.socket.sendmsg([request[:1]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
            self.socket.sendall(request[1:])
        os.close(theirs)
        os.close(their_end)

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)


def make(begin: Begin) -> None:
    """Of this process: `begin` is what one of them does with a program, an environment and a folder."""
    spares: list[Spare] = []
    for _ in range(MOST):
        spares.append(Spare(begin, spares))

    class Started(gateway_io.Popen2IOMaster):
        def __init__(self, args: list[str], execmodel: Any) -> None:
            if not spares or args != [sys.executable, "-u", "-c", gateway_io.popen_bootstrapline]:
                super().__init__(args, execmodel)
                return
            self.popen: Any = spares.pop()
            self.popen.start(args[-1])
            Popen2IO.__init__(self, self.popen.stdin, self.popen.stdout, execmodel=execmodel)

    gateway_io.Popen2IOMaster = Started  # type: ignore[misc]


def _wait(there: socket.socket, begin: Begin) -> NoReturn:
    first, files, _, _ = socket.recv_fds(there, 1, 3)
    if not first:
        os._exit(0)
    with there, there.makefile("rb") as rest:
        request = json.loads(first + rest.read())
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    begin(request["code"], request["environment"], request["folder"])
