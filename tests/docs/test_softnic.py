"""docs/softnic.md is true: its commands run, its excerpts are of the form that comes out, its tables are the code's."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.soft.personality import ALIASES, names
from mkeyspec.files import resource
from tests.device.verbs import soft
from tests.docs.test_docs import ROOT, blocks, commands_of
from tests.plugin.project import Done, Project

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = ROOT / "docs" / "softnic.md"
TEXT = PAGE.read_text(encoding="utf-8")
TWO = "--fabric"
"""In commands of two processes, which tests/softnic/test_fabric.py starts."""
COMMANDS = [line for line in commands_of(PAGE) if line and not line.startswith("sudo ") and TWO not in line]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    shutil.copytree(ROOT / "cases", tmp_path / "cases")
    shutil.copytree(ROOT / "expectations", tmp_path / "expectations")
    [(_, own)] = blocks(PAGE, "toml")
    made.put("mine.toml", own)
    return made


def ran(project: Project, line: str) -> Done:
    words = shlex.split(line)
    assert words[0] == "mkeyspec", line
    program = words[words.index("--") + 1] if "--" in words else "mkeyspec"
    if program != "mkeyspec" and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (Debian: apt-get install ibverbs-utils)")
    done = project.mkeyspec(*words[1:])
    assert done.code == 0, (line, done.out, done.err)
    return done


@pytest.fixture
def mkeyspec_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's command may start another mkeyspec: this one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "mkeyspec"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mkeyspec "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("mkeyspec_on_path")
@pytest.mark.parametrize("line", [line for line in COMMANDS if "wqes" not in line])
def test_command(line: str, project: Project) -> None:
    soft.need()
    if line == "mkeyspec run cases --device soft":
        line = "mkeyspec run cases/examples --device soft"  # CI runs all of them
    ran(project, line)


def shape(line: str) -> str:
    """A line of a trace without what differs from run to run: numbers, and a list that was cut."""
    line = re.sub(r"0x[0-9a-f]+", "0x#", line)
    line = re.sub(r"\b\d+\b", "#", line)
    line = re.sub(r"len\|\S*", "len|…", line)
    return re.sub(r" fence (none|initiator_small)", " fence", line)


@pytest.mark.usefixtures("mkeyspec_on_path")
def test_text_of_the_trace(project: Project) -> None:
    """Each line that the page shows is one that comes out, but for numbers."""
    soft.need()
    [command] = [line for line in COMMANDS if "trace -o" in line]
    [(_, shown)] = blocks(PAGE, "text")
    ran(project, command)
    wrote = (project.path / "wqes.txt").read_text(encoding="utf-8").splitlines()
    came = {shape(line) for line in wrote}
    assert [line for line in shown.splitlines() if shape(line) not in came] == []


def members(value: Any) -> Any:
    """Names all the way down; what is under them only by its type."""
    if isinstance(value, dict):
        return {name: members(one) for name, one in value.items()}
    return [members(value[0])] if isinstance(value, list) and value else type(value).__name__


@pytest.mark.usefixtures("mkeyspec_on_path")
def test_json_of_the_trace(project: Project) -> None:
    soft.need()
    [command] = [line for line in COMMANDS if "trace --json" in line]
    [(_, shown)] = blocks(PAGE, "json")
    ran(project, command)
    lines = (project.path / "wqes.jsonl").read_text(encoding="utf-8").splitlines()
    came = [members(json.loads(line)) for line in lines]
    assert [line for line in shown.splitlines() if members(json.loads(line)) not in came] == []


def test_personalities() -> None:
    """The table is what the files say."""
    rows = re.findall(r"^\| `([\w-]+)` \| `([\w-]+)` \| (.+) \| (.+) \| (.+) \| (.+) \| (.+) \|$", TEXT, re.M)
    assert {row[0] for row in rows} == set(names())
    for name, short, signatures, sizes, crypto, memcpy, linked in rows:
        table = tomllib.loads((resource.directory("personalities") / f"{name}.toml").read_text(encoding="utf-8"))
        assert ALIASES[short] == name
        assert signatures.split(", ") == table["signatures"]
        assert [int(size) for size in sizes.split(", ")] == table["block_sizes"]
        single = table["crypto_single_block"] and not table["crypto_multi_block"]
        assert crypto == table["crypto"] + (", single blocks" if single else "")
        most = table["memcpy_max"]
        assert memcpy == ("none" if not most else f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB")
        assert (table["wait_on_data"], table["transpose"]) == ((linked == "yes"),) * 2


def test_every_variable_is_told() -> None:
    """All that the library and its Python read."""
    told = set(re.findall(r"^\| `([A-Z_]+)` \|", TEXT, re.M))
    read = {"MKEYSPEC_SOFTNIC_LIBRARY"}
    for path in (ROOT / "softnic").glob("[efs]*/*.c"):
        read |= set(re.findall(r'getenv\("(\w+)"\)', path.read_text(encoding="utf-8")))
    assert told == read
