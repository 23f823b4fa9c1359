"""What the kernel logs (Documentation/ABI/testing/dev-kmsg), from a place on."""

from __future__ import annotations

import os

DEVICE = "/dev/kmsg"
MOST = 200
"""Lines of one look."""
_RECORD = 8192


class KernelLog:
    """Open from now on: `new()` tells what came since. Nothing is raised; `why`: why it can't be read."""

    def __init__(self, path: str | None = None, *, whole: bool = False) -> None:
        """`whole`: from the first record that is still there."""
        self.why = ""
        self._file = -1
        try:
            self._file = os.open(path or DEVICE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            if not whole:
                os.lseek(self._file, 0, os.SEEK_END)
        except OSError as error:
            self.why = error.strerror or str(error)
            self.close()

    def new(self, most: int = MOST) -> list[str]:
        """`[   12.345678] mlx5_core 0000:01:00.0: …`: as dmesg writes them, the last `most`."""
        found: list[str] = []
        while self._file >= 0:
            try:
                data = os.read(self._file, _RECORD)
            except BrokenPipeError:  # overwritten meanwhile; the next read has what is left
                continue
            except OSError:  # nothing more
                break
            if not data:
                break
            found += filter(None, (_line(record) for record in data.decode("utf-8", "replace").splitlines()))
        return found[-most:]

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _line(record: str) -> str:
    """Of `6,1234,5678901,-;text`: the priority, the number, microseconds since the start, flags."""
    head, semicolon, text = record.partition(";")
    words = head.split(",")
    if not semicolon or len(words) < 3 or not words[2].isdigit():
        return ""  # a line of a record's dictionary
    return f"[{int(words[2]) / 1e6:12.6f}] {text}"
