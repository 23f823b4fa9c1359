"""The line on the terminal while processes run rows."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from mkeyspec.plugin.progress import Progress
from tests.plugin.project import CASES, ROOT, Project


def progress(seconds: dict[str, float], rows: int = 4) -> Progress:
    items: Any = [SimpleNamespace(nodeid=f"r{number}") for number in range(rows)]
    session: Any = SimpleNamespace(items=items)
    made = Progress(session, seconds)
    made._write = lambda text: None  # type: ignore[method-assign]
    return made


@pytest.mark.parametrize(
    ("seconds", "ended", "elapsed", "text"),
    [
        ({}, 0, 0.5, "0 of 4 rows"),
        ({}, 1, 0.5, "1 of 4 rows"),
        ({}, 1, 10.0, "1 of 4 rows, 30 s left"),
        ({}, 4, 10.0, "4 of 4 rows, 0 s left"),
        ({}, 1, 100.0, "1 of 4 rows, 5 min 0 s left"),
        ({}, 1, 4000.0, "1 of 4 rows, 3 h 20 min left"),
        # The first row takes a tenth of the whole; of the last one nothing is known: it takes what a row takes.
        ({"r0": 1.0, "r1": 4.0, "r2": 4.0}, 1, 10.0, "1 of 4 rows, 1 min 50 s left"),
        ({"r0": 0.0, "r1": 0.0, "r2": 0.0, "r3": 0.0}, 1, 10.0, "1 of 4 rows"),
    ],
)
def test_the_time_that_is_left(seconds: dict[str, float], ended: int, elapsed: float, text: str) -> None:
    line = progress(seconds)
    for number in range(ended):
        line.pytest_runtest_logfinish(f"r{number}")
    assert line.text(elapsed) == text


def on_a_terminal(project: Project, *arguments: str, **more: str) -> str:
    """What a terminal of 80 columns gets."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    for name in ("NO_COLOR", "FORCE_COLOR", "CI", "COLUMNS"):
        environment.pop(name, None)
    environment |= {"PYTHONPATH": f"{ROOT}{os.pathsep}{project.path}", "TERM": "xterm", **more}
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "mkeyspec", "run", "cases", "-pconftest", *arguments]
    process = subprocess.Popen(command, cwd=project.path, env=environment, stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 1 << 16):
            shown += data
    except OSError:  # the end of a terminal
        pass
    os.close(ours)
    process.wait(60)
    return shown.decode()


ROWS = CASES.replace("for n in 1, 2, 3", f"for n in {', '.join(map(str, range(1, 100)))}")
SLOW = "import time\ndef pytest_runtest_setup(item): time.sleep(0.05)\n"


@pytest.fixture
def slow(project: Project) -> Project:
    project.put("cases/a.mks", ROWS)
    project.put("conftest.py", SLOW)
    return project


def test_one_line_takes_the_place_of_the_letters(slow: Project) -> None:
    shown = on_a_terminal(slow, "-n", "2")
    lines = re.findall(r"\r(\d+) of 103 rows((?:, [^\r\x1b]*)?)\x1b\[K", shown)
    assert len(lines) > 3
    assert [int(number) for number, _ in lines] == sorted(int(number) for number, _ in lines)
    assert any(re.fullmatch(r", \d+ s left", text) for _, text in lines)
    assert not re.search(r"[.F]{4}", shown)
    assert "FAILED" in shown
    assert "1 failed (1 MKS2101)" in shown
    cleared = shown.index("\r\x1b[K")
    assert "of 103 rows" not in shown[cleared:]
    assert "1 failed, 100 passed, 1 skipped" not in shown[:cleared]


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (("-n", "0"), {}),
        (("-n", "2", "-v"), {}),
        (("-n", "2", "-qq"), {}),
        (("-n", "2", "-s"), {}),
        (("-n", "2"), {"TERM": "dumb"}),
    ],
)
def test_where_there_is_no_such_line(slow: Project, arguments: tuple[str, ...], environment: dict[str, str]) -> None:
    assert not re.search(r"\d+ of \d+ rows", on_a_terminal(slow, "-k", "fails", *arguments, **environment))


def test_no_colour(slow: Project) -> None:
    shown = on_a_terminal(slow, "-n", "2", "-k", "fails or setup_module", NO_COLOR="1")
    assert re.sub(r"\x1b\[K", "", shown).count("\x1b") == 0


def test_a_file_has_letters(slow: Project) -> None:
    done = slow.mkeyspec("run", "cases", "-n", "2", "-k", "fails")
    assert re.search(r"^(\.F|F\.) +\[100%\]$", done.out, re.MULTILINE)
    assert "\r" not in done.out
    assert "\x1b" not in done.out
