"""`--vary SEED` of `mkeyspec run` and of pytest."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import forked

ROOT = Path(__file__).resolve().parents[2]
ROW = "cases/signature/crc.mks::a_field_of_another_crc[configured=crc32(ones),stored=crc32c(ones)]"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return forked.run(["-m", "mkeyspec", "run", *words, "--results=off"], cwd=ROOT)


def test_a_failure_says_what_is_around_it(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    done = run(ROW, "--vary", "3", "--fault", "error_last_block", "-q", "--junit", str(report))
    assert done.returncode == 1
    assert "varied    by seed 3\n" in done.stdout
    assert done.stdout.partition("by seed 3\n")[2].startswith(" " * 14)  # what is around it
    assert "--fault error_last_block --vary 3" in done.stdout.partition("again")[2].splitlines()[0]
    assert '<property name="vary" value="3"' in report.read_text("utf-8")


def test_the_row_passes_on_a_right_device() -> None:
    done = run(ROW, "--vary", "3", "-q")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("words", [("--bundle", "kept")])
def test_not_beside_what_takes_rows_as_they_are(words: tuple[str, str], tmp_path: Path) -> None:
    done = run(ROW, "--vary", "3", words[0], str(tmp_path / words[1]))
    assert done.returncode == 2
    assert "MKS0905" in done.stderr + done.stdout
    assert not (tmp_path / words[1]).exists()
