"""Reads dumps.toml: elements of a real driver, and what they mean."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.softnic import pure

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
NAMES = {
    "<lkey>": "00001801",
    "<va>": "00007f12 34567000",
    "<rkey>": "00001802",
    "<raddr>": "00007f12 34568000",
    "<rgid>": "fe800000 00000000 00000000 00000001",
}
WHAT = {"wqe": pure.WQE, "datagram": pure.DATAGRAM_WQE, "cqe": pure.CQE}


@dataclass(frozen=True, slots=True)
class Dump:
    name: str
    what: int
    bytes: bytes
    expect: dict[str, Any]


def dumps() -> list[Dump]:
    table = tomllib.loads((HERE / "dumps.toml").read_text(encoding="utf-8"))
    return [Dump(row["name"], WHAT[row["what"]], words(row["words"]), row["expect"]) for row in table["dump"]]


def words(text: str) -> bytes:
    for name, value in NAMES.items():
        text = text.replace(name, value)
    out = b""
    for word in text.replace("|", " ").split():
        value, _, times = word.partition("*")
        out += int(value, 16).to_bytes(4, "big") * int(times or 1)
    return out
