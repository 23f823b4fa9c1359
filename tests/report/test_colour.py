"""Failures in colour: only where they are asked for, and without a change of the text."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mkeyspec.report.colour import coloured
from mkeyspec.report.text import text_of
from tests.plugin.project import CASES, Project
from tests.report.results import failed, run_of

ESCAPE = re.compile("\x1b\\[[0-9;]*m")
BOLD, RED, GREEN, YELLOW, CYAN, END = (f"\x1b[{number}m" for number in (1, 31, 32, 33, 36, 0))
HINT = f"{BOLD}{YELLOW}"
LINES = {
    "cases/a.mks:49:5: error[MKS2102]: 8 bytes differ": (
        f"{BOLD}cases/a.mks:49:5: {END}{BOLD}{RED}error[MKS2102]:{END}{BOLD} 8 bytes differ{END}"
    ),
    "     |     ^^^^^^": f"{RED}     |     ^^^^^^{END}",
    "    looks like: the seed is zero": f"    {HINT}looks like:{END} {HINT}the seed is zero{END}",
    "    got       bad_guard": f"    {RED}got       bad_guard{END}",
    "               512  expected  53 c2": f"               512  {GREEN}expected  53 c2{END}",
    "    device    model": f"    {CYAN}device{END}    model",
    "  49 |     expect dst == x": "  49 |     expect dst == x",
    "": "",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line(line: str) -> None:
    assert coloured(line) == LINES[line]
    assert ESCAPE.sub("", coloured(line)) == line


def test_the_text_is_the_same(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", failed(1, "\x1b[31m4 bytes differ"))
    with_colour = text_of([run], colour=True)
    assert "\x1b" not in text_of([run])
    assert "\x1b" in with_colour
    assert ESCAPE.sub("", with_colour) == text_of([run])


def printed(project: Project, *arguments: str, **environment: str) -> str:
    """What a command writes to a terminal."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "mkeyspec", *arguments],
        cwd=project.path,
        env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", **environment},
        stdout=its,
        stderr=its,
    ) as process:
        os.close(its)
        data = b""
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            data += piece
        process.wait()
    os.close(ours)
    return data.decode()


def test_on_a_terminal(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES)
    red = "\x1b[31merror[MKS"
    assert red in printed(project, "run", "cases")
    assert red in printed(project, "report", "text")
    assert "\x1b" not in printed(project, "report", "text", NO_COLOR="1")
    assert red not in printed(project, "run", "cases", NO_COLOR="1")
    for file in (
        "junit.xml",
        *(f"{run.name}/results.ndjson" for run in (tmp_path / "reports").iterdir() if run.is_dir()),
    ):
        text = (tmp_path / "reports" / file).read_text()
        assert "error[MKS" in text
        assert "\\u001b" not in text
        assert "\\x1b" not in text
