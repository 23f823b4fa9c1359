"""`pytest generated` runs modules as they were written, of the sources as they are, and nothing else."""

from __future__ import annotations

import shutil

import pytest

from tests.plugin.project import CASES, LIBRARY, Project

USER = 'mks 1\nsuite "uses"\nuse "library.mks"\n' + CASES.split("\n", 2)[2].replace("n * 64", "n * size")


@pytest.fixture
def compiled(suite: Project) -> Project:
    assert suite.mkeyspec("compile", "cases").code == 0
    return suite


def test_a_module_as_it_was_written_runs(compiled: Project) -> None:
    assert compiled.pytest("generated", "-k", "passes").counts["passed"] == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rig.finish()", "rig.finish() if 1 else None"),
        ("Counter(64)", "Counter(65)"),
        ("# text ", "# test "),
        ("# Compiled by", "# Made by"),
    ],
)
@pytest.mark.parametrize("arguments", [["generated"], ["generated", "-n", "2"], ["generated/cases/test_a.py"]])
def test_an_edited_module_is_an_error(compiled: Project, old: str, new: str, arguments: list[str]) -> None:
    text = compiled.module().read_text()
    assert old in text
    compiled.module().write_text(text.replace(old, new))
    done = compiled.pytest(*arguments)
    assert done.code == 1
    assert done.counts == {"failed": 1}
    assert "error[MKS0908]: generated/cases/test_a.py" in done.out
    assert "Traceback" not in done.out


@pytest.mark.parametrize("name", ["cases/a.mks", "cases/library.mks"])
def test_a_stale_module_is_an_error(project: Project, name: str) -> None:
    project.put("cases/library.mks", LIBRARY)
    project.put("cases/a.mks", USER)
    project.mkeyspec("compile", "cases")
    assert project.pytest("generated", "-k", "passes").code == 0
    path = project.path / name
    path.write_text(path.read_text() + "# a comment more\n")
    done = project.pytest("generated", "-k", "passes")
    assert done.code == 1
    why = "cases/a.mks or cases/library.mks has changed, or the root of the suite"
    told = f"generated/cases/test_a.py is out of date: {why}; compile it again"
    assert f"error[MKS0909]: {told}" in done.out


def test_the_module_of_another_compiler_is_an_error(compiled: Project) -> None:
    text = compiled.module().read_text()
    head = next(line for line in text.split("\n") if line.startswith("# compiler"))
    compiled.module().write_text(text.replace(head, head[:-1] + ("0" if head[-1] != "0" else "1")))
    assert "error[MKS0909]" in compiled.pytest("generated").out


def test_the_module_of_a_source_that_is_gone_is_an_error(compiled: Project) -> None:
    compiled.put("cases/b.mks", CASES)
    (compiled.path / "cases/a.mks").unlink()
    done = compiled.pytest("generated", "-k", "passes")
    assert "error[MKS0909]: generated/cases/test_a.py is out of date: cases/a.mks is gone" in done.out


@pytest.mark.parametrize("new", ["cases/new/b.mks", "cases/new/deep/b.mks", "other/b.mks"])
def test_a_folder_that_was_renamed_or_removed_is_gone(compiled: Project, new: str) -> None:
    """Whichever other folder of the project has `.mks` files."""
    compiled.put(new, CASES.replace("counter(n * 64)", "counter(n * 32)"))
    assert compiled.mkeyspec("compile", new).code == 0
    (compiled.path / "cases/a.mks").unlink()
    for arguments in (("generated/cases/test_a.py",), (".", "-k", "passes"), (".", "-n2", "-k", "passes")):
        done = compiled.pytest(*arguments)
        assert done.counts["failed"] == 1, arguments
        assert "error[MKS0909]: generated/cases/test_a.py is out of date: cases/a.mks is gone" in done.out


def test_without_any_source_the_modules_run(compiled: Project) -> None:
    """On a machine that has only Python, pytest and mkeyspec."""
    shutil.rmtree(compiled.path / "cases")
    assert compiled.pytest("generated", "-k", "passes").counts["passed"] == 3
    compiled.module().write_text(compiled.module().read_text().replace("Counter(64)", "Counter(65)"))
    assert "MKS0908" in compiled.pytest("generated").out


def test_a_module_of_another_version_is_not_run_without_its_source(compiled: Project) -> None:
    shutil.rmtree(compiled.path / "cases")
    text = compiled.module().read_text()
    compiled.module().write_text(text.replace("# Compiled by mkeyspec ", "# Compiled by mkeyspec 9.", 1))
    done = compiled.pytest("generated")
    assert "error[MKS0909]" in done.out
    assert "mkeyspec 9." in done.out


def test_a_copy_elsewhere_is_held_to_its_head(compiled: Project) -> None:
    """To try something by hand: without the head it is a test module like any other."""
    text = compiled.module().read_text()
    body = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
    compiled.put("tests/test_own.py", body)
    assert compiled.pytest("tests/test_own.py", "-k", "passes").counts["passed"] == 3
    compiled.put("tests/test_own.py", text.replace("rig.finish()", "pass"))
    assert "MKS0908" in compiled.pytest("tests/test_own.py").out


def test_a_module_in_the_place_of_another_one_is_an_error(compiled: Project) -> None:
    """Its own cases would run twice, and those of the other one never."""
    compiled.put("cases/b.mks", CASES.replace("case passes", "case passes_too"))
    compiled.mkeyspec("compile", "cases")
    shutil.copy(compiled.module(), compiled.module("cases/test_b.py"))
    for sources in ("there", "gone"):
        done = compiled.pytest("generated", "-k", "passes")
        assert done.counts["failed"] == 1, sources
        told = "generated/cases/test_b.py is the module of cases/a.mks, whose place is generated/cases/test_a.py"
        assert f"error[MKS0908]: {told}" in done.out
        shutil.rmtree(compiled.path / "cases", ignore_errors=True)


@pytest.fixture
def below(project: Project) -> Project:
    """A project in the folder `cases` of another one, and its modules there too."""
    project.put("cases/mkeyspec.toml", "")
    project.put("cases/a.mks", CASES)
    assert project.mkeyspec("compile", "cases").code == 0
    assert (project.path / "cases/generated/test_a.py").is_file()
    return project


def test_modules_of_a_project_below_are_passed_by(below: Project) -> None:
    """While their sources are there: no case runs twice, from whichever folder."""
    for arguments in ((), (".",), ("cases",), (".", "-n2")):
        assert below.pytest(*arguments, "-k", "passes").counts["passed"] == 3
    assert below.pytest("cases/generated", "-k", "passes").counts["passed"] == 3


@pytest.mark.parametrize("argument", ["cases/generated", "cases/generated/test_a.py"])
def test_a_stale_module_of_a_project_below_is_an_error(below: Project, argument: str) -> None:
    below.put("cases/a.mks", CASES + "# a comment more\n")
    done = below.pytest(argument, "-k", "passes")
    assert done.counts["failed"] == 1
    why = "a.mks has changed, or the root of the suite"
    assert f"error[MKS0909]: cases/generated/test_a.py is out of date: {why}; compile it again" in done.out
    below.put("cases/b.mks", CASES)
    below.mkeyspec("compile", "cases/b.mks")
    (below.path / "cases/a.mks").unlink()
    done = below.pytest(argument, "-k", "passes")
    assert "error[MKS0909]: cases/generated/test_a.py is out of date: a.mks is gone" in done.out


def test_an_ordinary_module_is_left_alone(compiled: Project) -> None:
    compiled.put("tests/test_own.py", "def test_alone(): pass\n")
    compiled.put("generated/README.md", "")
    compiled.put("generated/conftest.py", "")
    assert compiled.pytest("tests/test_own.py", "generated", "-k", "test_alone").counts["passed"] == 1


# rig.finish() --------------------------------------------------------------------------------

OWN = """\
from mkeyspec.plan import At, Memory

def test_never_finishes(rig):
    rig.step(Memory(At(2, 1), "m", 64))

def test_only_takes_it(rig):
    pass

def test_finishes(rig):
    rig.finish()

def test_fails_by_itself(rig):
    assert 1 == 2
"""


def test_a_test_that_never_reaches_finish_fails(project: Project) -> None:
    project.put("tests/test_own.py", OWN)
    done = project.pytest("tests", "--junitxml=r.xml")
    assert done.code == 1
    assert done.counts == {"passed": 1, "failed": 3}
    assert done.out.count(" - error[MKS2011]: the test ended without rig.finish()") == 2
    assert "assert 1 == 2" in done.out
    assert 'failures="3"' in (project.path / "r.xml").read_text()


OTHERS_RIG = """\
import pytest

@pytest.fixture
def rig(): return "of an oil field"

def test_of_theirs(rig): assert rig == "of an oil field"
"""


def test_a_rig_of_somebody_else_is_left_alone(project: Project) -> None:
    """The plugin is loaded in every session of its environment."""
    project.put("tests/test_own.py", OTHERS_RIG)
    assert project.pytest("tests").counts == {"passed": 1}


ROWS = """\
mks 1
suite "rows"
case wrong
    verifies LAY-05
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == fill(9, 64)
"""
REPLACED = {
    "a fixture": """\
import pytest

class Lab:
    def step(self, name): pass
    def finish(self): pass

@pytest.fixture
def rig(): return Lab()
""",
    "a wrapped rig": """\
import pytest
from unittest.mock import Mock

@pytest.fixture
def rig(rig): return Mock(wraps=rig)
""",
    "a hook": """\
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem): return True
""",
    "a hook around all others": """\
import pytest

@pytest.hookimpl(tryfirst=True, wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    try:
        return (yield)
    except BaseException:
        return True
""",
    "a call that is left out": """\
import pytest
from _pytest import runner

class Runs:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        item.runtest = lambda: None

def pytest_configure(config): config.pluginmanager.register(Runs())
""",
}


@pytest.mark.parametrize(
    ("place", "name"), [("generated", "a fixture"), *(("cases", name) for name in REPLACED)], ids=str
)
def test_a_row_that_mkeyspecs_rig_did_not_judge_does_not_pass(project: Project, place: str, name: str) -> None:
    project.put("cases/a.mks", ROWS)
    assert project.mkeyspec("compile", "cases").code == 0
    project.put("conftest.py", REPLACED[name])
    done = project.pytest(place)
    assert done.code == 1, done.out
    assert done.counts == {"failed": 1}


@pytest.mark.parametrize("setting", ["python_functions = check_*", "python_files = check_*.py"])
def test_cases_of_a_module_have_rows_whatever_a_project_calls_tests(project: Project, setting: str) -> None:
    project.put("cases/a.mks", ROWS)
    assert project.mkeyspec("compile", "cases").code == 0
    project.put("tests/check_own.py", "def check_a(): pass\ndef test_a(): pass\n")
    project.put("pytest.ini", f"[pytest]\n{setting}\n")
    done = project.pytest("generated", "tests/check_own.py")
    assert done.code == 1
    assert done.counts == {"passed": 1, "failed": 1}


@pytest.mark.parametrize("how", ["fixture", "mark"])
def test_rows_that_a_project_skips_are_no_result(project: Project, how: str) -> None:
    project.put("cases/a.mks", ROWS)
    text = {
        "fixture": "import pytest\n@pytest.fixture(autouse=True)\ndef no(): pytest.skip('not today')\n",
        "mark": "import pytest\ndef pytest_collection_modifyitems(items):\n"
        "    for item in items: item.add_marker(pytest.mark.skip)\n",
    }
    project.put("conftest.py", text[how])
    done = project.pytest("cases")
    assert done.code == 5
    assert "every row was skipped" in done.out
    assert project.mkeyspec("run", "cases").code == 3
