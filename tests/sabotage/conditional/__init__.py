"""Hand-written cases for the conditions of the software NIC's faults (tests/sabotage/test_soft_conditions.py)."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from mkeyspec.sabotage.catalogue import named
from mkeyspec.sabotage.conditions.catalogue import ConditionalFault
from mkeyspec.sabotage.conditions.condition import parse

CASES = Path(__file__).with_name("cases.mks")


def pairs() -> dict[str, tuple[str, str, str]]:
    """By dimension: a fault under a condition, a row that it fails, a row outside the condition."""
    with CASES.with_name("pairs.toml").open("rb") as file:
        return {name: (fault, kills, spares) for name, (fault, kills, spares) in tomllib.load(file).items()}


def fault(id: str) -> ConditionalFault:
    """Of any fault and any condition, in the catalogue or not."""
    name, _, text = id.partition("@")
    return ConditionalFault(named(name), parse(text), named(name).violates[0])
