"""The peer's process: a gateway of execnet, with its deadlines. What it runs is `serve`."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import execnet

from mkeyspec import __version__
from mkeyspec.device.protocol import DeviceLost, NoSuchCall, Refused, Unavailable, Unsupported
from mkeyspec.device.verbs.peer.spec import PeerSpec
from mkeyspec.device.verbs.peer.wire import decode, encode, protocol_digest

START = 30.0
"""Seconds for a host to answer, and for a Python to start there."""
CALL = 30.0
"""Seconds for a call; opening a device is one. No call waits for anything."""
_AFTER = 5.0
"""Seconds after which the peer's process ends itself, when it was given up."""
_END = 2.0
"""Seconds for it to end, when its device is closed."""

NO_ANSWER, OTHER, LOST = "MKS0981", "MKS0982", "MKS2016"

_BOOT = """
import sys
try:
    if sys.version_info < (3, 10):
        raise ImportError("Python 3.10 or later is needed")
    from mkeyspec.device.verbs.peer import serve
except BaseException as error:
    channel.send({"missing": "%s: %s" % (type(error).__name__, error), "python": sys.version.split()[0],
                  "program": sys.executable})
else:
    serve.run(channel)
"""


class PeerProcess:
    def __init__(self, spec: PeerSpec, environment: Mapping[str, str], *, start: float = START, call: float = CALL):
        """Start it, and agree on the protocol. `environment`: variables that it has and the host does not. Raises
        Unavailable (MKS0981, MKS0982)."""
        self.spec = spec
        self._limit = call
        self._lost = ""
        self._pid = os.getpid()
        self._group = execnet.Group()
        self._gateway = self._start(environment, start)
        self.about = self._agree(start)

    # Starting --------------------------------------------------------------------------------

    def _start(self, environment: Mapping[str, str], limit: float) -> Any:
        spec = self.spec
        made = execnet.XSpec("popen" if spec.kind == "popen" else f"ssh={spec.host}")
        python = spec.python or ("" if spec.kind == "popen" else "python3")
        if spec.kind == "ssh":
            made.ssh = " ".join([*_SSH, spec.host])
            made.ssh_config = spec.ssh_config or None
            self._greet(python, limit)
        if environment:
            own = python or shlex.quote(sys.executable)
            python = " ".join(["env", *(shlex.quote(f"{name}={value}") for name, value in environment.items()), own])
        if python:
            made.python = python
        made.execmodel = "thread"
        answer: queue.Queue[Any] = queue.Queue()

        def make() -> None:
            # What this thread starts has it blocked, too: a key ends the run, which ends the peer when rows have ended.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                answer.put(self._group.makegateway(made))
            except BaseException as error:
                answer.put(error)

        thread = threading.Thread(target=make, daemon=True)
        thread.start()
        try:
            found = answer.get(timeout=limit)
        except queue.Empty:
            _kill_children(thread)
            raise self._silent(f"no Python has answered within {limit:g} s") from None
        if isinstance(found, BaseException):
            self._end()
            raise self._silent(f"no Python starts there: {_line(found)}")
        return found

    def _greet(self, python: str, limit: float) -> None:
        """What ssh says if it fails comes over no channel, so it is asked once before."""
        config = ["-F", self.spec.ssh_config] if self.spec.ssh_config else []
        command = ["ssh", *config, *_SSH, *self.spec.host.split(), f"{python} -c {shlex.quote(_GREETING)}"]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=limit
            )
        except subprocess.TimeoutExpired:
            raise self._silent(f"it has not answered within {limit:g} s") from None
        except OSError as error:
            raise self._silent(f"ssh can't be started: {error.strerror}") from None
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        last = said[-1] if said else f"exit code {done.returncode}"
        if done.returncode == 255:
            raise self._silent(f"ssh says: {last}")
        if _HERE not in done.stdout:
            raise self._silent(f"`{python}` does not start there: {last}")

    def _agree(self, limit: float) -> dict[str, Any]:
        try:
            self._channel = self._gateway.remote_exec(_BOOT)
            told = self._channel.receive(limit)
        except execnet.TimeoutError:
            self._end()
            raise self._silent(f"Python has not answered within {limit:g} s") from None
        except (EOFError, OSError, execnet.RemoteError) as error:
            self._end()
            raise self._silent(f"what starts there is no Python, or ends: {_line(error)}") from None
        if "missing" in told:
            self._end()
            python = f"Python {told['python']}, {told['program']}"
            text = f"no mkeyspec at the peer, {self.spec.where}: {told['missing']} ({python})"
            raise Unavailable(OTHER, f"{text}; install mkeyspec {__version__} there, or name its Python: //python=")
        own = {"mkeyspec": __version__, "protocol": protocol_digest()}
        for name, value in own.items():
            if told[name] != value:
                self._end()
                text = f"the peer, {self.spec.where}, has {name} {told[name]}, and this process {value}"
                raise Unavailable(OTHER, f"{text}; install the same mkeyspec at both")
        return dict(told)

    def _silent(self, why: str) -> Unavailable:
        return Unavailable(NO_ANSWER, f"the peer, {self.spec.where}, can't be used: {why}")

    # Calls -----------------------------------------------------------------------------------

    def open(self, order: dict[str, Any]) -> Any:
        """Open its device: what `serve` says of it. Raises Unavailable."""
        try:
            answer = self._exchange("open", order | {"limit": self._limit + _AFTER})
        except DeviceLost as lost:
            raise Unavailable(NO_ANSWER, lost.message) from None
        if answer[0] == "unavailable":
            self._lost = "it has no device"
            self._end()
            raise Unavailable(answer[1], f"at the peer, {self.spec.where}: {answer[2]}")
        return decode(answer[1])

    def call(self, name: str, *given: Any, **named: Any) -> Any:
        """A call of the peer's station. Raises what the call raises; DeviceLost (MKS2016) if it does not come back."""
        answer = self._exchange(name, (name, encode(given), encode(named)))
        match answer[0]:
            case "ok":
                return decode(answer[1])
            case "refused":
                raise Refused(answer[1], answer[2])
            case "unsupported":
                raise Unsupported(answer[1])
            case "no such call":
                raise NoSuchCall(answer[1])
            case _:
                raise PeerError(f"at the peer, {self.spec.where}: {answer[1]}: {answer[2]}")

    def _exchange(self, name: str, message: Any) -> Any:
        if self._lost:
            raise DeviceLost(LOST, self._lost)
        try:
            self._channel.send(message)
            return self._channel.receive(self._limit)
        except execnet.TimeoutError:
            self._lose(f"{name} has not come back within {self._limit:g} s")
        except (EOFError, OSError, execnet.RemoteError) as error:
            why = f" ({_line(error)})" if isinstance(error, execnet.RemoteError) else ""
            self._lose(f"its process has ended{why}")

    def _lose(self, why: str) -> NoReturn:
        self._lost = f"the peer, {self.spec.where}, is lost: {why}"
        self._end(kill=True)
        raise DeviceLost(LOST, self._lost) from None

    # End -------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close its device and end it. Where it is gone, or in a child of a fork, nothing."""
        if self._lost or os.getpid() != self._pid:
            return
        try:
            self.call("close")
        finally:
            self._lost = self._lost or f"the peer, {self.spec.where}, is closed"
            self._end()

    def _end(self, *, kill: bool = False) -> None:
        with contextlib.suppress(Exception):
            self._group.terminate(timeout=0.1 if kill else _END)


class PeerError(Exception):
    """What a call raised at the peer that is not of the protocol."""


_SSH = ("-oBatchMode=yes", "-oConnectTimeout=10", "-oServerAliveInterval=5", "-oServerAliveCountMax=3")
"""No question is asked; a host that is gone is noticed."""
_HERE = "mkeyspec-peer"
_GREETING = f"print({_HERE!r})"


def _kill_children(thread: threading.Thread) -> None:
    """End what this thread has started, and so the thread itself."""
    with contextlib.suppress(OSError):
        told = Path(f"/proc/self/task/{thread.native_id}/children").read_text()
        for child in told.split():
            with contextlib.suppress(OSError):
                os.kill(int(child), signal.SIGKILL)


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
