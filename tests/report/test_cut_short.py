"""Runs that were killed or stopped before all their rows had run: no report of them is green."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import etree

from mkeyspec.cli.entry import main
from mkeyspec.report.reader import read
from mkeyspec.report.record import End, Items, Record, Start
from mkeyspec.report.rows import results_of
from mkeyspec.report.writer import Writer
from tests.report.results import BEGIN, FILE, row

LEFT = "3 of 4 selected rows were not run"
LEFT_ONE = "the run did not end by itself: 1 of 3 selected rows was not run"
IN_FLIGHT = Start(f"{FILE}::c[n=2]")

# What a stream has after its first line, how many rows are lost, and what the entry of the process says.
STREAMS: dict[str, tuple[list[Record], int, str]] = {
    "before the first row": ([], 0, "the run did not end by itself"),
    "between two rows": ([Items(4), row(1)], 0, f"the run did not end by itself: {LEFT}"),
    "during a row": ([Items(3), row(1), IN_FLIGHT], 1, LEFT_ONE),
    "during the last row": ([Items(2), row(1), IN_FLIGHT], 1, ""),
    "after the last row": ([Items(1), row(1)], 0, "the run did not end by itself"),
    "interrupted": ([Items(4), row(1), End(1.0, 2)], 0, f"the run was stopped: {LEFT}"),
    "failed first": ([Items(4), row(1, "failed"), End(1.0, 1)], 0, ""),
    "whole": ([Items(1), row(1), End(1.0, 0)], 0, ""),
}
WHOLE = ("failed first", "whole")


@pytest.mark.parametrize("name", STREAMS)
def test_rows_that_were_not_run(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, lost, said = STREAMS[name]
    stream = tmp_path / "results.ndjson"
    writer = Writer(stream)
    writer.write(BEGIN, *records)
    writer.close()
    found = [one for one in results_of(read(stream)) if one.verdict == "lost"]
    assert [one.message for one in found if one.id == "the process"] == ([said] if said else [])
    assert len([one for one in found if "::" in one.id]) == lost
    assert {one.code for one in found} <= {"MKS2012"}
    for form in "junit", "github", "gitlab", "text", "html", "matrix":
        code = main(["report", form, str(stream), "-o", str(tmp_path / form)])
        assert code == (0 if name in WHOLE else 1), form
        assert ("error[MKS0934]" in capsys.readouterr().err) == (name not in WHOLE)
    errors = etree.parse(tmp_path / "junit").getroot().get("errors")
    assert errors == str(len(found))
    assert len((tmp_path / "github").read_text().splitlines()) == len(found) + (name == "failed first")
    assert len(json.loads((tmp_path / "gitlab").read_text())) == len(found) + (name == "failed first")
