"""Waivers: which failures they cover, what becomes of the verdict, and waivers that are wrong or not needed."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from mkeyspec.device.protocol import Info
from mkeyspec.files.toml_places import TomlError
from mkeyspec.plugin.waiver_file import load
from tests.plugin.project import Project

CASES = """\
mks 1
suite "waived"
case sends
    verifies LAY-05
    for n in 1, 2, 3
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == pick(n == 2, fill(0, 64), counter(64))

case good
    verifies LAY-05
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == counter(64)
"""
"""sends[n=2] fails with MKS2101, the others pass."""

LATER = "2999-01-01"


def waiver(rows: str, outcome: str = "fails", expires: str = LATER, more: str = "") -> str:
    lines = ["[[waiver]]", f'rows = "{rows}"', f'outcome = "{outcome}"', 'owner = "Ada"', 'reason = "it is slow"']
    return "\n".join([*lines, f"expires = {expires}", 'ticket = "NIC-7"', more, ""])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", CASES)
    made.put("mkeyspec.toml", 'waivers = ["waivers.toml"]\n')
    return made


def results(project: Project) -> dict[str, dict[str, object]]:
    stream = max(project.path.glob("reports/*/results.ndjson"), key=lambda path: path.stat().st_mtime_ns)
    lines = map(json.loads, stream.read_text("utf-8").splitlines())
    return {line["id"]: line for line in lines if line["kind"] == "result"}


def run(project: Project, text: str, *arguments: str) -> tuple[int, str]:
    project.put("waivers.toml", text)
    done = project.mkeyspec("run", *arguments)
    return done.code, done.out + done.err


@pytest.mark.parametrize("rows", ["cases/a.mks::sends[n=2]", "cases/a.mks::sends", "cases/*.mks::s?nds[*=2]"])
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_waived_failure_is_known(project: Project, rows: str, workers: tuple[str, ...]) -> None:
    code, out = run(project, waiver(rows), *workers)
    assert code == 0, out
    assert "3 passed, 0 failed, 1 known (1 waived), 0 skipped" in out
    found = results(project)["cases/a.mks::sends[n=2]"]
    assert found["verdict"] == "known"
    assert found["code"] == "MKS2101"
    assert found["message"] == f"waived: it is slow (NIC-7, Ada, until {LATER}; waivers.toml:1)"
    assert found["waiver"] == f"it is slow (NIC-7, Ada, until {LATER}; waivers.toml:1)"
    assert "64 bytes" in str(found["text"])
    junit = (project.path / "reports" / "junit.xml").read_text("utf-8")
    assert "known: MKS2101 waived: it is slow (NIC-7, Ada" in junit
    assert "[[PROPERTY|waiver=it is slow" in junit
    assert "    1  known: it is slow (NIC-7, Ada" in project.mkeyspec("report", "text").out


def test_plain_pytest_and_the_option(project: Project) -> None:
    project.put("mkeyspec.toml", "")
    project.put("w.toml", waiver("cases/a.mks::sends[n=2]", "flaky"))
    done = project.pytest("--waivers", "w.toml", "-rx")
    assert "3 passed, 1 xfailed" in done.out
    assert "waived: it is slow" in done.out
    assert project.pytest().code == 1


def test_another_code_is_a_failure(project: Project) -> None:
    code, out = run(project, waiver("cases/a.mks::sends[n=2]", more='code = "MKS2104"'))
    assert code == 1
    assert "waiver    is for MKS2104, not MKS2101: it is slow (NIC-7, Ada" in out
    assert "1 failed (1 MKS2101)" in out
    code, out = run(project, waiver("cases/a.mks::sends[n=2]", more='code = "MKS2101"'))
    assert code == 0, out


def test_an_expired_waiver_holds_no_more(project: Project) -> None:
    yesterday = datetime.date.today() - datetime.timedelta(days=1)
    code, out = run(project, waiver("cases/a.mks::sends[n=2]", expires=str(yesterday)))
    assert code == 1
    assert f"waiver    expired on {yesterday}: it is slow" in out
    assert "mkeyspec: a waiver has expired: it is slow" in out
    assert str(results(project)["cases/a.mks::sends[n=2]"]["waiver"]).startswith("expired: it is slow")
    both = waiver("cases/a.mks::sends[n=2]", expires=str(yesterday)) + waiver("cases/a.mks::sends[n=2]")
    code, out = run(project, both)
    assert code == 0, out
    today = datetime.date.today() + datetime.timedelta(days=1)  # midnight may come
    assert run(project, waiver("cases/a.mks::sends[n=2]", expires=str(today)))[0] == 0


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_waiver_without_its_failure_is_reported(project: Project, workers: tuple[str, ...]) -> None:
    text = waiver("cases/a.mks::sends") + waiver("cases/a.mks::good")
    code, out = run(project, text, *workers)
    assert code == 1
    assert "waivers.toml:9: error[MKS2303]: departure not seen: every row of this waiver went well" in out
    assert "waivers.toml:1: error[MKS2303]" not in out
    assert [one["verdict"] for one in results(project).values()].count("unseen") == 1
    code, out = run(project, waiver("cases/a.mks::sends"), "-k", "1 and sends", *workers)
    assert code == 0, out  # not all of its rows have run
    assert run(project, waiver("cases/a.mks::good", "flaky") + waiver("cases/a.mks::sends"))[0] == 0


def test_a_row_is_skipped(project: Project) -> None:
    code, out = run(project, waiver("cases/a.mks::sends[n=2]", "skip"))
    assert code == 0, out
    assert "3 passed, 0 failed, 1 skipped (1 waived: it is slow (NIC-7, Ada" in out
    assert results(project)["cases/a.mks::sends[n=2]"]["verdict"] == "skipped"


def test_a_pattern_without_a_row_is_an_error(project: Project) -> None:
    text = waiver("cases/a.mks::sends[n=2]") + waiver("cases/a.mks::snds")
    code, out = run(project, text)
    assert code == 2
    assert "waivers.toml:9: error[MKS0943]: no row is called cases/a.mks::snds" in out
    assert "3 passed, 1 failed (1 MKS0943), 1 known" in out
    project.put("cases/b.mks", CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)"))
    code, out = run(project, text, "cases/b.mks")  # of other files nothing is known
    assert code == 0, out
    code, out = run(project, waiver("cases/gone.mks::x"))
    assert "no row is called cases/gone.mks::x" in out


def test_another_device_has_no_waiver(project: Project) -> None:
    for more in ('device = "mlx5_*"', 'firmware = ">=1"', 'versions = { rdma-core = ">=99" }'):
        code, out = run(project, waiver("cases/a.mks::sends[n=2]", more=more))
        assert code == 1, out
        assert "1 failed (1 MKS2101)" in out


def first(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "w.toml").write_text(text, "utf-8")
    with pytest.raises(TomlError) as caught:
        load([tmp_path / "w.toml"])
    return [line.rpartition("w.toml:")[2] for line in str(caught.value).splitlines()]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[waver]]\n", "1:1: error[MKS0942]: unknown key `waver`; the tables are called [[waiver]]"),
        ("waiver = 1\n", "waiver is a list of tables"),
        (waiver("cases/a.mks"), "2:1: error[MKS0942]: `cases/a.mks` names no row"),
        (waiver("a::b", "fail"), "3:1: error[MKS0942]: `outcome` is one of fails, flaky, skip"),
        (waiver("a::b", expires="1"), "6:1: error[MKS0942]: `expires` is a day"),
        (waiver("a::b", expires="2027-01-01T10:00:00"), "`expires` is a day"),
        (waiver("a::b", more='code = "MKS0101"'), "8:1: error[MKS0942]: no failure of a row has the code MKS0101"),
        (waiver("a::b", more='code = "MKS2012"'), "MKS2012 is not a verdict about the device"),
        (waiver("a::b", "skip", more='code = "MKS2101"'), "a row that is skipped has no failure"),
        (waiver("a::b", more='firmware = ">=x"'), "`>=x` is not a range of versions"),
        (waiver("a::b", more='versions = { kernal = ">=5" }'), "`kernal` is not a version that a device tells"),
        (waiver("a::b", more='versions = { kernel = "5" }'), "`5` is not a range of versions"),
        (waiver("a::b", more='ownr = "x"'), "unknown key `ownr` in [[waiver]]; did you mean `owner`?"),
        (waiver("a::b", more='device = ""'), "`device` is a text"),
        (waiver("a::b").replace('owner = "Ada"\n', ""), "1:1: error[MKS0942]: a waiver needs `owner`"),
    ],
)
def test_errors_of_a_file(tmp_path: Path, text: str, told: str) -> None:
    (only,) = first(tmp_path, text)
    assert told in only


def test_ranges_and_patterns_of_firmware(tmp_path: Path) -> None:
    def applies(more: str) -> bool:
        (tmp_path / "w.toml").write_text(waiver("a::b", more=more), "utf-8")
        return load([tmp_path / "w.toml"])[0].applies(Info("mlx5_0", "20.35.1012", {"rdma-core": "50.0"}))

    assert applies('firmware = ">=20.31, <20.40"')
    assert applies('firmware = "20.*"')
    assert not applies('firmware = ">=20.36"')
    assert not applies('firmware = "22.*"')
    assert applies('device = "mlx5_*"\nversions = { rdma-core = ">=50" }')
    assert not applies('versions = { rdma-core = ">50" }')
    assert not applies('versions = { kernel = ">=1" }')


def test_a_waiver_whose_rows_did_not_run_is_not_reported(project: Project) -> None:
    """Of a row that the device can't run nothing is known."""
    text = "case lacks\n    verifies XCRY-14\n    needs device.max_sge >= 1M\n    memory m = counter(64)\n"
    project.put("cases/a.mks", CASES + "\n" + text + "    store m = fill(0, 64)\n    expect m == fill(0, 64)\n")
    code, out = run(project, waiver("cases/a.mks::lacks") + waiver("cases/a.mks::sends[n=2]"))
    assert "MKS2303" not in out
    assert code == 0, out
