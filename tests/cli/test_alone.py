"""`mkeyspec run`: its verdict is of the cases and the device, whatever a project or a machine tells pytest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import forked
from tests.plugin.project import CASES, ROOT, Project

FOREIGN = '''\
"""A plugin that lets every failure pass, and runs half of what there is."""
import pytest

def pytest_collection_modifyitems(items):
    del items[::2]

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    report = yield
    report.outcome, report.longrepr = "passed", None
    return report
'''
INI = {
    "fewer": "[pytest]\naddopts = -k passes\n",
    "an option of its own": "[pytest]\naddopts = --own=1\n",
    "a plugin that is not there": "[pytest]\naddopts = -p not_there\n",
    "one that is": "[pytest]\naddopts = -p foreign\n",
    "one that is required": "[pytest]\nrequired_plugins = pytest-not-there\n",
    "a newer pytest": "[pytest]\nminversion = 99\n",
    "warnings are errors": "[pytest]\nfilterwarnings = error\n",
    "strict": "[pytest]\nxfail_strict = true\nstrict_config = true\nnot_known = 1\n",
    "the first failure ends it": "[pytest]\naddopts = -x\n",
    "no such file": "[pytest]\npython_files = nothing\ncollect_imported_tests = false\n",
    "no sense": "[pytest\n",
}
ENVIRONMENT = {
    "PYTEST_ADDOPTS": "-k passes",
    "PYTEST_PLUGINS": "foreign",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
VERDICT = "5 passed, 1 failed (1 MKS2101), 1 skipped"


def verdict(project: Project, *arguments: str, **environment: str) -> str:
    """The last line of a run of the project's cases, whose modules are found."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    kept |= {"PYTHONPATH": os.pathsep.join((str(ROOT), str(project.path))), "COLUMNS": "200", **environment}
    done = forked.run(["-m", "mkeyspec", "run", "cases", *arguments], cwd=project.path, env=kept, timeout=300)
    lines = done.stdout.strip().splitlines()
    return lines[-1] if lines else done.stderr


@pytest.fixture
def failing(tmp_path: Path) -> Project:
    """Its cases have a failure and a skip; a plugin `foreign` is there to be found, and is asked for by nobody."""
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES)
    project.put("foreign.py", FOREIGN)
    return project


def test_of_nobody_else(failing: Project) -> None:
    assert VERDICT in verdict(failing)
    assert VERDICT not in verdict(failing, "-pforeign"), "but of what is asked for"


@pytest.mark.parametrize("how", INI)
def test_of_no_options_of_a_project(failing: Project, how: str) -> None:
    failing.put("pytest.ini", INI[how])
    assert VERDICT in verdict(failing)


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_of_no_options_of_the_environment(failing: Project, name: str) -> None:
    assert VERDICT in verdict(failing, **{name: ENVIRONMENT[name]})


@pytest.mark.parametrize("folder", ["", "cases/"])
@pytest.mark.parametrize("text", [FOREIGN, "raise RuntimeError\n", "collect_ignore_glob = ['*.mks']\n"])
def test_of_no_conftest(failing: Project, folder: str, text: str) -> None:
    failing.put(f"{folder}conftest.py", text)
    assert VERDICT in verdict(failing)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_of_no_plugin_that_is_installed(failing: Project, workers: tuple[str, ...]) -> None:
    """As pytest-rerunfailures, -randomly, -timeout and -cov are, by their entry points."""
    failing.put("foreign-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: foreign\nVersion: 1\n")
    failing.put("foreign-1.dist-info/entry_points.txt", "[pytest11]\nforeign = foreign\n")
    assert VERDICT in verdict(failing, *workers)
    done = failing.pytest("cases", "-q")
    assert "foreign" not in done.err
    assert done.code == 0, "pytest is the user's own, and loads it"


def test_its_own_choice_of_folders_is_the_projects(failing: Project) -> None:
    """As those of `check` and `list` are."""
    failing.put("pytest.ini", "[pytest]\nnorecursedirs = 'old ones' older\n")
    for folder in ("old ones", "older"):
        failing.put(f"cases/{folder}/b.mks", CASES)
    assert VERDICT in verdict(failing)
