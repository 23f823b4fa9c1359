"""The profile `quick` of the shipped cases: few, fast, and every fault of the model is noticed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mkeyspec.files import selection
from mkeyspec.sabotage.catalogue import faults

ROOT = Path(__file__).resolve().parents[2]


def test_the_profile_notices_every_fault() -> None:
    """All of them, each in a process of its own: the known killers come first, so this takes seconds."""
    command = [sys.executable, "-m", "mkeyspec", "sabotage", "--profile", "quick", "-n", "2", "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "choose it again" not in done.stderr
    data = json.loads(done.stdout)
    assert len(data["faults"]) == len(faults())
    assert data["survivors"] == []
    assert data["failing"] == 0


def test_the_profile_names_the_command_that_made_it() -> None:
    text = selection.file_of("quick", ROOT).read_text()
    assert text.startswith("# Written by `mkeyspec sabotage --choose quick --from ")


@pytest.mark.parametrize("name", ["quick"])
def test_the_profile_is_small(name: str) -> None:
    assert 50 < len(selection.read(name, ROOT)) < 1000
