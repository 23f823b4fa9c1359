"""Rows by device: which are listed, in which order, what a device without rows shows; parts are one column."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mkeyspec.cli import main
from mkeyspec.report import by_device
from mkeyspec.report.by_device import matrix_of
from mkeyspec.report.html import html_of
from mkeyspec.report.reader import Run, read
from mkeyspec.report.record import Begin, DeviceInfo, End, Items, Result
from mkeyspec.report.text import text_of
from mkeyspec.report.whole import missing
from mkeyspec.report.writer import Writer
from tests.report.results import BEGIN, FILE, failed, row


def of(unit: str, path: Path, *results: Result, shard: str = "", host: str = "") -> Run:
    begin = replace(BEGIN, unit=unit, lab="lab" if unit else "", host=host)
    writer = Writer(path / f"{unit or host}-{shard.replace('/', '')}".replace("/", "-"))
    about = DeviceInfo("mlx5_0", "28.43")
    writer.write(begin, Items(len(results), shard, "split" if shard else ""), about, *results, End(1.0, 0))
    writer.close()
    return read(writer.path)


@pytest.fixture
def lab(tmp_path: Path) -> list[Run]:
    blocked = Result("the device", "blocked", code="MKS0971", message="host b: gone")
    return [
        of("a/x", tmp_path, row(1), row(2), failed(3), row(4, "skipped")),
        of("b/y", tmp_path, blocked),
        of("c/z", tmp_path, row(1), shard="1/2"),
        of("c/z", tmp_path, failed(3), row(2), row(5), shard="2/2"),
    ]


def test_rows_that_differ_or_are_wrong(lab: list[Run]) -> None:
    found = matrix_of([lab[0], *lab[2:]])
    assert [column.label for column in found.columns] == ["a/x", "c/z"]
    assert found.rows == [
        (f"{FILE}::c[n=3]", ["failed", "failed"]),
        (f"{FILE}::c[n=4]", ["skipped", "-"]),
        (f"{FILE}::c[n=5]", ["-", "passed"]),
    ]
    assert found.same == 2
    assert len(matrix_of([lab[0], *lab[2:]], every=True).rows) == 5


def test_a_device_that_is_blocked_is_so_in_each_row(lab: list[Run]) -> None:
    found = matrix_of(lab)
    assert dict(found.rows)[f"{FILE}::c[n=1]"] == ["passed", "blocked", "passed"]
    assert "B  b/y" in by_device.text_of(found)
    assert "blocked: MKS0971 host b: gone" in by_device.text_of(found)
    data = json.loads(by_device.json_of(found))
    assert [one["counts"] for one in data["devices"]] == [
        {"passed": 2, "failed": 1, "skipped": 1}, {}, {"passed": 3, "failed": 1},
    ]  # fmt: skip
    assert by_device.markdown_of(found).count("\n| ") == 4 + 7


def test_runs_of_no_lab_are_called_by_host_and_device(tmp_path: Path) -> None:
    runs = [of("", tmp_path, row(1), host="p"), of("", tmp_path, row(1, "skipped"), host="q")]
    assert [column.label for column in matrix_of(runs).columns] == ["p/model", "q/model"]
    assert by_device.on_several(runs)
    assert not by_device.on_several(runs[:1])


def test_a_missing_part_is_of_its_device(lab: list[Run], tmp_path: Path) -> None:
    assert missing(lab) == ""
    other = of("a/x", tmp_path, row(1), shard="1/2")
    assert missing([other, *lab[2:]]).endswith("is part 1/2 of a run on a/x, and there is no part 2/2 of it")


def test_text_and_page_say_the_device(lab: list[Run]) -> None:
    assert "rows that differ, or are wrong" in text_of(lab)
    page = html_of(lab).decode()
    assert '<section id="devices">' in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    case = next(one for one in data["cases"] if one["id"] == f"{FILE}::c")
    assert case["columns"] == ["device", "n"]
    assert sorted(one[2] for one in case["rows"])[:2] == [["a/x", "1"], ["a/x", "2"]]


def test_one_device_has_no_matrix(lab: list[Run]) -> None:
    run = replace(lab[0], begin=Begin(1, "r", "", "0"))
    assert "rows that differ" not in text_of([run])
    assert '<section id="devices">' not in html_of([run]).decode()


def test_runs_of_labs_are_compared_device_by_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that has no row in the newer run is lost, whatever the others did; a new one is told."""
    blocked = Result("the device", "blocked", code="MKS0971", message="host b: gone")
    runs = {
        "20261121-100000-lab-1": [("a/x", [row(1)]), ("b/y", [row(1)]), ("c/z", [row(1)])],
        "20261122-100000-lab-2": [("a/x", [failed(1)]), ("b/y", [row(1)]), ("c/z", [blocked]), ("d/w", [row(1)])],
        "20261123-100000-lab-3": [("a/x", [row(1)]), ("b/y", [row(1)]), ("c/z", [row(1)]), ("d/w", [row(1)])],
    }
    for name, devices in runs.items():
        for unit, results in devices:
            folder = tmp_path / "reports" / name / unit.replace("/", "-")
            folder.mkdir(parents=True)
            of(unit, tmp_path, *results).path.rename(folder / "results.ndjson")
    monkeypatch.chdir(tmp_path)
    one, two, three = runs
    assert main(["compare", one, two]) == 1
    said = capsys.readouterr().out
    parts = dict(part.split("\n", 1) for part in said.split("== ")[1:])
    assert "FLAKY  1" in parts["a/x"]  # where nothing differs
    assert "1 the same" in parts["b/y"]
    assert "LOST: the newest run has no row of this device" in parts["c/z"]
    assert "NEW: no older run has this device" in parts["d/w"]
    assert main(["compare", two, "--format", "json"]) == 0  # the newest one against it
    found = json.loads(capsys.readouterr().out)
    assert (list(found["devices"]), found["lost"], found["new"]) == (["a/x", "b/y", "d/w"], [], ["c/z"])
    assert main(["compare", one, three]) == 0
