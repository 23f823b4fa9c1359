"""The line of the short summary that stands for a broken file."""

from __future__ import annotations

from tests.plugin.project import Project

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
