"""`mkeyspec fmt`: what it writes, what it says, and what it leaves alone."""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path

import pytest

from mkeyspec.cli.entry import main

UGLY = b"mks 1\ncase a\n  mkey   k\n"
NEAT = b"mks 1\n\ncase a\n    mkey k\n"
BROKEN = b"mks 1\ncase a\n  mkey (\n"


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases/ugly.mks").write_bytes(UGLY)
    (tmp_path / "cases/neat.mks").write_bytes(NEAT)
    return tmp_path / "cases"


def test_files_are_formatted(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cases / "ugly.mks").chmod(0o640)
    assert main(["fmt"]) == 0
    assert (cases / "ugly.mks").read_bytes() == (cases / "neat.mks").read_bytes() == NEAT
    assert stat.S_IMODE((cases / "ugly.mks").stat().st_mode) == 0o640
    assert capsys.readouterr().err == "mkeyspec: 1 file formatted, 1 left as it is\n"


def test_check_names_them(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--check", "cases"]) == 1
    said = capsys.readouterr()
    assert said.out == "cases/ugly.mks\n"
    assert said.err == "mkeyspec: 1 file would be formatted, 1 is as it should be\n"
    assert (cases / "ugly.mks").read_bytes() == UGLY
    assert main(["fmt", "--check", "cases/neat.mks"]) == 0


def test_diff_shows_it(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "--diff", "cases/ugly.mks"]) == 1
    assert capsys.readouterr().out.splitlines()[2:] == [
        "@@ -1,3 +1,4 @@",
        " mks 1",
        "+",
        " case a",
        "-  mkey   k",
        "+    mkey k",
    ]
    assert (cases / "ugly.mks").read_bytes() == UGLY


def test_a_broken_file_is_left_and_the_others_are_formatted(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cases / "broken.mks").write_bytes(BROKEN)
    (cases / "latin.mks").write_bytes(b"mks 1\n# \xe4\n")
    assert main(["fmt"]) == 2
    said = capsys.readouterr()
    assert (cases / "broken.mks").read_bytes() == BROKEN
    assert (cases / "ugly.mks").read_bytes() == NEAT
    assert all(part in said.err for part in ("error[MKS0104]", "cases/broken.mks:3:8", "error[MKS0802]"))
    assert said.err.endswith("mkeyspec: 1 file formatted, 1 left as it is, 2 can't be parsed\n")


def test_a_read_only_file(cases: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anything
    assert main(["fmt"]) == 2
    assert (cases / "ugly.mks").read_bytes() == UGLY
    assert "can't write cases/ugly.mks: it is read-only" in capsys.readouterr().err


def test_line_ends_and_the_byte_order_mark_stay(cases: Path) -> None:
    (cases / "ugly.mks").write_bytes(b"\xef\xbb\xbfmks 1\r\ncase a\r\n\tmkey k\r\n")
    assert main(["fmt", "cases/ugly.mks"]) == 0
    assert (cases / "ugly.mks").read_bytes() == b"\xef\xbb\xbfmks 1\r\n\r\ncase a\r\n    mkey k\r\n"


@pytest.mark.parametrize(
    ("given", "arguments", "code", "printed"),
    [
        (UGLY, [], 0, NEAT),
        (NEAT, [], 0, NEAT),
        (b"", [], 0, b""),
        (BROKEN, [], 2, b""),
        (b"\xff", [], 2, b""),
        (UGLY, ["--check"], 1, b""),
        (NEAT, ["--check"], 0, b""),
    ],
)
def test_standard_input(
    cases: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
    given: bytes,
    arguments: list[str],
    code: int,
    printed: bytes,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    assert main(["fmt", *arguments, "-"]) == code
    assert capsysbinary.readouterr().out == printed


def test_check_and_diff_are_not_both_given(cases: Path) -> None:
    with pytest.raises(SystemExit):
        main(["fmt", "--check", "--diff"])


def test_nothing_to_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert main(["fmt", "empty"]) == 3
