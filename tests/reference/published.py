"""Reads the tables of published values beside this file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent


def table(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def made(pieces: list[dict[str, Any]]) -> bytes:
    """The bytes that a row's `input` describes."""
    return b"".join(_piece(**piece) for piece in pieces)


def _piece(
    text: str | None = None,
    hex: str | None = None,
    byte: int | None = None,
    up: int | None = None,
    down: int | None = None,
    count: int = 1,
    times: int = 1,
) -> bytes:
    if text is not None:
        return text.encode("ascii") * times
    if hex is not None:
        return bytes.fromhex(hex)
    if byte is not None:
        return bytes([byte]) * count
    if up is not None:
        return bytes(i & 255 for i in range(up))
    assert down is not None
    return bytes(255 - (i & 255) for i in range(down))
