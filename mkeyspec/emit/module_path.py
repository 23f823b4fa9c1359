"""The path of the module of a source. Two sources have two modules; the path is the same on every machine."""

from __future__ import annotations

import hashlib
import keyword
import os
import re
from pathlib import Path, PurePosixPath

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_HASHED = re.compile(r".*_[0-9a-f]{8}\Z")
_LONGEST = 80


def source_name(source: Path, project: Path) -> str:
    """A source's name in a module and in messages: relative to the project's directory if there, with `/`."""
    path = Path(os.path.abspath(source))
    for here, base in ((path, project), (path.resolve(), project.resolve())):
        if here.is_relative_to(base):
            return here.relative_to(base).as_posix()
    return path.as_posix()


def module_name(source: str) -> PurePosixPath:
    """The module of `source` (a `source_name`), from the generated directory.

    Folders are kept: `cases/signature/crc.mks` is `cases/signature/test_crc.py`. A part that is not a plain
    identifier gets underscores for its other characters, and a hash. An identifier that ends like such a hash gets
    one, too, so that two parts never have the same name. A source outside the project goes to a folder whose name has
    the hash of the source's folder.
    """
    path = PurePosixPath(source)
    folders = [_identifier(part) for part in path.parts[:-1]]
    if path.is_absolute():
        folders = [f"outside_{_hash(path.parent.as_posix())}"]
    return PurePosixPath(*folders, f"test_{_identifier(path.stem)}.py")


def _identifier(part: str) -> str:
    if _PLAIN.match(part) and not _HASHED.match(part) and not keyword.iskeyword(part) and len(part) <= _LONGEST:
        return part
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', part)[:_LONGEST]}_{_hash(part)}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]
