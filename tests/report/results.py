"""Runs without a run: streams for the tests of what is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkeyspec.report.reader import Run, read
from mkeyspec.report.record import Begin, Case, DeviceInfo, End, Items, Record, Result, Suite, Verdict
from mkeyspec.report.writer import Writer

BEGIN = Begin(1, "20261122-174501-model-1f3a", "2026-11-22T17:45:01.000Z", "0.1.0", device="model", git_commit="c0ffee")
FILE = "cases/a/crc.mks"
ABOUT: tuple[Record, ...] = (
    DeviceInfo("mlx5_0 (ConnectX-7)", "28.43.1014", "0000:08:00.0", {"rdma-core": "44.0"}, ["crypto"], {"max_sge": 30}),
    Suite(FILE, "a suite", "1234"),
    Case(f"{FILE}::c", 3, "a case", ["CRC-02"], ["crypto"]),
)


def row(n: int | str, verdict: Verdict = "passed", **values: Any) -> Result:
    return Result(f"{FILE}::c[n={n}]", verdict, **values)


def failed(n: int | str, message: str = "4 bytes differ", **values: Any) -> Result:
    text = f"{FILE}:9:5: error[MKS2101]: {message}\n    more"
    return row(n, "failed", code="MKS2101", message=message, line=9, column=5, text=text, **values)


def run_of(
    path: Path, *results: Result, begin: Begin = BEGIN, about: tuple[Record, ...] = ABOUT, end: bool = True
) -> Run:
    """A stream on disk, and read again."""
    writer = Writer(path)
    writer.write(begin, Items(len(results)), *about, *results)
    if end:
        writer.write(End(1.5, 0))
    writer.close()
    assert writer.error is None
    return read(path)
