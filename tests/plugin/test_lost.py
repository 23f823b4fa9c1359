"""No case is lost between its file and pytest: neither by its name, nor by an option, nor from a profile."""

from __future__ import annotations

import pytest

from tests.plugin.project import CASES, LIBRARY, Project

CASE = """\
case {name}
    verifies LAY-05
    for n in 1, 2
    memory m = counter(n * 64)
    mkey k
    configure k {{ layout list(m) }}
    transmit k by send
    expect wire == counter(n * 64)

"""
HEAD = 'mks 1\nsuite "names"\n\n'

NAMES = (
    "setup_module", "teardown_module", "setup_function", "setup", "teardown", "conftest", "row", "rows", "rig",
    "device",
    "test", "test_test", "request", "self", "class", "def", "print", "len", "suite_", "param", "parametrize", "mark",
    "fixture", "os", "sys", "pytest", "pytestmarks", "py_test", "load_tests", "config",
)  # fmt: skip


@pytest.mark.parametrize("arguments", [[], ["-n", "2"], ["-o", "collect_imported_tests=false"], ["generated"]])
def test_every_name_is_collected(project: Project, arguments: list[str]) -> None:
    project.put("cases/a.mks", HEAD + "".join(CASE.format(name=name) for name in NAMES))
    assert project.mkeyspec("compile", "cases").code == 0
    done = project.pytest(*arguments)
    assert done.counts == {"passed": 2 * len(NAMES)}


@pytest.mark.parametrize("name", ["pytestmark", "pytest_plugins", "pytest_generate_tests", "pytest_generate_tests_"])
def test_a_name_that_pytest_reads_is_refused(project: Project, name: str) -> None:
    project.put("cases/a.mks", HEAD + CASE.format(name="other") + CASE.format(name=name))
    done = project.pytest()
    assert done.counts == {"failed": 1}
    assert "--> cases/a.mks:13:6" in done.out
    assert f"error[MKS0224]: a case can't be called `{name}`" in done.out


def test_what_another_plugin_drops_is_an_error(project: Project) -> None:
    project.put("cases/a.mks", HEAD + CASE.format(name="one") + CASE.format(name="two"))
    project.put(
        "conftest.py",
        "import pytest\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_pycollect_makeitem(collector, name, obj):\n"
        "    return [] if name == 'one' else None\n",
    )
    done = project.pytest()
    assert done.code != 0
    assert "error[MKS0906]: pytest made 0 of the 2 rows of case `one`" in done.out


# Profiles ------------------------------------------------------------------------------------


def listed(*ids: str) -> str:
    return "items = [\n" + "".join(f'    "{id}",\n' for id in ids) + "]\n"


PASSES = "cases/a.mks::passes[n=1]"
GONE = (
    "cases/a.mks::pases[n=1]",
    "cases/a.mks::passes[n=9]",
    "cases/a.mks::passes",
    "cases/none.mks::a",
)


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
@pytest.mark.parametrize("gone", GONE)
def test_an_item_of_a_profile_that_is_not_there_fails(suite: Project, gone: str, workers: list[str]) -> None:
    suite.put("cases/few.toml", listed(PASSES, gone))
    done = suite.pytest("--case-profile=few", *workers)
    assert done.code == 1
    assert done.counts["passed"] == 1
    assert done.counts["failed"] == 1
    assert f"error[MKS0922]: cases/few.toml lists 1 item that is not there: {gone}" in done.out


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
@pytest.mark.parametrize("there", [(PASSES,), ()], ids=["with others", "alone"])
def test_a_listed_file_that_has_become_a_library_fails(
    suite: Project, there: tuple[str, ...], workers: list[str]
) -> None:
    """It gives no item, and is on disk all the same."""
    suite.put("cases/b.mks", LIBRARY)
    suite.put("cases/few.toml", listed(*there, "cases/b.mks::moved"))
    done = suite.pytest("--case-profile=few", *workers)
    assert done.counts.get("failed") == 1
    assert "error[MKS0922]: cases/few.toml lists 1 item that is not there: cases/b.mks::moved" in done.out
    assert suite.pytest("--case-profile=few", "generated", *workers).counts.get("failed") == 1


def test_what_was_left_out_on_purpose_is_not_missed(suite: Project) -> None:
    suite.put("cases/b.mks", CASES)
    suite.put("cases/few.toml", listed(PASSES, "cases/a.mks::fails[n=2]", "cases/b.mks::passes[n=2]"))
    done = suite.pytest("--case-profile=few", "--ignore=cases/b.mks")
    assert done.counts == {"passed": 1, "failed": 1, "deselected": 5}
    done = suite.pytest("--case-profile=few", "--lf")
    assert done.counts == {"failed": 1, "deselected": 1}
    assert "MKS0922" not in done.out
    suite.put("cases/few.toml", listed(PASSES, "cases/none.mks::a"))
    assert suite.pytest("--case-profile=few", "cases/a.mks").counts == {"passed": 1, "deselected": 6}


def test_run_ends_with_2(suite: Project) -> None:
    suite.put("cases/few.toml", listed(PASSES, *GONE))
    done = suite.mkeyspec("run", "cases", "--profile", "few")
    assert done.code == 2
    assert "1 passed, 1 failed (1 MKS0922)" in done.out.rstrip().split("\n")[-1]
    assert "lists 4 items that are not there" in done.out


@pytest.mark.parametrize(
    "arguments", [["cases/b.mks"], ["cases/b.mks", "cases/a.mks::passes[n=1]"], ["cases/a.mks::passes", "cases/b.mks"]]
)
def test_what_was_not_asked_for_is_not_missed(suite: Project, arguments: list[str]) -> None:
    suite.put("cases/b.mks", CASES)
    suite.put("cases/few.toml", listed(PASSES, "cases/a.mks::fails[n=1]", "cases/b.mks::passes[n=2]"))
    done = suite.pytest("--case-profile=few", *arguments)
    assert done.code == 0
    assert "MKS0922" not in done.out


def test_other_selections_hide_nothing(suite: Project) -> None:
    suite.put("cases/few.toml", listed(PASSES, "cases/a.mks::gone"))
    assert "MKS0922" in suite.pytest("--case-profile=few", "-k", "passes").out
    assert "MKS0922" in suite.pytest("--case-profile=few", "-m", "positive").out
    suite.put("cases/few.toml", listed(PASSES, "cases/a.mks::fails[n=1]"))
    assert suite.pytest("--case-profile=few", "-k", "passes").counts == {"passed": 1, "deselected": 6}
