"""Mutants that no test can kill, or need not, each with its reason: survivors.toml."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("survivors.toml")


@dataclass(frozen=True, slots=True)
class Survivor:
    """`inside` is the definition, `was` and `becomes` the changed lines without blanks at their ends: no line number,
    so that it stays right when lines move."""

    module: str
    inside: str
    was: str
    becomes: str
    reason: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.module, self.inside, self.was.strip(), self.becomes.strip())


def survivors() -> list[Survivor]:
    return [Survivor(**entry) for entry in tomllib.loads(FILE.read_text("utf-8")).get("survivor", [])]
