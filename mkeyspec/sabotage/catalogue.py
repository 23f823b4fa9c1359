"""The catalogue of faults: one for every device that can be made to have them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("catalogue.toml")
PARTS = ("nic", "driver")


class UnknownFaultError(ValueError):
    """No fault has this name; `str()` is one line that says which may be meant."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`violates`: ids of the ledger. `part`: `nic` for both devices, `driver` for the model alone. `needs`: what a
    personality of the software NIC must offer for the fault to be seen; "": what each of them offers."""

    name: str
    group: str
    part: str
    what: str
    violates: tuple[str, ...]
    needs: str = ""


@lru_cache(maxsize=1)
def faults() -> dict[str, Fault]:
    """All of them by name, in the order of the file."""
    with FILE.open("rb") as file:
        table = tomllib.load(file)
    return {
        name: Fault(
            name, entry["group"], entry["part"], entry["what"], tuple(entry["violates"]), entry.get("needs", "")
        )
        for name, entry in table.items()
    }


def of_device(device: str) -> dict[str, Fault]:
    """Those that `model` or `soft` can have."""
    return {name: one for name, one in faults().items() if device == "model" or one.part == "nic"}


def named(name: str) -> Fault:
    """Raises UnknownFaultError."""
    found = faults().get(name)
    if found is None:
        near = get_close_matches(name, faults(), n=3, cutoff=0.5)
        advice = f"did you mean {' or '.join(near)}?" if near else "`mkeyspec sabotage --list` names them"
        raise UnknownFaultError(f"no fault is called {name!r}; {advice}")
    return found
