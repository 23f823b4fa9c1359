"""The error of a file that can't be written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a full disk."""


class Unwritable(Exception):
    """A file can't be written; `str()` is one line with the fix."""

    code = "MKS0902"

    def __init__(self, path: Path, error: OSError, option: str = "--generated") -> None:
        place = path
        while not os.path.lexists(place) and place != place.parent:
            place = place.parent
        # If it is something in the directory that can't be written, that is in nothing's place.
        inside = error.filename is not None and Path(os.fsdecode(error.filename)).parent == path
        if place == path and path.is_dir() and not inside and isinstance(error, (IsADirectoryError, PermissionError)):
            fix = f"a directory is in its place: move it away, or name another place with {option}"
        elif not place.is_dir() and (place != path or isinstance(error, FileExistsError)):
            fix = f"{os.path.relpath(place)} is not a directory: move it away, or name another place with {option}"
        else:
            folder = place if place.is_dir() else place.parent
            reason = error.strerror or str(error)
            first = "make room" if error.errno in _FULL else f"make {os.path.relpath(folder)} writable"
            fix = f"{reason}; {first}, or name another place with {option}"
        super().__init__(f"error[{self.code}]: can't write {os.path.relpath(path)}: {fix}")
