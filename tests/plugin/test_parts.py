"""The parts of the plugin: none can be switched off alone, since the failures that it reports would be missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.project import CONFIGURATION, Project

PASSES = """\
mks 1
suite "one row"

case copies
    verifies LAY-05
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", PASSES)
    return made


@pytest.mark.parametrize(
    ("how", "name"), [("run", "mkeyspec-not-closed"), ("pytest", "mkeyspec-absences"), ("addopts", "mkeyspec-results")]
)
def test_a_part_cannot_be_switched_off(project: Project, how: str, name: str) -> None:
    if how == "run":
        done = project.mkeyspec("run", f"-pno:{name}")
    elif how == "pytest":
        done = project.pytest("-p", f"no:{name}")
    else:
        project.put("pyproject.toml", CONFIGURATION.replace('"--strict-markers"', f'"--strict-markers", "-pno:{name}"'))
        done = project.pytest("cases")
    assert done.code not in (0, 1), done.out
    assert f"error[MKS0928]: -p no:{name}" in done.out + done.err
    assert "Traceback" not in done.out + done.err


def test_the_whole_plugin_can(project: Project) -> None:
    project.put("test_a.py", "def test_a(): pass\n")
    done = project.pytest("-pno:mkeyspec", "test_a.py")
    assert done.code == 0, done.out + done.err
