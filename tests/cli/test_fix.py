"""`mkeyspec check --fix` and `--diff`."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from mkeyspec.cli import fixes
from mkeyspec.cli.entry import main
from mkeyspec.compiler.compile import compile_file
from mkeyspec.diagnostics.diagnostic import Diagnostic, Edit
from mkeyspec.diagnostics.source import Source, Span

RIGHT = """\
mks 1
suite "fix"

case c
    verifies LAY-05
    memory m = counter(64)
    mkey k
    configure k { access local_write; layout list(m) }
    transmit k by send
    expect wire == m
"""
WRONG = RIGHT.replace("local_write", "local_wrte").replace("expect wire", "assert wire")


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mkeyspec.toml").write_text("")


def test_corrects_until_nothing_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second correction is known only after the first: a case that can't be read has no names."""
    path = tmp_path / "c.mks"
    path.write_text(WRONG)
    assert main(["check", "--fix", "c.mks"]) == 0
    assert path.read_text() == RIGHT
    assert "mkeyspec: 1 file checked, 0 errors, 2 corrections in 1 file" in capsys.readouterr().err
    assert main(["check", "--fix", "c.mks"]) == 0
    assert "nothing to correct" in capsys.readouterr().err


def test_what_is_left_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.mks"
    path.write_text(RIGHT.replace("local_write", "local_wrte").replace("counter(64)", "counter(zigzag)"))
    assert main(["check", "--fix", "c.mks"]) == 2
    shown = capsys.readouterr()
    assert "nothing is called `zigzag`" in shown.out
    assert "local_wrte" not in shown.out
    assert "1 correction in 1 file" in shown.err


def test_diff_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.mks"
    path.write_text(WRONG)
    for options in (["--diff"], ["--fix", "--diff"]):
        assert main(["check", *options, "c.mks"]) == 1
        shown = capsys.readouterr()
        assert "-    assert wire == m\n+    expect wire == m\n" in shown.out
        assert shown.out.startswith("--- c.mks\n+++ c.mks\n")
        assert "2 corrections in 1 file, nothing is written" in shown.err
        assert path.read_text() == WRONG


def test_diff_without_corrections_is_a_check(tmp_path: Path) -> None:
    path = tmp_path / "c.mks"
    path.write_text(RIGHT)
    assert main(["check", "--diff", "c.mks"]) == 0
    path.write_text(RIGHT.replace("counter(64)", "counter(zigzag)"))
    assert main(["check", "--diff", "c.mks"]) == 2


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_other_byte_stays(tmp_path: Path, mark: bytes, end: str) -> None:
    """Line ends, a byte order mark, letters of two bytes, and a last line without an end."""
    path = tmp_path / "c.mks"

    def of(text: str) -> bytes:
        return mark + text.replace('"fix"', '"Prüfung – ½"').rstrip("\n").replace("\n", end).encode()

    path.write_bytes(of(WRONG))
    assert main(["check", "--fix", "c.mks"]) == 0
    assert path.read_bytes() == of(RIGHT)


def test_mode_and_link_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "c.mks", tmp_path / "link.mks"
    path.write_text(WRONG)
    path.chmod(0o640)
    link.symlink_to(path)
    assert main(["check", "--fix", "link.mks"]) == 0
    assert link.is_symlink()
    assert path.read_text() == RIGHT
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_read_only_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is written if one of them can't be."""
    for name in ("a.mks", "b.mks"):
        (tmp_path / name).write_text(WRONG)
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path).name != "b.mks")  # root may write any file
    assert main(["check", "--fix", "a.mks", "b.mks"]) == 2
    assert "error[MKS0902]: can't write b.mks: it is read-only" in capsys.readouterr().err
    assert (tmp_path / "a.mks").read_text() == WRONG


def test_a_file_that_is_saved_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "c.mks"
    path.write_text(RIGHT)
    with pytest.raises(Exception, match=r"MKS0902.*was saved while it was checked"):
        fixes.write(fixes.Corrected(path, b"what it was", b"what it would be"))
    assert path.read_text() == RIGHT


def test_standard_input_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--fix", "-"]) == 2
    assert "MKS0903" in capsys.readouterr().err


def _finding(source: Source, start: int, end: int, text: str, message: str) -> Diagnostic:
    return Diagnostic("MKS0202", message, Span(source, start, end), fix=(Edit(Span(source, start, end), text),))


def test_of_corrections_that_meet_the_first(tmp_path: Path) -> None:
    """And the second in the next round, if it is still said."""
    path = tmp_path / "c.mks"
    path.write_text("")

    def check(raw: bytes) -> list[Diagnostic]:
        source = Source("c.mks", raw.decode(), path)
        found = [_finding(source, 0, 3, "xyz", "first")] if raw.startswith(b"abc") else []
        return [*found, _finding(source, 2, 5, "CDE", "second")] if b"CDE" not in raw else found

    done = fixes.correct(path, b"abcdef", check)
    assert (done.after, done.count) == (b"xyCDEf", 2)


def test_a_correction_that_mends_nothing_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "c.mks"
    path.write_text("")

    def check(raw: bytes) -> list[Diagnostic]:
        return [_finding(Source("c.mks", raw.decode(), path), 0, 1, "aa", "always")]

    assert fixes.correct(path, b"a", check).after == b"a"


def test_a_guess_that_is_wrong_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`frames` is like `framed`, which is no number."""
    path = tmp_path / "c.mks"
    path.write_text(RIGHT.replace("counter(64)", "counter(frames)"))
    before = path.read_text()
    assert main(["check", "--fix", "c.mks"]) == 2
    assert path.read_text() == before
    assert "did you mean `framed`?" in capsys.readouterr().out


def test_other_files_are_not_touched(tmp_path: Path) -> None:
    """A finding in a used file is that file's: it is corrected if it is named."""
    (tmp_path / "lib.mks").write_text("mks 1\nlet n = 4k\n")
    (tmp_path / "c.mks").write_text(RIGHT.replace('suite "fix"\n', 'suite "fix"\nuse "lib.mks"\n').replace("64", "n"))
    assert main(["check", "--fix", "c.mks"]) == 2
    assert (tmp_path / "lib.mks").read_text() == "mks 1\nlet n = 4k\n"
    assert main(["check", "--fix", "lib.mks", "c.mks"]) == 0
    assert (tmp_path / "lib.mks").read_text() == "mks 1\nlet n = 4K\n"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "c.mks"
    path.write_bytes(WRONG.encode() + b"\xff\n")
    assert main(["check", "--fix", "c.mks"]) == 2
    assert path.read_bytes() == WRONG.encode() + b"\xff\n"
    assert compile_file(path).diagnostics.errors
