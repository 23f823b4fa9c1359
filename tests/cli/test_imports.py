"""What a command imports: editors and scripts call one command at a time, and half of a short one's time is imports."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = "import sys; from mkeyspec.cli import main; main(sys.argv[1:]); print(*sys.modules)"


@pytest.mark.parametrize(
    ("command", "not_needed"),
    [
        ("fmt", {"mkeyspec.cli.run", "mkeyspec.cli.generate", "numpy"}),
        ("explain", {"mkeyspec.cli.run", "mkeyspec.cli.generate", "numpy"}),
    ],
)
def test_a_command_imports_no_other_command(command: str, not_needed: set[str]) -> None:
    what = {"fmt": __file__, "explain": "MKS2101"}[command]  # a file that is no .mks: refused, which is enough
    done = subprocess.run([sys.executable, "-c", PROGRAM, command, what], capture_output=True, text=True, check=False)
    modules = set(done.stdout.split("\n")[-2].split())
    assert f"mkeyspec.cli.{command}" in modules, done.stderr
    assert not not_needed & modules
