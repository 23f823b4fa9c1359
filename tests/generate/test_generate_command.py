"""The command line of drawn cases: files, runs, the seed in the report, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mkeyspec.cli.entry import main
from mkeyspec.cli.generate import Drawing
from mkeyspec.generate.seed import Seed
from mkeyspec.generate.suite import file_of


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mkeyspec.toml").touch()
    return tmp_path


def test_files_are_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--seed", "3.7", "--cases", "30", "--out", "made/here"]) == 0
    assert "30 cases of seed 3.7 are in made/here" in capsys.readouterr().out
    assert (project / "made/here/seed_3_7_00000.mks").read_text() == file_of(Seed(7), 0, 25).text
    assert (project / "made/here/seed_3_7_00025.mks").read_text() == file_of(Seed(7), 25, 5).text


def test_a_new_seed_is_printed_and_gives_the_same_again(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--cases", "2"]) == 0
    (file,) = (project / "reports/generate").glob("*.mks")
    text = file.read_text()
    seed = capsys.readouterr().out.partition("seed ")[2].split()[0]
    assert main(["generate", "--cases", "2", "--seed", seed]) == 0
    assert file.read_text() == text


def test_drawn_cases_run_with_their_seed_in_the_report(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--generate", "5", "--seed", "11", "-q"]) == 0
    assert "5 passed" in capsys.readouterr().out
    report = (project / "reports/junit.xml").read_text()
    assert report.count('name="seed" value="3.11"') == report.count("<testsuite ") > 0


def test_a_time_ends_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--minutes", "0.0001", "--seed", "3"]) == 0
    assert "25 cases of seed 3.3" in capsys.readouterr().out


def test_a_failed_run_says_how_to_see_it_again(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--generate", "20", "--seed", "1", "-q", "--fault", "transmit_unsigned"]) == 1
    assert "mkeyspec run --generate 20 --seed 3.1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["generate", "--seed", "-1"], "MKS0925"),
        (["generate", "--seed", "many"], "MKS0925"),
        (["run", "--generate", "2", "--seed", "1.-1"], "MKS0925"),
        (["generate", "--seed", "999.42"], "MKS0926"),
        (["generate", "--cases", "0"], "MKS0927"),
        (["generate", "--cases", "-3"], "MKS0927"),
        (["generate", "--cases", "9" * 5000], "MKS0927"),
        (["generate", "--minutes", "0"], "MKS0927"),
        (["generate", "--minutes", "nan"], "MKS0927"),
        (["run", "--generate", "0"], "MKS0927"),
        (["run", "--seed", "42"], "MKS0927"),
        (["run", "--minutes", "1"], "MKS0927"),
        (["run", "--generate", "5", "cases"], "MKS0927"),
        (["generate", "--cases", "1", "--out", "mkeyspec.toml"], "MKS0902"),
        (["generate", "--cases", "1", "--out", "mkeyspec.toml/below"], "MKS0902"),
    ],
)
def test_bad_input(arguments: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert f"error[{code}]" in told
    assert len(told.strip().splitlines()) == 1


def test_rounds_end_with_the_first_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report of a round with a failure is not written over by the next one."""
    codes = [0, 1, 0]
    rounds: list[int] = []

    def session(paths: Sequence[str], more: Sequence[str]) -> int:
        rounds.append(len(paths))
        return codes[len(rounds) - 1]

    assert Drawing(Seed(3), 1000, 60.0, tmp_path).run(session) == 1
    assert len(rounds) == 2
    assert "again: mkeyspec run --generate 200 --seed 3.3" in capsys.readouterr().out
