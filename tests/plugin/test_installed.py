"""A suite that uses an installed library, as users run it: what is fresh, what is kept, what is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.emit.header import read_header
from tests.plugin.project import LIBRARY, Project

CASES = """\
mks 1
suite "uses a package"
use "pkg:vendor_suite/common.mks"

case passes
    verifies CRC-02, LAY-05
    for n in 1, 2
    memory m = counter(n * size)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == counter(n * size)
"""


@pytest.fixture
def suite(project: Project) -> Project:
    """The folder of a project is on Python's path here, so that a package in it counts as installed."""
    project.put("cases/a.mks", CASES)
    project.put("vendor_suite/__init__.py", "raise RuntimeError\n")
    project.put("vendor_suite/common.mks", 'mks 1\nuse "inner/sizes.mks"\nlet another = 1\n')
    project.put("vendor_suite/inner/sizes.mks", LIBRARY)
    return project


def test_a_library_that_changes_makes_its_users_stale(suite: Project) -> None:
    assert suite.pytest().counts == {"passed": 2}
    header = read_header(suite.module().read_text("utf-8"))
    assert header is not None
    assert header.used == ("pkg:vendor_suite/common.mks", "pkg:vendor_suite/inner/sizes.mks")
    first = suite.module().stat().st_mtime_ns
    assert suite.pytest().counts == {"passed": 2}
    assert suite.module().stat().st_mtime_ns == first, "a fresh module was written again"
    before = suite.module().read_text("utf-8")
    suite.put("vendor_suite/inner/sizes.mks", LIBRARY.replace("64", "32"))
    assert suite.mkeyspec("run").code == 0
    assert suite.module().read_text("utf-8") != before
    suite.put("vendor_suite/inner/sizes.mks", "mks 1\nlet another_name = 1\n")
    done = suite.mkeyspec("run")
    assert done.code != 0
    assert "MKS0202" in done.out + done.err


def test_generated_modules_say_what_became_of_the_library(suite: Project) -> None:
    assert suite.mkeyspec("compile").code == 0
    assert suite.pytest("generated").counts == {"passed": 2}
    suite.put("vendor_suite/inner/sizes.mks", LIBRARY.replace("64", "32"))
    done = suite.pytest("generated")
    assert "pkg:vendor_suite/inner/sizes.mks has changed" in done.out
    (suite.path / "vendor_suite/__init__.py").unlink()
    done = suite.pytest("generated")
    assert "MKS0909" in done.out
    assert "pkg:vendor_suite/common.mks is not installed" in done.out


def test_modules_alone_run_without_the_library(suite: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    """On a machine that has the modules only."""
    assert suite.mkeyspec("compile").code == 0
    other = Project(tmp_path_factory.mktemp("other"))
    for file in suite.module().parent.glob("*.py"):
        other.put(f"generated/cases/{file.name}", file.read_text("utf-8"))
    assert other.pytest("generated").counts == {"passed": 2}
    other.put("vendor_suite/__init__.py", "")
    other.put("vendor_suite/common.mks", "mks 1\nlet of_another_version = 1\n")
    assert other.pytest("generated").counts == {"passed": 2}


def test_a_bundle_is_judged_with_the_library_of_its_run(suite: Project) -> None:
    assert suite.mkeyspec("run", "cases", "--bundle", "a.bundle").code == 0
    suite.put("vendor_suite/inner/sizes.mks", LIBRARY.replace("64", "32"))
    done = suite.mkeyspec("judge", "a.bundle", "--recorded-cases")
    assert done.code == 0, done.out + done.err
    assert "2 passed" in done.out
    today = suite.mkeyspec("judge", "a.bundle")
    assert today.code == 1, today.out
    assert "2 failed (2 MKS0954)" in today.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["check"], "1 file checked, 0 errors"),
        (["list"], "1 case, 2 rows"),
        (["fmt", "--check", "cases"], "1 is as it should be"),
        (["draw", "cases/a.mks::passes[n=1]"], "64"),
    ],
    ids=lambda one: one[0] if isinstance(one, list) else "",
)
def test_commands(suite: Project, words: list[str], says: str) -> None:
    done = suite.mkeyspec(*words)
    assert done.code == 0, done.out + done.err
    assert says in done.out + done.err


def test_check_leaves_an_installed_library_as_it_is(suite: Project) -> None:
    """A correction that belongs into a library is not written into the package."""
    wrong = "mks 1\nlet size = countr(64)\n"
    suite.put("vendor_suite/inner/sizes.mks", wrong)
    done = suite.mkeyspec("check", "--fix")
    assert done.code != 0
    assert "--> pkg:vendor_suite/inner/sizes.mks:2:12" in done.out + done.err
    assert Path(suite.path / "vendor_suite/inner/sizes.mks").read_text("utf-8") == wrong
