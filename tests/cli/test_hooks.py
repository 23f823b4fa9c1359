"""The hooks of pre-commit: each entry, called as pre-commit calls it, with the names of files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.project import CASES, Project

ROOT = Path(__file__).resolve().parents[2]
HOOKS = dict(
    re.findall(r"^- id: (\S+)\n(?:  .*\n)*?  entry: (.+)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.M)
)
TIDY = CASES.split("case fails")[0].rstrip() + "\n"
UNTIDY = TIDY.replace("memory m = counter", "memory m   =  counter")


def test_there_is_one_for_each() -> None:
    assert HOOKS == {"mkeyspec-check": "mkeyspec check", "mkeyspec-fmt": "mkeyspec fmt"}


@pytest.mark.parametrize(
    ("hook", "text", "code", "left"),
    [
        ("mkeyspec-check", CASES, 0, CASES),
        ("mkeyspec-check", CASES.replace("mkey k\n", "mky k\n", 1), 2, None),
        ("mkeyspec-fmt", UNTIDY, 0, TIDY),
        ("mkeyspec-fmt", CASES.replace("mkey k\n", "mkey k {\n", 1), 2, None),
    ],
)
def test_a_hook(hook: str, text: str, code: int, left: str | None, tmp_path: Path) -> None:
    """fmt changes files and ends with 0: that a file changed is what pre-commit stops at."""
    project = Project(tmp_path)
    names = ["cases/a.mks", "cases/b.mks"]
    for name in names:
        project.put(name, text)
    done = project.mkeyspec(*HOOKS[hook].split()[1:], *names)
    assert done.code == code, done.err
    for name in names:
        assert (tmp_path / name).read_text("utf-8") == (text if left is None else left)


def test_findings_come_before_the_last_line(tmp_path: Path) -> None:
    """In one pipe, as a hook's output is."""
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES.replace("mkey k\n", "mky k\n", 1))
    command = [sys.executable, "-m", "mkeyspec", "check", "cases"]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, stdout=-1, stderr=-2, text=True)
    assert done.stdout.index("MKS0210") < done.stdout.index("1 file checked")
