"""Atomic replacement of files."""

from __future__ import annotations

import contextlib
import os
import tempfile
from importlib.util import cache_from_source
from pathlib import Path


def replace(path: Path, text: str) -> None:
    """Write a file through a temporary one in the same directory."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def forget_bytecode(module: Path) -> None:
    """Delete bytecode. Python detects stale bytecode by time in seconds and size, so it would miss a changed digit
    within a second."""
    for cached in Path(cache_from_source(str(module))).parent.glob(f"{module.stem}.*.pyc"):
        with contextlib.suppress(OSError):
            cached.unlink()
