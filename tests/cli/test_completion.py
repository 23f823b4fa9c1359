"""What shells complete, asked of the shells that are there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mkeyspec.cli import main
from mkeyspec.cli.completion import SHELLS
from mkeyspec.cli.entry import _COMMANDS


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_has_the_commands(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = script(shell, capsys)
    for one in _COMMANDS:
        assert one.__name__.rpartition(".")[2].removesuffix("_command") in text
    assert "device-profile" in text
    program = shutil.which(shell)
    if program is not None:
        file = tmp_path / "completion"
        file.write_text(text, "utf-8")
        subprocess.run([program, "-n", str(file)], check=True, timeout=60)


WORDS = [
    (["mkeyspec", "che"], ["check"]),
    (["mkeyspec", "ls"], ["lsp"]),
    (["mkeyspec", "draw", "--format", "s"], ["svg"]),
    (["mkeyspec", "completion", "f"], ["fish"]),
    (["mkeyspec", "check", "--form"], ["--format"]),
    (["mkeyspec", "check", "--format", "sa"], ["sarif"]),
    (["mkeyspec", "run", "first"], ["first.mks"]),
]


@pytest.mark.parametrize(("words", "found"), WORDS, ids=[" ".join(words) for words, _ in WORDS])
def test_bash(words: list[str], found: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As bash calls it: the words so far, and which of them is being written."""
    text = script("bash", capsys)
    function = text.rpartition("complete ")[2].partition("-F ")[2].split()[0]
    (tmp_path / "completion").write_text(text, "utf-8")
    (tmp_path / "first.mks").write_text("", "utf-8")
    asked = (
        f"source ./completion; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; "
        f'{function}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run([bash, "--norc", "-c", asked], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert [one.strip() for one in done.stdout.split("\n") if one.strip()] == found, done.stderr
