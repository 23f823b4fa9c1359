"""The rule that a near miss breaks."""

from __future__ import annotations

import pytest

from mkeyspec.lookslike import broken
from mkeyspec.lookslike.broken import broken_by
from mkeyspec.lookslike.record_ways import CHECKS, RECORDS
from mkeyspec.lookslike.search import HYPOTHESES
from mkeyspec.requirements.ledger import requirements

NAMES = sorted({one.name for one in HYPOTHESES} | {one.name for one in (*RECORDS, *CHECKS)})


def test_every_rule_is_one_and_every_beginning_is_used() -> None:
    known = requirements()
    table = broken._BROKEN
    used = {max(fits, key=len) for name in NAMES if (fits := [one for one in table if name.startswith(one)])}
    assert set(table) == used
    assert {id for ids in table.values() for id in ids} <= set(known)


@pytest.mark.parametrize(
    ("names", "verified", "rule"),
    [
        (["guard.seed_zeros"], (), "DIF-06"),
        (["guard.seed_zeros", "guard.seed_ones"], (), "DIF-06"),
        (["guard.seed_zeros", "guard.zero"], (), ""),
        (["ref.not_incremented"], (), "DIF-12"),
        (["ref.incremented"], (), "DIF-13"),
        (["crc.inversion"], (), ""),
        (["crc.inversion"], ("SIG-01", "CRC-03"), "CRC-03"),
        (["crc.inversion"], ("CRC-02", "CRC-03"), ""),
        (["crc.seed_zeros"], ("CRC-03",), "CRC-05"),
        (["layout.order"], ("INT-01",), "INT-01"),
        (["cancel.none"], (), "XCAN-04"),
        (["cancel.first"], (), "XCAN-05"),
        (["moved.half"], ("CRC-03",), ""),
        ([], (), ""),
    ],
)
def test_the_rule(names: list[str], verified: tuple[str, ...], rule: str) -> None:
    """One that all of them break; of several that forbid it, the one that the case verifies."""
    assert broken_by(names, verified) == rule
