"""What was frozen with an edition or a schema is still read, and gives what it gave."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from mkeyspec.bundle import part
from mkeyspec.report import record
from mkeyspec.report.reader import read
from mkeyspec.syntax import file as syntax_file
from tests.plugin.project import Project, last_run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EDITION = HERE / "edition-1"
COVERING = "cases/covering.mks::covering["
"""Rows that may be chosen in another way."""


def expected() -> dict[str, str]:
    kept = tomllib.loads((EDITION / "expected.toml").read_text("utf-8"))
    return {f"{file}::{row}": verdict for file, rows in kept.items() for row, verdict in rows.items()}


@pytest.fixture
def frozen(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    shutil.copytree(EDITION / "cases", tmp_path / "cases")
    return project


def test_the_frozen_suite_is_one() -> None:
    """It is not emptied by a change: figures of the day it was frozen."""
    files = sorted((EDITION / "cases").glob("*.mks"))
    assert (len(files), len(expected())) == (23, 56)
    assert all(file.read_text("utf-8").startswith("mks 1\n") for file in files)


def test_the_last_edition_compiles_without_an_error(frozen: Project) -> None:
    done = frozen.mkeyspec("check", "cases")
    assert done.code == 0, done.out
    assert re.search(r"23 files checked, 0 errors", done.err)


def test_the_last_edition_gives_the_same_verdicts(frozen: Project) -> None:
    done = frozen.mkeyspec("run", "cases", "-q")
    assert done.code == 0, done.out
    got = {id: one.verdict for id, one in last_run(frozen).results.items()}
    assert {id: one for id, one in got.items() if not id.startswith(COVERING)} == expected()
    assert {one for id, one in got.items() if id.startswith(COVERING)} == {"passed"}


def test_an_edition_that_is_not_known_is_refused(frozen: Project) -> None:
    frozen.put("cases/later.mks", "mks 2\ncase a\n")
    done = frozen.mkeyspec("check", "cases/later.mks")
    assert done.code == 2
    assert "edition 2 of the language is unknown here" in done.out


def test_the_last_stream_of_results_is_read() -> None:
    run = read(HERE / "results-1.ndjson")
    assert {id: one.verdict for id, one in run.results.items()} == {
        "cases/claims.mks::claims[extra=0]": "passed",
        "cases/claims.mks::claims[extra=1]": "passed",
        "cases/a_file.mks::strip_on_transmit": "passed",
    }


def test_a_module_states_the_release_that_made_it_and_no_other_runs_it(frozen: Project) -> None:
    """Without its sources; with them it is made again."""
    assert frozen.mkeyspec("compile", "cases/a_file.mks").code == 0
    module = frozen.path / "generated" / "cases" / "test_a_file.py"
    text = module.read_text("utf-8")
    assert text.startswith("# Compiled by mkeyspec 0.1.0. ")
    compiler = "# compiler sha256 "
    text = re.sub(f"{compiler}[0-9a-f]+", f"{compiler}{'0' * 64}", text)
    other = text.replace("mkeyspec 0.1.0.", "mkeyspec 0.0.9.", 1)
    module.write_text(other, "utf-8")
    assert frozen.mkeyspec("run", "cases/a_file.mks").code == 0
    shutil.rmtree(frozen.path / "cases")
    assert frozen.pytest("generated").code == 0
    module.write_text(other, "utf-8")
    done = frozen.pytest("generated")
    assert done.code == 1
    assert "error[MKS0909]" in done.out
    assert "it was compiled by mkeyspec 0.0.9, and this is mkeyspec 0.1.0" in done.out


def test_the_versions_of_the_page_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "versions.md").read_text("utf-8")
    told = dict(re.findall(r"^\| (the language|the stream of results|bundles) \|[^|]*\| (\d+) \|", page, re.M))
    assert told == {
        "the language": str(syntax_file.EDITION),
        "the stream of results": str(record.SCHEMA),
        "bundles": str(part.SCHEMA),
    }
