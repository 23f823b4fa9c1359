"""One file of the parts that the processes of a run have written."""

from __future__ import annotations

import contextlib
import os
import shutil
import zlib
from collections import deque
from pathlib import Path
from typing import BinaryIO

from mkeyspec.bundle.lines import Lines, Unpackable
from mkeyspec.bundle.part import GZIP, SUFFIX, line_of


def parts_in(folder: Path) -> list[Path]:
    """In the order of their process ids."""
    return sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: (len(path.name), path.name))


def folder_of(file: Path) -> Path:
    """Where the parts of a bundle are until it is made."""
    return file.with_name(f"{file.name}.parts")


def merge(folder: Path, file: Path) -> int:
    """Write the bundle, and remove the parts. Returns how many of them had no end: their processes were
    killed, or could not write. Raises OSError; the parts are left then."""
    cut = 0
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with fresh.open("wb") as out:
            for part in parts_in(folder):
                if _is_whole(part):
                    with part.open("rb") as stream:
                        shutil.copyfileobj(stream, out)
                else:
                    cut += 1
                    _pack_again(part, out)
            out.write(line_of({"kind": "whole"}))
        fresh.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise
    shutil.rmtree(folder, ignore_errors=True)
    return cut


def _is_whole(part: Path) -> bool:
    with part.open("rb") as stream:
        lines = Lines(stream)
        last: deque[bytes] = deque(maxlen=1)
        try:
            last.extend(lines)
        except Unpackable:
            return False
    return not lines.cut and bool(last) and last[0].startswith(b'{"kind":"end"')


def _pack_again(part: Path, out: BinaryIO) -> None:
    """The lines that are whole, in a member that has an end."""
    packer = zlib.compressobj(3, zlib.DEFLATED, GZIP)
    with part.open("rb") as stream, contextlib.suppress(Unpackable):
        for line in Lines(stream):
            out.write(packer.compress(line))
    out.write(packer.flush())


def in_the_way(file: Path) -> str:
    """Why a bundle can't be written there, in a sentence; "" if it can."""
    if folder_of(file).exists():
        return f"{folder_of(file)} is what a killed run left: `mkeyspec judge` it, or remove it, or name another file"
    if file.is_dir():
        return f"{file} is a directory: name a file after --bundle"
    try:
        if file.exists() and not file.is_file():
            return f"{file} is not a regular file: name another after --bundle"
        if file.exists() and file.stat().st_size and not _is_bundle(file):
            return f"{file} is there and is not a bundle: name another file after --bundle, or move it away"
    except OSError as error:
        return f"can't read {file}: {error.strerror}; name another file after --bundle"
    return ""


def _is_bundle(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return next(iter(Lines(stream)), b"").startswith(b'{"kind":"bundle"')
    except Unpackable:
        return False
