"""Runs on local hosts: what went on there is kept, and each device is told what became of it."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from mkeyspec import __version__
from mkeyspec.report.reader import Run, read
from tests.plugin.project import CASES, Done, Project

ROLES = Path(__file__).with_name("roles.py")

LAB = """\
deadline = 20

[hosts.good]

[hosts.hangs]
python = "{folder}/hangs"
deadline = 1

[hosts.gone]
python = "{folder}/gone"

[hosts.other]
reach = "popen//env:PYTHONPATH={folder}/other"

[hosts.gateway]
reach = "popen//env:ROLE=gateway//env:PIDS={folder}//env:TMPDIR={folder}"

[hosts.stops]
reach = "popen//env:ROLE=stops//env:PIDS={folder}//env:TMPDIR={folder}"
deadline = 10

[hosts.run]
reach = "popen//env:ROLE=run//env:PIDS={folder}"

[hosts.process]
reach = "popen//env:ROLE=process//env:PIDS={folder}"

"""

DEVICES: dict[str, tuple[str, dict[str, str], str]] = {
    "good/model": ('host = "good"', {}, "passed passed passed passed"),
    "late": ('host = "good"\nname = "late"\ndevice = "model:late"', {}, "passed passed passed passed"),
    "hangs/model": ('host = "hangs"', {"the device": "MKS0971"}, ""),
    "gone/model": ('host = "gone"', {"the device": "MKS0971"}, ""),
    "other/model": ('host = "other"', {"the device": "MKS0972"}, ""),
    "nic": ('host = "good"\nname = "nic"\ndevice = "mlx5_99"', {"the device": "MKS09"}, ""),
    "gateway/model": ('host = "gateway"', {}, "passed passed lost lost"),
    "stops/model": ('host = "stops"', {}, "passed passed lost lost"),
    "run/model": ('host = "run"', {}, "passed passed lost lost"),
    "process/model": ('host = "process"', {}, "passed passed lost lost"),
}
"""By name: what the file says, the code of what is said of the device itself, and the verdicts of its four rows."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("lab")
    made = Project(folder)
    made.put("cases/test_roles.py", ROLES.read_text("utf-8"))
    made.put("hangs", "#!/bin/sh\nexec sleep 100\n").chmod(0o755)
    made.put("gone", "#!/bin/sh\necho no route to host >&2\nexit 1\n").chmod(0o755)
    made.put("other/mkeyspec/__init__.py", '__version__ = "9.9"\n')
    devices = [
        f"[[device]]\n{text if 'device =' in text else text + chr(10) + 'device = ' + repr('model')}\n"
        for text, _, _ in DEVICES.values()
    ]
    made.put("lab.toml", LAB.format(folder=folder) + "\n".join(devices))
    return made


@pytest.fixture(scope="module")
def done(project: Project) -> Done:
    return project.mkeyspec("run", "cases/test_roles.py", "--lab", "lab.toml")


@pytest.fixture(scope="module")
def runs(project: Project, done: Done) -> dict[str, Run]:
    assert done.err == ""
    found = [read(path) for path in (project.path / "reports").glob("*/*/results.ndjson")]
    return {run.begin.unit: run for run in found}


def test_each_device_has_a_stream(runs: dict[str, Run]) -> None:
    assert runs.keys() == DEVICES.keys()
    assert len({run.begin.lab for run in runs.values()}) == 1
    assert all(run.begin.run == f"{run.begin.lab}/{run.path.parent.name}" for run in runs.values())


@pytest.mark.parametrize("name", DEVICES)
def test_what_ran_is_kept_and_the_rest_is_told(runs: dict[str, Run], name: str) -> None:
    _, whole, verdicts = DEVICES[name]
    results = dict(runs[name].results)
    for id, code in whole.items():
        result = results.pop(id)
        assert result.verdict == "blocked"
        assert result.code.startswith(code)
        assert result.text.startswith("lab.toml:")
    assert not runs[name].cut_short or not whole  # it would be one more cause, MKS2012
    rows = [f"cases/test_roles.py::test_row[{n}]" for n in range(len(verdicts.split()))]
    assert {id: result.verdict for id, result in results.items()} == dict(zip(rows, verdicts.split(), strict=True))
    lost = [result for result in results.values() if result.verdict == "lost"]
    assert all(result.code in ("MKS0973", "MKS2012") for result in lost)
    assert not lost or "MKS0973" in {result.code for result in lost}


def test_all_is_printed_and_the_exit_code_is_the_worst(done: Done, project: Project) -> None:
    assert done.code == 2, done.out  # of `nic`, which `mkeyspec run` refuses there
    lines = (project.path / "lab.toml").read_text().splitlines()
    for name, code, what in (
        ("hangs", "MKS0971", "it does not answer within 1 s"),
        ("gone", "MKS0971", "it can't be reached: no route to host"),
        ("other", "MKS0972", f"it has mkeyspec 9.9, and this is {__version__}"),
    ):
        place = f"lab.toml:{lines.index(f'[hosts.{name}]') + 1}:1"
        assert f"{place}: error[{code}]: host {name}: {what}" in done.out
    for name in ("gateway", "stops", "run"):
        assert f"error[MKS0973]: {name}/model was lost in the run: " in done.out
    assert "the host says nothing for 10 s" in done.out


def test_no_process_stays(project: Project, runs: dict[str, Run]) -> None:
    for role in ("gateway", "stops", "run", "process"):
        for pid in (project.path / role).read_text().split():
            end = time.monotonic() + 15
            while _is_there(int(pid)) and time.monotonic() < end:
                time.sleep(0.05)
            assert not _is_there(int(pid)), role


def _is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_reports_say_the_device_of_each_row(project: Project, runs: dict[str, Run]) -> None:
    """Of the newest run, without a name; and what the matrix says is what the streams say."""
    data = json.loads(project.mkeyspec("report", "matrix", "--format=json").out)
    counted = {one["name"]: Counter(one["counts"]) for one in data["devices"]}
    assert counted["stops/model"] == {"passed": 2, "lost": 2}
    place = [one["name"] for one in data["devices"]].index("stops/model")
    cells = {row["id"]: row["verdicts"][place] for row in data["rows"]}
    assert cells["cases/test_roles.py::test_row[3]"] == "lost"
    junit = project.mkeyspec("report", "junit").out
    for name in ("good_model", "stops_model", "late"):
        assert f'classname="{name}.cases.test_roles"' in junit


CASE_LAB = """\
[hosts.here]
[[device]]
host = "here"
device = "soft:cx5"
firmware = "99.*"
[[device]]
host = "here"
device = "soft:bf3"
tags = ["one"]
[[device]]
host = "here"
device = "model"
waivers = ["lab/waivers.toml"]
profile = "lab/other.toml"
tags = ["two"]
[[pair]]
name = "wire"
owner = "here/soft:bf3"
peer = "here/soft:cx5"
"""
BARE_LAB = "".join(line for line in CASE_LAB.splitlines(keepends=True) if "lab/" not in line)
WAIVER = """\
[[waiver]]
rows = ["cases/a.mks::fails[n=2]"]
outcome = "fails"
code = "MKS2101"
expires = 2999-01-01
owner = "lab"
reason = "known"
"""


def test_cases_go_along_with_what_they_need(tmp_path: Path) -> None:
    """Sources and their modules, used files, waivers; a peer goes along as `--peer`, and with another firmware
    than the file says it ends the run of its pair at the first row."""
    project = Project(tmp_path)
    project.put("lib/size.mks", 'mks 1\nsuite "sizes"\nlet size = 64\n')
    project.put(
        "cases/a.mks",
        CASES.replace('suite "a suite"', 'suite "a suite"\nuse "../lib/size.mks"').replace("n * 64", "n * size"),
    )
    project.put("lab/waivers.toml", WAIVER)
    project.put("lab/other.toml", '[measured]\ndevice = "mlx5_7"\nfirmware = "1.2"\n')
    project.put("lab.toml", CASE_LAB)
    done = project.mkeyspec("run", "cases", "--lab=lab.toml", "--junit=all.xml")
    assert (
        "lab.toml:5:1: error[MKS0974]: here/soft:cx5 has firmware 16.35.4030, and the lab file expects 99.*" in done.out
    )
    warning = "warning[MKS0958]: a profile of another device: it was measured on mlx5_7, and this is model"
    assert f"here/model: {warning}" in done.out
    assert done.code == 1
    runs = {run.begin.unit: run for run in map(read, (tmp_path / "reports").glob("*/*/results.ndjson"))}
    assert Counter(one.verdict for one in runs["here/model"].results.values()) == {
        "passed": 5,
        "known": 1,
        "skipped": 1,
    }
    blocked = [one for one in runs["wire"].results.values() if one.verdict == "blocked"]
    assert blocked
    assert {one.code for one in blocked} == {"MKS0974"}
    assert len(runs["wire"].results) == 7
    assert (tmp_path / "all.xml").is_file()
    assert "--junit=all.xml" in runs["here/model"].begin.options


def test_rows_that_a_device_has_lost_are_told_though_another_one_went_wrong(tmp_path: Path) -> None:
    """The next run of this device would not look behind this one, in which nothing else went wrong."""
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES.split("case fails")[0])
    project.put("lab/waivers.toml", "")
    project.put("lab/other.toml", "")
    project.put("lab.toml", CASE_LAB.replace('firmware = "99.*"\n', ""))
    chosen = ("run", "cases", "--lab=lab.toml", "--pair=here/model", "--pair=here/soft:cx5")
    assert project.mkeyspec(*chosen).code == 0
    first = next((tmp_path / "reports").glob("*/*cx5/results.ndjson"))
    *lines, end = first.read_text().splitlines(keepends=True)
    more = [line.replace("n=1", "n=9") for line in lines if "passes[n=1]" in line]
    first.write_text("".join([*lines, *more, end]))
    project.put("lab/waivers.toml", WAIVER.replace("fails[n=2]", "passes[n=1]"))
    done = project.mkeyspec(*chosen)
    run = first.parent.parent.name
    assert done.code == 1
    assert f"here/soft:cx5: LOST: 1 row that {run}" in done.out
    assert "mkeyspec: 2 of 2 devices went wrong" in done.out
    assert "LOST" not in project.mkeyspec(*chosen).out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--pair", "here/modle"],
            "error[MKS0905]: --pair here/modle: lab.toml has no such pair or device; did you mean here/model?",
        ),
        (["--group", "on"], "error[MKS0905]: --group on: nothing in lab.toml has this tag; did you mean one?"),
        (["--pair", "here/model", "--group", "one"], "error[MKS0905]: nothing that --pair names has a tag of --group"),
        (["--collect-only"], "error[MKS0905]: --collect-only and --lab: the rows are the same on each device"),
        (["--device", "soft"], "error[MKS0905]: --device and --lab: the lab file says it of each device"),
        (["--lab", "lab.tom"], "error[MKS0903]: no such file: lab.tom; did you mean lab.toml?"),
    ],
)
def test_what_is_wrong_on_the_command_line(
    tmp_path: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mkeyspec.cli import main

    project = Project(tmp_path)
    project.put("lab.toml", BARE_LAB)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--lab", "lab.toml", *words]) == 2
    assert told in capsys.readouterr().err


def test_doctor_asks_all(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.put("lab.toml", BARE_LAB)
    done = project.mkeyspec("doctor", "--lab", "lab.toml")
    assert done.code == 1
    told = [line for line in done.out.splitlines() if line[2:8].strip()]
    heads = ["  host    here", "! device  here/soft:cx5", "  device  here/soft:bf3", "  device  here/model"]
    assert [line[: len(head)] for line, head in zip(told, [*heads, "! pair    wire"], strict=False)] == [
        *heads,
        "! pair    wire",
    ]
    assert (
        "lab.toml:5:1: error[MKS0974]: here/soft:cx5 has firmware 16.35.4030, and the lab file expects 99.*" in done.out
    )
    assert "here/soft:cx5 can't be used" in done.out
    assert told[-1] == "2 of 5 don't answer as they should"
