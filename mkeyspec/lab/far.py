"""The far end of a lab: what a host does for the process that asked it. execnet sends the source of this module there,
so it imports the standard library alone, and no line of it depends on which mkeyspec is installed there.

A request is a dictionary; `what` is one of:

    hello   answers with Python's and mkeyspec's versions, and the checksum of the package
    put     takes files (path, bytes, checksum) into a new folder, which is removed when the channel closes
    run     starts mkeyspec there; passes on what it prints, and its stream of results as it grows
    ask     starts mkeyspec there, and answers with what it printed

A run ends with its channel, and with this process.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

TURN = 0.05
"""Seconds between two looks at a run."""
ALIVE = 1.0
"""Seconds after which a run that says nothing is said to be alive."""
PATIENCE = 3.0
"""Seconds that a run has to end after SIGTERM."""
BLOCK = 1 << 20

WHO = """
import json, mkeyspec
try:
    from mkeyspec.lab.digest import package_digest
    digest = package_digest()
except ImportError:
    digest = ""
print(json.dumps([mkeyspec.__version__, digest]))
"""


def hello(channel: Any, request: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory(prefix="mkeyspec-") as elsewhere:  # no checkout of mkeyspec
        done = subprocess.run(
            [sys.executable, "-c", WHO], cwd=elsewhere, capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env=_environment({}), check=False,
        )  # fmt: skip
    version, digest = json.loads(done.stdout) if done.returncode == 0 else ["", ""]
    channel.send(
        {
            "mkeyspec": version,
            "digest": digest,
            "error": "" if version else (done.stderr.strip().splitlines() or ["it says nothing"])[-1],
            "python": f"{platform.python_version()} ({sys.executable})",
            "host": platform.node(),
        }
    )


def put(channel: Any, request: dict[str, Any]) -> None:
    """Files come one by one, None is the last; the answer is the folder, or what is wrong."""
    folder = ""
    try:
        try:
            folder = tempfile.mkdtemp(prefix="mkeyspec-lab-")
            while True:
                item = channel.receive()
                if item is None:
                    break
                name, data, digest = item
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                    raise OSError(None, "it is not what was sent", str(path))
        except OSError as error:
            channel.send(("error", f"{error.filename or 'temporary folder'}: {error.strerror or error}"))
            return
        channel.send(("folder", folder))
        with contextlib.suppress(EOFError, Exception):
            channel.receive()  # until it is closed
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def ask(channel: Any, request: dict[str, Any]) -> None:
    process = _start(request, subprocess.PIPE)
    done = threading.Event()

    def end() -> None:
        while not done.wait(TURN):
            if channel.isclosed():
                _end(process)

    threading.Thread(target=end, daemon=True).start()
    out, err = process.communicate()
    done.set()
    if not channel.isclosed():
        channel.send((process.returncode, out, err))


def run(channel: Any, request: dict[str, Any]) -> None:
    """Messages: (`out`, bytes), (`rows`, ids of all rows), (`results`, bytes), (`alive`,), and at last (`end`, exit
    code)."""
    process = _start(request, subprocess.STDOUT)
    printed: list[bytes] = []
    guard = threading.Lock()

    def read() -> None:
        assert process.stdout is not None
        while data := os.read(process.stdout.fileno(), BLOCK):
            with guard:
                printed.append(data)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    results = _Tail(request["results"])
    rows: list[str] = []
    said = time.monotonic()
    try:
        while True:
            ended = process.poll() is not None
            if ended:
                reader.join(PATIENCE)  # a process that it left behind may hold the pipe
            if channel.isclosed():
                raise EOFError
            with guard:
                out, printed[:] = b"".join(printed), []
            if not rows:
                rows = _lines(request["rows"])
                if rows:
                    channel.send(("rows", rows))
            new = results.more()
            for kind, data in (("out", out), ("results", new)):
                if data:
                    channel.send((kind, data))
                    said = time.monotonic()
            if ended and not new:
                break
            if time.monotonic() - said > ALIVE:
                channel.send(("alive",))
                said = time.monotonic()
            if not new:
                time.sleep(TURN)
        channel.send(("end", process.returncode))
    except (EOFError, OSError):  # nobody listens any more
        _end(process)
    except BaseException:
        _end(process)
        raise


def _start(request: dict[str, Any], errors: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", STARTER, str(os.getpid()), *request["command"]], cwd=request["folder"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
        env=_environment(request.get("environment", {})),
    )  # fmt: skip


STARTER = """
import ctypes, os, sys
try:
    ctypes.CDLL(None).prctl(1, 9)
except (OSError, AttributeError):
    pass
if os.getppid() != int(sys.argv[1]):
    sys.exit(4)
os.execv(sys.executable, [sys.executable, "-m", "mkeyspec", *sys.argv[2:]])
"""
"""From here on the kernel ends the process with the one that serves the gateway (PR_SET_PDEATHSIG, SIGKILL)."""


def _environment(more: dict[str, str]) -> dict[str, str]:
    """A run of its own: it shares no lock with the process that serves the gateway."""
    left_out = ("MKEYSPEC_LEASE",)
    return {**{name: value for name, value in os.environ.items() if name not in left_out}, **more}


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
            break
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


class _Tail:
    """What is new in a file that grows."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._at = 0

    def more(self) -> bytes:
        try:
            with Path(self._path).open("rb") as file:
                file.seek(self._at)
                data = file.read(BLOCK)
        except OSError:
            return b""
        self._at += len(data)
        return data


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


if __name__ == "__channelexec__":
    asked = channel.receive()  # type: ignore[name-defined]  # noqa: F821  # execnet puts it there
    {"hello": hello, "put": put, "ask": ask, "run": run}[asked["what"]](channel, asked)  # type: ignore[name-defined]  # noqa: F821
