"""The page of the first day: what it shows is what the commands print today, over the software NIC."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.device.verbs import soft
from tests.quality.subject import ROOT

PAGE = (ROOT / "docs" / "howto" / "first_day.md").read_text(encoding="utf-8")
CASE = """mks 1
suite "one"
case one
    verifies LAY-01
    memory m = counter(8)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == counter(8)
"""


def output(name: str) -> list[str]:
    """The lines of the block after `<!-- output: NAME -->`."""
    found = re.search(rf"<!-- output: {name} -->\n\n```text\n(.*?)```", PAGE, re.S)
    assert found is not None, name
    return [line.rstrip() for line in found[1].splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    soft.need()
    folder = tmp_path_factory.mktemp("day")
    (folder / "one.mks").write_text(CASE)
    return folder


def said(folder: Path, *words: str) -> list[str]:
    # A commit of this project, or a name of a run, in the environment of a test would be told as well.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "mkeyspec", *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]


def test_doctor(folder: Path) -> None:
    printed = said(folder, "doctor", "--device", "soft")
    assert [line for line in output("doctor") if line not in printed] == []


def test_calibrate_a_run_and_its_report(folder: Path) -> None:
    printed = said(folder, "calibrate", "--device", "soft", "--departures", "soft-departures.toml")
    assert printed == output("calibrate")
    profile = "reports/calibrate/soft.toml"
    run = said(folder, "run", "one.mks", "--device", "soft", "--device-profile", profile)
    points = [line for line in output("quick") if not re.match(r"mkeyspec: \d+ passed", line)]
    first = run.index(points[0])
    assert run[first : first + len(points)] == points
    report = said(folder, "report", "text")
    *shown, rest = output("report")
    assert rest.strip() == "…"
    first = report.index(shown[0])
    assert report[first : first + len(shown)] == shown


def test_the_commands_of_the_page_are_there(folder: Path) -> None:
    """Their options too; what they do is tested elsewhere."""
    for command in re.findall(r"^mkeyspec (.+)$", PAGE, re.M):
        help = "\n".join(said(folder, command.split()[0], "--help"))
        assert [option for option in re.findall(r"--[a-z-]+|(?<= )-[a-z]\b", command) if option not in help] == []
