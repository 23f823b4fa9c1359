"""Whether `isolated` rows of a run have processes of their own: on a device under a driver, which may crash."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mkeyspec.device.select import parse
from mkeyspec.files.project import find_sources

_IN_THIS_PROCESS = ("model", "late", "bundle")
"""Kinds of devices that no driver is under."""
_WORD = b"isolated"


def isolates(device: str, given: Sequence[str], root: Path, *, distributed: bool) -> bool:
    """Before anything is compiled: whether a file of `given` may have such a row, since it has the word. `distributed`:
    pytest-xdist has the processes."""
    if distributed or parse(device).kind in _IN_THIS_PROCESS:
        return False
    return any(_has_the_word(source) for source in find_sources((Path(one.split("::", 1)[0]) for one in given), root))


def _has_the_word(source: Path) -> bool:
    with suppress(OSError):  # whoever compiles it says so
        return _WORD in source.read_bytes()
    return False
