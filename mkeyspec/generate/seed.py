"""Seeds. One is written `3.42`: the version of the generator, and a number. `42` is of the present version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

VERSION = 3
"""Raise it with every change after which a seed draws other cases."""
MOST = (1 << 64) - 1
_WRITTEN = re.compile(r"(?:(?P<version>[0-9]{1,9})\.)?(?P<number>[0-9]{1,20})")


class BadSeedError(ValueError):
    """Not a seed, or of another version; `str()` is one line with the fix. `code` is its diagnostic."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Seed:
    """The seed of all cases of a run. Case i is the same, however many cases are drawn."""

    number: int

    def __str__(self) -> str:
        return f"{VERSION}.{self.number}"

    def of_case(self, index: int) -> Random:
        """The random numbers of one case, the same in every process and on every machine."""
        return Random(f"mkeyspec {VERSION} {self.number} {index}")


def parsed(text: str) -> Seed:
    """The seed that a user wrote. Raises BadSeedError."""
    match = _WRITTEN.fullmatch(text)
    if match is None or int(match["number"]) > MOST:
        raise BadSeedError(
            "MKS0925",
            f"{text!r} is not a seed; write a number from 0 to {MOST}, or one that a report names ({VERSION}.42)",
        )
    version = match["version"]
    if version is not None and int(version) != VERSION:
        raise BadSeedError(
            "MKS0926",
            f"seed {text} is of version {int(version)} of the generator, and this is version {VERSION}: it would draw"
            f" other cases; use the mkeyspec that printed it, or --seed {match['number']} for cases of this one",
        )
    return Seed(int(match["number"]))
