"""The tutorial, carried out: its case is written, changed as it says, and each command prints what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.device.verbs import soft

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tutorial.md"


def blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """(language, text, file) of the fenced blocks, in their order. The file is the one that was last to be saved."""
    file = ""
    for block in re.finditer(r"[Ss]ave this as `([^`]+)`|^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        file = block[1] or file
        if block[2]:
            yield block[2], block[3], file


def commands(console: str) -> Iterator[tuple[str, str]]:
    """Each command of a block, and what it prints."""
    for piece in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, printed = piece.partition("\n")
        yield command, printed


def changed(text: str, diff: str) -> str:
    """The text after a change. The lines that it takes away must be there once."""
    lines = diff.splitlines()
    before, after = ("".join(f"{line[1:]}\n" for line in lines if line[0] in kept) for kept in (" -", " +"))
    assert text.count(before) == 1, before
    return text.replace(before, after)


def same(text: str) -> str:
    """Without what differs from run to run: times, and the blank lines at the end."""
    return re.sub(r"\bin [\d.]+ ?s\b", "in T s", text).rstrip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder of an author, and `mkeyspec` on the path."""
    program = tmp_path / "bin/mkeyspec"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mkeyspec "$@"\n', "utf-8")
    program.chmod(0o755)
    (tmp_path / "first/cases").mkdir(parents=True)
    return tmp_path / "first"


def follow(folder: Path, text: str, *, on_soft: bool) -> list[str]:
    """Does what the page says, on the software NIC too where there is one. Returns the commands that were run."""
    # Where CI or BUILD_NUMBER is set, pytest does not cut the lines of its summary.
    others = ("PYTEST_", "COV_", "BUILD_NUMBER")
    kept = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith(others)}
    environment = {**kept, "PATH": f"{folder.parent / 'bin'}{os.pathsep}{kept['PATH']}", "COLUMNS": "80"}
    ran = []
    for language, block, file in blocks(text):
        case = folder / file
        if language == "mks":
            case.write_text(block, "utf-8")
        elif language == "diff":
            case.write_text(changed(case.read_text("utf-8"), block), "utf-8")
        for command, printed in commands(block) if language == "console" else ():
            if "--device soft" in command and not on_soft:
                continue
            done = subprocess.run(
                ["/bin/bash", "-c", command],
                cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120,
            )  # fmt: skip
            assert same(done.stdout + done.stderr) == same(printed), command
            ran.append(command)
    return ran


def test_it_goes_as_it_says(folder: Path) -> None:
    ran = follow(folder, PAGE.read_text("utf-8"), on_soft=soft.missing() is None)
    assert [command for command in ran if "soft" not in command] == [
        "mkeyspec run cases -q",
        "mkeyspec check cases",
        "mkeyspec run cases -q",
        "mkeyspec run cases -q",
        "mkeyspec run cases -q",
        "mkeyspec list cases --rows",
        "mkeyspec run cases -q --fault crc32_not_inverted | grep -E 'error|field  |looks like|again|passed'",
        "mkeyspec run cases/bad.mks -q",
        "mkeyspec run cases/bad.mks -q | grep -E 'offset|passed'",
        "mkeyspec run cases/apart.mks -q | grep -E 'error|but is|got|passed'",
        "mkeyspec run cases/apart.mks -q",
        "mkeyspec run cases/refused.mks -q",
        "mkeyspec new cases/dif.mks --kind t10dif --negative",
        "cat cases/dif.mks",
        "mkeyspec new cases/xts.mks --kind xts",
        "cat cases/xts.mks",
        "mkeyspec run cases -q",
    ]
    soft.need()  # its last command was left out


def test_another_output_is_seen(folder: Path) -> None:
    text = PAGE.read_text("utf-8").replace("0xb29340db", "0xb29340dc")
    with pytest.raises(AssertionError, match="mkeyspec run cases -q"):
        follow(folder, text, on_soft=False)


def test_the_readme_leads_to_it() -> None:
    assert "(docs/tutorial.md)" in (ROOT / "README.md").read_text("utf-8")
