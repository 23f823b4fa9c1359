"""`mkeyspec.plugin.collected`: what collection made is frozen while rows run, and is not any more after the session."""

from __future__ import annotations

from tests.plugin.project import Project

PLUGIN = """
import gc

import pytest


def pytest_runtest_setup():
    print("frozen while it runs:", gc.get_freeze_count() > 1000)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    print("frozen at the end:", gc.get_freeze_count() > 1000)
"""

CALLER = """
import gc
import sys

import pytest

code = pytest.main(["-q", "-s", "cases"])
print("frozen afterwards:", gc.get_freeze_count())
sys.exit(code)
"""

CASE = """\
mks 1
case a
    memory src = counter(64)
    expect src == counter(64)
"""


def test_frozen_from_collection_to_the_end(project: Project) -> None:
    project.put("conftest.py", PLUGIN)
    project.put("cases/a.mks", CASE)
    project.put("caller.py", CALLER)
    done = project.python("caller.py")
    assert done.code == 0, done.out + done.err
    assert "frozen while it runs: True" in done.out
    assert "frozen at the end: True" in done.out
    assert "frozen afterwards: 0" in done.out
