"""`mkeyspec ticket`: of the results of a run, one archive that says what it has and what it lacks."""

from __future__ import annotations

import io
import json
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from mkeyspec.cli.entry import main
from mkeyspec.report.record import Begin, Calls, DeviceInfo, Machine, Record, Result
from mkeyspec.ticket import commands, counters, kernel_log
from tests.report.results import run_of

CASE = """\
mks 1
suite "a suite"

case copies
    verifies LAY-05
    for n in 1, 2, 3
    memory m = counter(n * 64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == counter(n * 64)
"""
FILE = "cases/a.mks"
DEVICE = DeviceInfo("mlx5_0 (ConnectX-7)", "28.43.1014", "0000:08:00.0", {"rdma-core": "44.0"})
BEGIN = Begin(1, "20361122-174501-mlx5_0-1f3a", "2036-11-22T17:45:01.000Z", "0.1.0", device="mlx5_0:1", host="lab7")


def result(n: int, **values: str) -> Result:
    text = f"{FILE}:11:5: error[MKS2101]: differs on lab7"
    usual = {"verdict": "failed", "code": "MKS2101", "message": f"differs at {n}", "text": text}
    return Result(f"{FILE}::copies[n={n}]", **(usual | values))  # type: ignore[arg-type]


CALLS = Calls(f"{FILE}::copies[n=1]", ["0.001  poll(Qp#1) -> []"])
LOOK = Machine(
    "failure", row=f"{FILE}::copies[n=1]", before={"a": 1}, after={"a": 3}, kernel=["[    1.000000] mlx5_core: health"]
)
PASSED = result(3, verdict="passed", code="", message="", text="")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with results, on a machine with one NIC, one command and an unreadable kernel log."""
    project = tmp_path / "p"
    (project / "cases").mkdir(parents=True)
    (project / FILE).write_text(CASE)
    (project / "mkeyspec.toml").write_text("")
    place = tmp_path / "sys/mlx5_0/ports/1/counters"
    place.mkdir(parents=True)
    (place / "symbol_error").write_text("5\n")
    tool = tmp_path / "bin/rdma"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho link mlx5_0/1 req_cqe_error 2\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent))
    monkeypatch.setattr(commands, "_ELSEWHERE", "")
    monkeypatch.setattr(counters.read, "__defaults__", (tmp_path / "sys",))
    monkeypatch.setattr(kernel_log, "DEVICE", str(tmp_path / "no log"))
    monkeypatch.chdir(project)
    return project


def put(*records: Record) -> None:
    run = run_of(Path("r.ndjson"), *records, begin=BEGIN, about=(DEVICE,))  # type: ignore[arg-type]
    assert run.machine == [one for one in records if isinstance(one, Machine)]


def files(name: str = "ticket.tar.gz") -> dict[str, str]:
    if name.endswith(".zip"):
        with zipfile.ZipFile(name) as archive:
            return {one.partition("/")[2]: archive.read(one).decode() for one in archive.namelist()}
    with tarfile.open(fileobj=io.BytesIO(Path(name).read_bytes())) as archive:
        found = ((one.name.partition("/")[2], archive.extractfile(one)) for one in archive.getmembers())
        return {path: data.read().decode() for path, data in found if data is not None}


def test_a_ticket_has_all_that_there_is_and_says_what_it_lacks(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(CALLS, LOOK, result(1), result(2, verdict="lost", code="MKS2012"), PASSED)
    assert main(["ticket", "--results", "r.ndjson"]) == 0
    found = files()
    assert f"ticket.tar.gz: {len(found)} files, 2 rows" in capsys.readouterr().out
    (first,) = {re.split(r"(?<=n-1)/", path)[0] for path in found if path.startswith("rows/") and "n-1/" in path}
    assert found[f"{first}/calls.txt"] == f"{CALLS.calls[0]}\n"
    assert re.fullmatch(r"a +1 -> 3\n", found[f"{first}/counters.txt"])
    assert found[f"{first}/kernel.txt"] == f"{LOOK.kernel[0]}\n"
    assert "error[MKS2101]" in found[f"{first}/failure.txt"]
    assert json.loads(found[f"{first}/result.json"])["code"] == "MKS2101"
    assert "def test_copies" in found[f"{first}/module.py"]
    assert "ibv_wr_send" in found[f"{first}/repro.c"]
    assert "import" in found[f"{first}/repro.py"]
    assert found[f"sources/{FILE}"] == CASE
    assert found["machine/counters.txt"] == "ports/1/counters/symbol_error 5\n"
    assert "req_cqe_error 2" in found["machine/rdma-statistic.txt"]
    assert json.loads(found["machine/versions.json"])["firmware"] == "28.43.1014"
    assert "err_offset" in found["run/device-profile.json"]
    readme = found["README.md"]
    assert next(iter(found)) == "README.md"
    assert all(f"`{path}`" in readme for path in found if path != "README.md")
    lacks = readme.partition("## What is not here")[2]
    assert "| now: ports/1/hw_counters | No such file or directory |" in lacks
    assert "No such file or directory: run as root" in lacks
    assert "| `devlink health show`: the driver's health reporters | `devlink` is not installed |" in lacks
    assert f"| calls of `{FILE}::copies[n=2]` | its process ended, and they were in its memory |" in lacks
    assert "as it was in the run" not in lacks


def test_names_of_the_machine_are_replaced(lab: Path) -> None:
    put(result(1))
    assert main(["ticket", "--results", "r.ndjson"]) == 0
    assert "lab7" in "".join(files().values())
    assert main(["ticket", "--results", "r.ndjson", "--redact", "-o", "t.zip"]) == 0
    text = "".join(files("t.zip").values())
    assert "lab7" not in text
    assert "differs on host-1" in text
    assert "0000:08:00.0" in text


def test_the_same_results_give_the_same_archive(lab: Path) -> None:
    put(result(1))
    for name in ("a.zip", "b.zip"):
        assert main(["ticket", "--results", "r.ndjson", "-o", f"{name}"]) == 0
    assert files("a.zip") == files("b.zip")


def test_a_source_that_changed_or_is_gone_is_told(lab: Path) -> None:
    began = "2016-11-22T17:45:01.000Z"
    run_of(Path("r.ndjson"), result(1), begin=Begin(1, "x", began, "0.1.0", device="mlx5_0:1"), about=(DEVICE,))
    assert main(["ticket", "--results", "r.ndjson"]) == 0
    assert f"| `{FILE}` as it was in the run | it was written after the run began |" in files()["README.md"]
    (lab / FILE).unlink()
    assert main(["ticket", "--results", "r.ndjson"]) == 0
    assert "| source, module and reproducer of" in files()["README.md"]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ((), 3, "no row of 20361122-174501-mlx5_0-1f3a went wrong"),
        ((f"{FILE}::copies[n=4]",), 2, "error[MKS0907]: 20361122-174501-mlx5_0-1f3a has no row"),
        (("-o", "t.rar"), 2, "error[MKS0905]: -o t.rar: name an archive, *.tar.gz, *.tgz, *.zip"),
        (("--most", "0"), 2, "error[MKS0905]: --most 0"),
        (("--results", "nothing"), 2, "error[MKS0903]: no such results: nothing"),
        (("-o", "cases/no/t.zip"), 2, "error[MKS0902]"),
    ],
)
def test_wrong_input(
    lab: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, text: str
) -> None:
    put(PASSED if "cases/no/t.zip" not in arguments else result(1), PASSED)
    assert main(["ticket", "--results", "r.ndjson", *arguments]) == code
    out = capsys.readouterr()
    assert text in out.err + out.out


def test_a_row_that_passed_can_be_named(lab: Path) -> None:
    put(PASSED)
    assert main(["ticket", "--results", "r.ndjson", PASSED.id]) == 0
    assert any(path.endswith("repro.c") for path in files())


def in_lab(device: str, *records: Record) -> None:
    path = Path("reports/r", device, "results.ndjson")
    path.parent.mkdir(parents=True)
    run_of(path, *records, begin=BEGIN, about=(DEVICE,))  # type: ignore[arg-type]


def test_a_run_of_a_lab_names_the_devices_to_choose_from(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_lab("a", result(1), PASSED)
    in_lab("b", result(1), result(2))
    in_lab("c", PASSED)
    assert main(["ticket", "--results", "reports/r"]) == 2
    text = capsys.readouterr().err
    assert "error[MKS0905]: the run has 3 devices, and a ticket is about one: " in text
    assert "--results reports/r/a (1 row went wrong), --results reports/r/b (2 rows went wrong)" in text
    assert main(["ticket", "--results", "reports/r/b"]) == 0


def test_of_a_lab_the_only_device_with_a_failure_is_meant(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_lab("a", PASSED)
    in_lab("b", result(1))
    assert main(["ticket", "--results", "reports/r"]) == 0
    assert "1 row" in capsys.readouterr().out
