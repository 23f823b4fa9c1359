"""`mkeyspec new`: a first case, by options and by answers."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from mkeyspec.cli import main
from mkeyspec.cli.first_case import BLOCK_KINDS, BLOCKS, DIRECTIONS, KINDS, Answers, text_of
from mkeyspec.compiler.compile import compile_file
from mkeyspec.formatter.format import formatted
from tests.plugin.project import ROOT, Project

ALL = [
    Answers(kind, direction, block, negative)
    for kind, direction, negative in product(KINDS, DIRECTIONS, (False, True))
    for block in (BLOCKS if kind in BLOCK_KINDS else BLOCKS[:1])
]


def test_every_case_compiles_without_a_warning_and_passes(tmp_path: Path) -> None:
    assert len(ALL) == 68
    for answers in ALL:
        file = tmp_path / "cases" / f"{answers.name}_{answers.block}.mks"
        file.parent.mkdir(exist_ok=True)
        file.write_text(formatted(text_of(answers, 'a "quoted" name')), "utf-8")
        assert formatted(file.read_text("utf-8")) == file.read_text("utf-8")
        compiled = compile_file(file, root=tmp_path)
        assert [(file.name, found.message) for found in compiled.diagnostics] == []
    done = Project(tmp_path).mkeyspec("run", "cases", "-q")
    assert done.code == 0, done.out
    assert " 0 failed, 0 skipped on model" in done.out.splitlines()[-1]
    assert "warning" not in done.out


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_asked_for_is_in_the_case(kind: str, negative: bool) -> None:
    words = {
        "plain": "layout list(", "interleaved": "layout interleaved(", "crc": "crc32c(", "t10dif": "t10dif(",
        "xts": "data_unit 4160",
    }  # fmt: skip
    for direction in DIRECTIONS:
        text = text_of(Answers(kind, direction, 4160, negative), "a")
        assert words[kind] in text
        assert ("rejected at" in text or "check k is bad" in text) is negative
        assert negative or (f"\n    {direction} " in text)


def test_by_options(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "made/here/mine.mks", "--kind", "T", "--direction", "rec", "--block", "520", "--negative"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("made/here/mine.mks: case t10dif_receive_bad_block\n")
    text = Path("made/here/mine.mks").read_text("utf-8")
    assert text == formatted(text_of(Answers("t10dif", "receive", 520, True), "mine"))
    assert main(["check", "made"]) == 0
    assert main(["new", "made/here/mine.mks", "--kind", "crc"]) == 2
    assert "error[MKS0957]: made/here/mine.mks is there, and nothing is overwritten" in capsys.readouterr().err
    assert Path("made/here/mine.mks").read_text("utf-8") == text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a.txt", "--kind", "crc"], "MKS0957]: a.txt is no .mks file: call it a.txt.mks"),
        (["a.mks"], "MKS0957]: there is no terminal to ask at: name --kind"),
        (["a.mks", "--kind", "crc16"], "MKS0957]: --kind: 'crc16' is none of plain, interleaved, crc, t10dif, xts"),
        (["a.mks", "--kind", ""], "MKS0957]: --kind: '' is none of"),
        (["a.mks", "--kind", "crc", "--block", "4"], "MKS0957]: --block: '4' may be 4048 or 4096 or 4160"),
        (["a.mks", "--kind", "plain", "--block", "512"], "MKS0957]: --block: plain has no blocks"),
        (["link.mks", "--kind", "crc"], "MKS0957]: link.mks is there"),
        (["file/a.mks", "--kind", "crc"], "MKS0902]"),
    ],
)
def test_what_cannot_be_made(tmp_path: Path, arguments: list[str], told: str) -> None:
    project = Project(tmp_path)
    project.put("file", "")
    (tmp_path / "link.mks").symlink_to("nowhere.mks")
    before = sorted(tmp_path.iterdir())
    done = project.mkeyspec("new", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert sorted(tmp_path.iterdir()) == before


def its_terminal() -> None:
    """Before the command begins: its input is its terminal, and ^C is not ignored, whatever runs the tests."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def at_terminal(folder: Path, arguments: Sequence[str], answers: Sequence[str]) -> tuple[int, str]:
    """Each answer is typed when a question, which ends in `] `, has come."""
    master, slave = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mkeyspec", "new", *arguments]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=its_terminal,
    ) as process:
        os.close(slave)
        left, text, seen, last, sent = list(answers), "", 0, "", 0.0
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                try:
                    text += os.read(master, 4096).decode()
                except OSError:
                    break
            if left and text[seen:].endswith("] "):
                seen = len(text)
                last, sent = left.pop(0), time.monotonic()
                os.write(master, last.encode())
            elif not left and last == "\x03" and time.monotonic() > sent + 2:
                sent = time.monotonic()
                os.write(master, b"\x03")  # a signal right before a read does not interrupt it
        os.close(master)
        return process.wait(10), text


def test_by_answers(tmp_path: Path) -> None:
    """A wrong answer is asked for again; an empty one is the default; what an option says is not asked."""
    answers = ["nothing\n", "x\n", "5\n", "520\n", "\n"]
    code, text = at_terminal(tmp_path, ["a.mks", "--direction", "receive"], answers)
    assert code == 0, text
    assert "'nothing' is none of plain" in text
    assert "'5' may be 512 or 520" in text
    assert "Which way" not in text
    made = (tmp_path / "a.mks").read_text("utf-8")
    assert made == formatted(text_of(Answers("xts", "receive", 520, False), "a"))


def test_no_block_is_asked_for_where_there_is_none(tmp_path: Path) -> None:
    code, text = at_terminal(tmp_path, ["a.mks"], ["i\n", "t\n", "y\n"])
    assert code == 0, text
    assert "bytes" not in text.split("Which way")[1].split("\n", 1)[1]
    made = (tmp_path / "a.mks").read_text("utf-8")
    assert made == formatted(text_of(Answers("interleaved", "transmit", 512, True), "a"))


@pytest.mark.parametrize("key", ["\x04", "\x03"])
def test_an_interrupted_question_writes_nothing(tmp_path: Path, key: str) -> None:
    code, text = at_terminal(tmp_path, ["a.mks"], ["crc\n", key])
    assert "Traceback" not in text
    assert list(tmp_path.iterdir()) == []
    assert code == 130
    assert "nothing is written" in text
