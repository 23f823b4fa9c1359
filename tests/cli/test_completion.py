"""What shells complete, asked of the shells that are there."""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import signal
import subprocess
import time
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
        assert one in text
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


each_word = pytest.mark.parametrize(("words", "found"), WORDS, ids=[" ".join(words) for words, _ in WORDS])


def program(shell: str) -> str:
    """The shell; CI installs it (.ci/run), so there it must be."""
    found = shutil.which(shell)
    if found is None:
        assert "MKEYSPEC_REQUIRE_SOFT" not in os.environ, f"{shell} is not installed"
        pytest.skip(f"no {shell}: Debian and Ubuntu `apt-get install {shell}`")
    return found


@each_word
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
    command = [program("bash"), "--norc", "-c", asked]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert [one.strip() for one in done.stdout.split("\n") if one.strip()] == found, done.stderr


@each_word
def test_fish(words: list[str], found: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What fish says that it would propose, each with a description behind a tab."""
    (tmp_path / "mkeyspec.fish").write_text(script("fish", capsys), "utf-8")
    (tmp_path / "first.mks").write_text("", "utf-8")
    asked = f"source ./mkeyspec.fish; complete -C '{' '.join(words)}'"
    command = [program("fish"), "--no-config", "-c", asked]
    home = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=home, capture_output=True, text=True, timeout=60)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == found, done.stderr


ZSH = """\
PS1='ready> '; unsetopt ZLE_BRACKETED_PASTE 2>/dev/null; zstyle ':completion:*' menu no
fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -d {folder}/dump
mkeyspec() {{ print -r -- "<<$*>>" }}
"""


@each_word
def test_zsh(words: list[str], found: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A terminal in which the words are typed, then a tab and a return: what it calls is what it completed."""
    shell = program("zsh")
    (tmp_path / "_mkeyspec").write_text(script("zsh", capsys), "utf-8")
    (tmp_path / "first.mks").write_text("", "utf-8")
    (tmp_path / ".zshrc").write_text(ZSH.format(folder=shlex.quote(str(tmp_path))), "utf-8")
    process, terminal = pty.fork()
    if not process:
        os.chdir(tmp_path)
        os.execve(
            shell, ["zsh", "-d", "-i"], {**os.environ, "ZDOTDIR": str(tmp_path), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        )
    typed = [("ready> ", f"{' '.join(words)}\t"), (found[0], "\r"), (">>", "")]
    text, end = "", time.monotonic() + 60
    try:
        while typed and time.monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                text += os.read(terminal, 4096).decode(errors="replace")
            if typed[0][0] in text:
                os.write(terminal, typed.pop(0)[1].encode())
    finally:
        os.close(terminal)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    called = text.rpartition("<<")[2].partition(">>")[0].strip()
    assert called == " ".join([*words[1:-1], *found]), text
