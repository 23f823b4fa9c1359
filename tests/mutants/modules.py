"""Which modules are mutated, and which tests are theirs: modules.toml."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("modules.toml")


@dataclass(frozen=True, slots=True)
class Module:
    """`path` and `tests` from the root of the checkout; the tests take ten seconds at most, likely killers first."""

    path: str
    tests: tuple[str, ...]

    @property
    def package(self) -> str:
        return self.path.rpartition("/")[0]


C_FOLDERS = ("softnic/engine", "softnic/pure")


def c_files() -> list[str]:
    """The engine of the software NIC: what a WQE does. The shim, which stands in for the kernel, is left out."""
    return sorted(str(path.relative_to(ROOT)) for folder in C_FOLDERS for path in (ROOT / folder).glob("*.c"))


@cache
def wider(path: str) -> tuple[str, ...]:
    """Tests of the whole package of a module, for what its own do not kill. They are many: a minute and more."""
    read = tomllib.loads(FILE.read_text("utf-8"))
    return tuple(read["wider"].get(path.rpartition("/")[0], ()))


def modules() -> dict[str, Module]:
    """By path."""
    read = tomllib.loads(FILE.read_text("utf-8"))
    found = [Module(path, tuple(tests)) for path, tests in read["tests"].items()]
    return {module.path: module for module in found}
