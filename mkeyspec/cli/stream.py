"""Standard output and standard error that never fail in the middle of a command.

A reader that goes away (`mkeyspec run | head -1`) does not change the result of a run. A full disk
does not change it either. What cannot be written is lost. A full disk is reported at the end.
A reader that has gone is not reported.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import Any


class _Lasting(io.FileIO):
    """A descriptor of the process; `lost` is the first error of a write to it."""

    lost: OSError | None = None

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if self.lost is None:
                self.lost = error
            return memoryview(data).nbytes


_NAMES = {1: "standard output", 2: "standard error"}
_streams: dict[int, _Lasting] = {}


def make_lasting() -> None:
    """Replace `sys.stdout` and `sys.stderr` of a process that runs only this program."""
    _open_what_is_closed()
    for number, name in ((1, "stdout"), (2, "stderr")):
        old = getattr(sys, name)
        raw = _streams[number] = _Lasting(number, "w", closefd=False)
        text = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=getattr(old, "encoding", None) or "utf-8",
            line_buffering=number == 2 or raw.isatty(),
        )
        setattr(sys, name, text)


def _open_what_is_closed() -> None:
    """Open closed standard descriptors. Otherwise the next opened file gets the number, and output is written to
    it."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def loss() -> str:
    """Why some of what was printed was lost, in one line; "" if nothing was, or only its reader has gone."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    for number, raw in _streams.items():
        if raw.lost is not None and raw.lost.errno != errno.EPIPE:
            return f"can't write {_NAMES[number]}: {raw.lost.strerror}"
    return ""
