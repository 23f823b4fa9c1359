"""A project of its own for each test, and pytest or mkeyspec run in it as a user runs them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

from mkeyspec.report.place import streams_in
from mkeyspec.report.reader import Run, read
from tests import forked

ROOT = Path(__file__).resolve().parents[2]

CASES = """\
mks 1
suite "a suite"

case passes
    verifies CRC-02, LAY-05
    for n in 1, 2, 3
    memory m = counter(n * 64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == counter(n * 64)

case fails
    verifies SIG-07
    for n in 1, 2
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == pick(n == 2, fill(0, 64), counter(64))

case lacks
    verifies CRY-04
    needs crypto.wrapped, device.max_wr_memcpy_length < 1
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
    record granted = k.max_entries

case setup_module
    verifies LAY-02
    mkey k { entries 4 }
    configure k { access local_write }
    transmit k[0 +: 64] by send
        rejected at completion with local_protection
    record granted = k.max_entries
"""
"""3 pass, 1 of 2 fails (line 20), 1 is skipped, 1 passes and is negative."""

MANY = CASES.replace("for n in 1, 2, 3", f"for n in {', '.join(map(str, range(1, 60)))}").split("case fails")[0]
"""59 pass."""

BROKEN = """\
mks 1
suite "broken"

case never_run
    verifies CRC-02
    memory m = counter(nothing)
"""

LIBRARY = """\
mks 1
suite "shared values"
let size = 64
"""

CONFIGURATION = """\
[tool.pytest.ini_options]
testpaths = ["cases"]
addopts = ["--strict-markers"]
"""


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def counts(self) -> dict[str, int]:
        """pytest's last line: {"passed": 4, …}."""
        lines = [line for line in self.out.splitlines() if re.search(r"\d+ \w+.* in [\d.]+s", line)]
        return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", lines[-1].split(" in ")[0])}


class Project:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.put("pyproject.toml", CONFIGURATION)

    def put(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def module(self, name: str = "cases/test_a.py") -> Path:
        return self.path / "generated" / name

    def pytest(self, *arguments: str) -> Done:
        plugin = [] if any(one.name == "mkeyspec" for one in entry_points(group="pytest11")) else ["-pmkeyspec.plugin"]
        return self._run("-m", "pytest", "-pno:randomly", *plugin, *arguments)

    def mkeyspec(self, *arguments: str) -> Done:
        """Of a project with a conftest.py, `run` must be given it: by itself it loads nothing."""
        asked = ["-pconftest"] if arguments[:1] == ("run",) and (self.path / "conftest.py").is_file() else []
        return self._run("-m", "mkeyspec", *arguments, *asked)

    def python(self, *arguments: str) -> Done:
        return self._run(*arguments)

    def _run(self, *arguments: str) -> Done:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), str(self.path)))
        environment["COLUMNS"] = "200"
        done = forked.run(arguments, cwd=self.path, env=environment, timeout=300)
        return Done(done.returncode, done.stdout, done.stderr)


def properties(report: Path) -> dict[str, dict[str, str]]:
    """Of a JUnit report of pytest or of `mkeyspec run`: the properties of each test case by its name; those of the
    first suite by ""."""
    root = ElementTree.parse(report).getroot()
    suite = root.find("testsuite")
    assert suite is not None
    found = {"": _values(suite.find("properties"))}
    for case in root.iter("testcase"):
        lines = re.findall(r"^\[\[PROPERTY\|(.*?)=(.*)\]\]$", case.findtext("system-out") or "", re.MULTILINE)
        found[case.attrib["name"]] = _values(case.find("properties")) | dict(lines)
    return found


def _values(element: ElementTree.Element | None) -> dict[str, str]:
    return {} if element is None else {one.attrib["name"]: one.attrib["value"] for one in element}


# Runs of `mkeyspec run` -----------------------------------------------------------------------


def last_line(done: Done) -> str:
    """Without the time, and the reasons of a kind in any order."""
    line = re.sub(r" in [\d.]+ s;", ";", done.out.rstrip().split("\n")[-1])
    return re.sub(r"\(1 [^()]*\)", lambda found: f"({'; '.join(sorted(found[0][1:-1].split('; ')))})", line)


def last_run(project: Project) -> Run:
    return read(max(streams_in(project.path / "reports"), key=lambda path: path.stat().st_mtime_ns))
