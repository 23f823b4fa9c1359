"""Appends lines to a stream of results. A line that is written stays in the file if this process is killed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from mkeyspec.report.record import Record, line_of


class Writer:
    """One process writes a stream. After the first error nothing more is written; `error` is that error."""

    def __init__(self, path: Path, *, again: bool = False) -> None:
        """Begin a stream, or with `again` go on with one: a last line that was cut is removed."""
        self.path = path
        self.error: OSError | None = None
        self.empty = True
        """Whether the stream had no line when it was opened."""
        self._file = -1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR if again else os.O_WRONLY | os.O_TRUNC
            self._file = os.open(path, flags | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            if again:
                self._cut()
        except OSError as error:
            self.error = error

    def write(self, *records: Record) -> None:
        # Not buffered: the kernel has each line when `write` returns.
        data = b"".join(map(line_of, records))
        while data and self.error is None:
            try:
                data = data[os.write(self._file, data) :]
            except OSError as error:
                self.error = error
                with contextlib.suppress(OSError):
                    self._cut()

    def _cut(self) -> None:
        """Remove the part of a line at the end."""
        with self.path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            end, block = size, 1 << 16
            while end > 0:
                begin = max(0, end - block)
                stream.seek(begin)
                found = stream.read(end - begin).rfind(b"\n")
                if found >= 0:
                    end = begin + found + 1
                    break
                end = begin
        self.empty = end == 0
        if end != size:
            os.ftruncate(self._file, end)

    def close(self) -> None:
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1
