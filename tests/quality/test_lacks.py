"""A sample of `python -m tests.quality.lacks`: rows of small files, on devices that lack one capability each."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import pytest

from tests.quality.lacks import NAMES, asked, bench, devices, red
from tests.quality.subject import ROOT, Row, rows

FILES = (
    "configure/access", "crypto/attributes", "crypto/deks", "lacking", "mkey/create", "mkey/destroy", "mkey/invalidate",
    "mkey/sizes", "open/configurations", "open/crypto", "open/transfers", "posting/dc", "posting/memcpy",
    "posting/qp_types", "posting/raw", "posting/raw_requests", "signature/errors", "signature/pipelining",
    "signature/sizes", "transport/operations",
)  # fmt: skip


@lru_cache(maxsize=1)
def sample() -> list[Row]:
    return rows([ROOT / f"cases/{name}.mks" for name in FILES], most=20, seed=3)


def test_no_row_is_red_on_a_device_that_lacks_something() -> None:
    assert not [str(one) for row in sample() for one in red(row)]


REFUSED = {"qp.ud", "qp.xrc_send", "qp.raw_packet"}
"""No shipped case makes such a QP: what the cases ask of it, the driver refuses on every device."""


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED])
def test_a_row_that_needs_it_is_skipped_and_the_need_named(name: str) -> None:
    """The sample has a row for each capability."""
    row = next(row for row in sample() if name in row.row.needs and name in asked(row))
    outcome = bench([name]).run(row)
    assert outcome.status == "skip"
    assert name in outcome.text.split(", ")


def test_each_need_that_is_left_out_is_found() -> None:
    """A row that passes with everything and does not name its needs is red somewhere."""
    row = next(row for row in sample() if {"block_signature", "signature.crc32", "block.512"} <= {*row.row.needs})
    bare = replace(row, row=replace(row.row, needs=()))
    assert {one.lacks for one in red(bare)} >= {"block_signature", "signature.crc32", "block.512"}
    assert {one.lacks for one in red(bare)} <= {*devices()}
