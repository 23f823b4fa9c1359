"""The line of the short summary that stands for a broken file; a file that can't be named."""

from __future__ import annotations

import os

import pytest

from tests.plugin.project import CASES, Project

WARNED = """\
mks 1
case warned
    verifies LAY-01
    let unused = 1
    memory m = counter(nothing)
"""


def test_the_summary_names_the_error_and_not_a_warning_before_it(project: Project) -> None:
    project.put("cases/w.mks", WARNED)
    done = project.mkeyspec("run", "cases")
    assert "warning[MKS0610]" in done.out
    assert "1 failed (1 MKS0202)" in done.out
    assert "cases/w.mks::MKS0202 - error[MKS0202]: nothing is called `nothing`" in done.out


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_a_name_that_is_no_utf8_ends_the_session_in_one_line(suite: Project, workers: tuple[str, ...]) -> None:
    """No report could spell it, and JUnit's, with every other row, would be lost."""
    name = os.fsdecode(b"cases/gr\xfcn.mks")
    (suite.path / name).write_text(CASES)
    told = r"error[MKS0801]: the name of cases/gr\xfcn.mks is not UTF-8; rename the file or its folder"
    for done in (suite.pytest(*workers), suite.mkeyspec("run", "cases", *workers), suite.mkeyspec("check", "cases")):
        assert told in done.out + done.err
        assert "Traceback" not in done.out + done.err
        assert done.code in (2, 4)
