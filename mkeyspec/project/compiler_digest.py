"""The checksum of the compiler: a module that another compiler wrote is stale."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from mkeyspec.files import resource

_LIBRARIES = ("jinja2", "lark")
"""Libraries whose releases may change how a file is read or a module is written."""


@cache
def compiler_digest() -> str:
    """The checksum of everything that decides what is written: the compiler's own files, the ledger, its libraries."""
    from importlib.metadata import version

    package = Path(__file__).resolve().parents[1]
    files = [package / "__init__.py", package / "requirements" / "ledger.py"]
    for folder in ("diagnostics", "syntax", "compiler", "emit", "plan", "value", "reference", "abi"):
        files += sorted((package / folder).rglob("*.py"))
    for kind, pattern in (("templates", "*.j2"), ("grammar", "*.lark"), ("requirements", "*.toml")):
        files += sorted(resource.directory(kind).glob(pattern))
    sum = hashlib.sha256()
    for library in _LIBRARIES:
        sum.update(f"{library} {version(library)}\n".encode())
    for file in files:
        sum.update(f"{file.name} {file.stat().st_size}\n".encode())
        sum.update(file.read_bytes())
    return sum.hexdigest()
