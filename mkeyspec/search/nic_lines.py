"""Lines of the software NIC, by the counters of gcov.

They are in the library that `make -C softnic coverage` builds: build/coverage/. It writes them to files, which add up.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mkeyspec.search.reached import Total, Unreached, ranges

FOLDERS = ("engine", "pure")
"""What a case comes to by its work requests. The others are the driver's system calls and connections."""
_HEAD = 16
"""Bytes before the first record: magic, version, stamp, checksum (GCC 12 and later)."""
_COUNTERS = 0x01A10000
"""The tag of the counters of a function's arcs."""


class NicError(Exception):
    """The library can't be built; `str()` says why, in a line."""


def built(softnic: Path) -> Path:
    """The library with counters, built if it has to be. Raises NicError."""
    for tool in ("make", "gcc", "gcov"):
        if shutil.which(tool) is None:
            raise NicError(f"{tool} is missing")
    if not (softnic / "Makefile").is_file():
        raise NicError("the sources of the software NIC are only in a checkout of mkeyspec")
    plain = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "MAKEFLAGS")}
    command = ["make", "-s", f"-j{os.cpu_count() or 1}", "-C", str(softnic), "coverage"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=plain, check=False)
    if done.returncode:
        raise NicError(next((line for line in done.stderr.splitlines() if "error" in line), "make failed"))
    return softnic / "build" / "coverage" / "libmkeyspec_softnic.so"


class NicLines:
    """Of the library in this process. `folder`: an empty one, for the counters; it can be removed after
    `close`."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._folder, self._notes = folder, library.parent
        os.environ["GCOV_PREFIX"] = str(folder)
        os.environ["GCOV_PREFIX_STRIP"] = str(len(library.parent.parts) - 1)
        self._library = ctypes.CDLL(str(library))

    def close(self) -> None:
        """Nothing is written at the end of the process: the folder is gone by then."""
        self._library.mkeyspec_softnic_count_no_more()

    def _files(self) -> list[Path]:
        self._library.mkeyspec_softnic_count()
        return sorted(path for part in FOLDERS for path in (self._folder / part).glob("*.gcda"))

    def count(self) -> int:
        return sum(_counted(path.read_bytes()) for path in self._files())

    def total(self) -> Total:
        lines = [reached for _, found in self._lines() for _, reached in found]
        return Total(sum(lines), len(lines), "lines of the software NIC")

    def left(self) -> Iterator[Unreached]:
        for file, found in self._lines():
            yield from ranges(file, found)

    def _lines(self) -> list[tuple[str, list[tuple[int, bool]]]]:
        files = self._files()
        for path in files:
            note = path.with_suffix(".gcno")
            if not note.exists():
                note.symlink_to(self._notes / note.relative_to(self._folder))
        plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        command = ["gcov", "--json-format", "--stdout", *map(str, files)]
        told = subprocess.run(command, capture_output=True, text=True, env=plain, check=True).stdout
        found: dict[str, dict[int, bool]] = {}
        for line in told.splitlines():
            for file in json.loads(line)["files"]:
                if file["file"].startswith(FOLDERS):
                    lines = found.setdefault(f"softnic/{file['file']}", {})
                    for one in file["lines"]:
                        number = one["line_number"]
                        lines[number] = lines.get(number, False) or one["count"] > 0
        return [(file, sorted(lines.items())) for file, lines in sorted(found.items())]


def _counted(data: bytes) -> int:
    """How many counters of a .gcda file are not 0. A length below 0 is of so many that are all 0."""
    at, many = _HEAD, 0
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        at += 8
        if tag == _COUNTERS and length > 0:
            many += int(np.count_nonzero(np.frombuffer(data, "<u8", length // 8, at)))
        at += max(length, 0)
    return many
