"""Rows that went wrong, by the near misses that explain most of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.report.causes import causes_of
from mkeyspec.report.record import Difference, NearMiss
from mkeyspec.report.rows import results_of
from tests.report.results import ABOUT, failed, row, run_of

MASK = ["record.none", "field.kept", "field.kept_guard", "check.shifted"]
ESCAPE = ["escape.app_always", "record.none", "check.shifted"]

SETS: dict[str, tuple[list[list[str]], list[tuple[str, int]]]] = {
    "what holds for any signature comes last": (
        [MASK],
        [("looks like: check.shifted, or record.none, or field.kept, or 1 more", 1)],
    ),
    "what explains both": ([MASK, ESCAPE], [("looks like: check.shifted, or record.none", 2)]),
    "a third row tells which": ([MASK, ESCAPE, ["crc.half", "check.shifted"]], [("looks like: check.shifted", 3)]),
    "of two that explain as many, that with fewer others": (
        [["a", "b", "c"], ["b", "a"], ["a"], ["b"]],
        [("looks like: a", 3), ("looks like: b", 1)],
    ),
    "two defects": (
        [MASK, ["crc.inversion"], ["crc.inversion", "crc.half"], ESCAPE, MASK],
        [("looks like: check.shifted, or record.none", 3), ("looks like: crc.inversion", 2)],
    ),
    "what the bytes are explains nothing": (
        [["bytes.zero"], ["bytes.zero", "a"]],
        [("MKS2101 N bytes differ", 1), ("looks like: a", 1)],
    ),
    "its sentence, where the stream has it": ([["ref.down"]], [("looks like: the reference tag is decremented", 1)]),
    "none": ([[], []], [("MKS2101 N bytes differ", 2)]),
}


@pytest.mark.parametrize("name", SETS)
def test_causes(tmp_path: Path, name: str) -> None:
    rows, expected = SETS[name]
    results = [failed(n + 1, "4 bytes differ", looks_like=names) for n, names in enumerate(rows)]
    about = (*ABOUT, NearMiss("ref.down", "the reference tag is decremented"))
    run = run_of(tmp_path / "r", row(99), *results, about=about)
    causes = causes_of((run, one) for one in results_of(run))
    found = [(cause.title, len(cause.results)) for cause in causes]
    assert sorted(found) == sorted((f"CRC-02: {title}", count) for title, count in expected)
    assert [count for _, count in found] == sorted((count for _, count in expected), reverse=True)


def test_a_row_with_bytes_is_shown_first(tmp_path: Path) -> None:
    bytes_differ = Difference("wire[516]", 4, 1024, 512, "0a", "0b")
    run = run_of(tmp_path / "r", failed(1, looks_like=["a"]), failed(2, looks_like=["a"], difference=bytes_differ))
    (cause,) = causes_of((run, one) for one in results_of(run))
    assert [result.id[-5:] for result in cause.results] == ["[n=2]", "[n=1]"]


def test_every_row_has_one_cause(tmp_path: Path) -> None:
    results = [failed(n, looks_like=[f"a{n % 7}", f"b{n % 3}", "bytes.zero"]) for n in range(1, 43)]
    run = run_of(tmp_path / "r", *results)
    causes = causes_of((run, one) for one in results_of(run))
    ids = [result.id for cause in causes for result in cause.results]
    assert sorted(ids) == sorted(result.id for result in results)
    for cause in causes:
        assert all(set(cause.looks_like) <= set(result.looks_like) for result in cause.results)
