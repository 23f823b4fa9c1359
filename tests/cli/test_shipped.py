"""The shipped cases, by `--shipped` and `pkg:mkeyspec`: of a wheel they are named from the package, and nothing is
written there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.project import ROOT, Done

DATA = ("cases", "expectations", "grammar", "requirements")
"""As pyproject.toml puts them into the wheel."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a wheel installs, but for the software NIC."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "mkeyspec", folder / "mkeyspec", ignore=shutil.ignore_patterns("__pycache__"))
    for name in DATA:
        shutil.copytree(ROOT / name, folder / "mkeyspec" / "_data" / name)
    return folder


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"}


def mkeyspec(installed: Path, where: Path, *arguments: str) -> Done:
    where.mkdir(exist_ok=True)
    cache = {"XDG_CACHE_HOME": str(where.parent / "cache"), "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-m", "mkeyspec", *arguments],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **cache},
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_shipped_cases_run_away_from_a_checkout(installed: Path, tmp_path: Path) -> None:
    before, here = files(installed), tmp_path / "here"
    done = mkeyspec(installed, here, "run", "--shipped", "--profile", "quick", "--shard", "1/100")
    assert done.code == 0, done.out + done.err
    assert "report: reports/junit.xml" in done.out
    assert '"id":"cases/' in next(here.glob("reports/*/results.ndjson")).read_text("utf-8")
    done = mkeyspec(installed, here, "run", "pkg:mkeyspec/examples/list.mks", "-n", "2", "-q")
    assert done.code == 0, done.out + done.err
    assert sorted(path.name for path in here.iterdir()) == ["reports"]
    assert files(installed) == before


def test_other_commands_take_them(installed: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    assert "3 files checked, 0 errors" in mkeyspec(installed, here, "check", "pkg:mkeyspec/examples").err
    assert "cases/examples/list.mks" in mkeyspec(installed, here, "list", "pkg:mkeyspec/examples").out


def test_the_settings_are_those_of_the_current_project(installed: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "mkeyspec.toml").write_text('device = "model:late"\n', "utf-8")
    done = mkeyspec(installed, here, "run", "pkg:mkeyspec/examples/list.mks", "-k", "nothing_is_called_so")
    assert "on model:late in" in done.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["pkg:acme"], "error[MKS0903]: pkg:acme: the cases of mkeyspec are the only shipped ones"),
        (["pkg:mkeyspec/signatur"], "error[MKS0903]: no such file or directory: "),
        (["--shipped", "cases"], "error[MKS0905]: --shipped takes no path"),
    ],
)
def test_wrong_words(installed: Path, tmp_path: Path, words: list[str], told: str) -> None:
    done = mkeyspec(installed, tmp_path / "here", "run", *words)
    assert done.code == 2
    assert told in done.err
