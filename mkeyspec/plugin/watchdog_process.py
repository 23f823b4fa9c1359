"""A watchdog process: it ends the process that uses the device when a call does not return.

All waiting is done by polling, with a deadline. But a driver's call can hang by itself: in a firmware command, on a
lock of the library's, in a store to a removed device. pyverbs holds the interpreter's lock during the call, so no
thread of this process can report it. This file is also the program of the watchdog process; it uses only the standard
library, and starts without site-packages.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

_SLICE = 0.25
"""Seconds. Time is counted in slices that passed while the process ran: one stopped by ^Z or a debugger has all its
time when it goes on."""


class Guard:
    """Watches this process between `begin` and `end`, from the first `begin` to `close` or the process's end."""

    def __init__(self, limit: float, out: int, note: Path | None = None) -> None:
        """`limit`: seconds that may pass until the next `begin` or `end`; `out`: descriptor for the last message;
        `note`: a file for it."""
        self.limit = limit
        self._note = note
        self._out = out
        self._process: subprocess.Popen[bytes] | None = None
        self._pid = os.getpid()
        self._closed = False

    def begin(self, what: str) -> None:
        """`what` uses the device from now on; the message names it."""
        self._tell(what)

    def end(self) -> None:
        self._tell("")

    def _tell(self, what: str) -> None:
        if self._closed or os.getpid() != self._pid:
            return
        if self._process is None:
            command = [sys.executable, "-I", "-S", __file__, str(self._pid), str(self.limit), str(self._note or "")]
            # A session of its own: ^C is for the other one. No preload: it has nothing to do with a device.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._out,
                env={},
                start_new_session=True,
            )
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError):
            os.write(pipe.fileno(), what.replace("\n", " ").encode(errors="replace") + b"\n")

    def close(self) -> None:
        self._closed = True
        if self._process is not None and os.getpid() == self._pid:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
            self._process = None


# The other process ----------------------------------------------------------------------------


def _state(pid: int) -> str:
    """The letter of proc(5): T and t are stopped, Z has ended; "" is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def _ended(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while _state(pid) not in ("", "Z"):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _finish(pid: int, what: str, limit: float, note: str) -> None:
    text = f"the device did not come back from a call within {limit:g} s: {what}; process {pid} is ended"
    print(f"\nmkeyspec: error[MKS2010]: {text}", file=sys.stderr, flush=True)
    if note:
        with contextlib.suppress(OSError):
            Path(note).write_text(f"error[MKS2010]: {text}\n", encoding="utf-8")
    # faulthandler, which pytest switches on, answers SIGABRT with the line of Python that called.
    for number in (signal.SIGABRT, signal.SIGKILL):
        with contextlib.suppress(OSError):
            os.kill(pid, number)
        if _ended(pid, 3):
            return
    print(f"mkeyspec: process {pid} can't be ended: the kernel waits for the device in its name", file=sys.stderr)


def watch(pid: int, limit: float, note: str) -> None:
    """Read the current calls from standard input, one line each; an empty line means none."""
    what, rest, left = "", b"", limit
    while os.getppid() == pid:
        if select.select([0], [], [], _SLICE if what else None)[0]:
            told = os.read(0, 65536)
            if not told:
                return
            *lines, rest = (rest + told).split(b"\n")
            if lines:
                what, left = lines[-1].decode(errors="replace"), limit
        elif _state(pid) not in ("T", "t"):
            left -= _SLICE
            if left <= 0:
                _finish(pid, what, limit, note)
                return


if __name__ == "__main__":
    watch(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])
