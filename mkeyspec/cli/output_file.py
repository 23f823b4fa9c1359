"""Files that a command writes."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from mkeyspec.files.unwritable import Unwritable


def write(path: Path, data: bytes, option: str) -> None:
    """A whole file or none. Raises Unwritable."""
    whole = path.with_name(f".{path.name}.{os.getpid()}") if path.is_file() or not path.exists() else path
    try:
        whole.write_bytes(data)
        if whole != path:
            whole.replace(path)
    except OSError as error:
        if whole != path:
            with contextlib.suppress(OSError):
                whole.unlink(missing_ok=True)
        raise Unwritable(path, error, option) from None
