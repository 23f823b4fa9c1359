"""Warnings on the command line and in a session: shown, denied, allowed."""

from __future__ import annotations

import pytest

from mkeyspec.cli import main
from tests.plugin.project import Project

BLIND = """\
mks 1

case observes_nothing
    verifies LAY-05
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
"""
LINE = "a.mks:3:6: warning[MKS0602]: this case observes nothing"


@pytest.fixture
def blind(project: Project) -> Project:
    project.put("cases/a.mks", BLIND)
    return project


@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        ((), 0, "warning[MKS0602]"),
        (("--deny", "warnings"), 2, "error[MKS0602]"),
        (("--deny", "MKS0602"), 2, "error[MKS0602]"),
        (("--deny", "MKS0604,mks0602"), 2, "error[MKS0602]"),
        (("--deny", "MKS0604"), 0, "warning[MKS0602]"),
        (("--allow", "MKS0602"), 0, ""),
        (("--allow", "warnings"), 0, ""),
        (("--deny", "warnings", "--allow", "MKS0602"), 0, ""),
        (("--deny", "MKS0602", "--allow", "warnings"), 2, "error[MKS0602]"),
    ],
)
def test_check(
    blind: Project,
    options: tuple[str, ...],
    code: int,
    shown: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(blind.path)
    assert main(["check", *options, "cases"]) == code
    out = capsys.readouterr().out
    assert shown in out
    assert ("MKS0602" in out) == bool(shown)


def test_what_is_no_warning_is_refused(
    blind: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(blind.path)
    assert main(["check", "--deny", "MKS0310", "cases"]) == 2
    assert "error[MKS0923]: --deny MKS0310: no warning is called so" in capsys.readouterr().err


def test_a_session_shows_them_also_of_a_fresh_module(blind: Project) -> None:
    for arguments in ((), (), ("-n2",)):
        done = blind.pytest(*arguments)
        assert done.code == 0, done.out
        assert f"cases/{LINE}" in done.out, arguments
        assert done.out.count(LINE) == 1


def test_run_shows_denies_and_allows(blind: Project) -> None:
    shown = blind.mkeyspec("run")
    assert shown.code == 0
    assert f"cases/{LINE}" in shown.out
    denied = blind.mkeyspec("run", "--deny", "warnings")
    assert denied.code == 2, denied.out
    assert "error[MKS0602]" in denied.out
    assert not blind.module().exists()
    allowed = blind.mkeyspec("run", "--allow", "MKS0602")
    assert allowed.code == 0
    assert "MKS0602" not in allowed.out
    again = blind.mkeyspec("run")
    assert f"cases/{LINE}" in again.out, "the module keeps what --allow only hides"


def test_compile_tells_those_of_a_fresh_module(blind: Project) -> None:
    assert "warning[MKS0602]" in blind.mkeyspec("compile").err
    assert f"cases/{LINE}" in blind.mkeyspec("compile").err
    assert blind.mkeyspec("compile", "--deny", "MKS0602").code == 2


def test_a_wrong_code_in_a_session(blind: Project) -> None:
    done = blind.pytest("--deny", "MKS9999")
    assert done.code == 4
    assert "error[MKS0923]: --deny MKS9999: no warning is called so" in done.err


def test_allow_in_the_file_is_heeded(blind: Project) -> None:
    blind.put("cases/a.mks", BLIND.replace("    verifies LAY-05\n", "    verifies LAY-05\n    allow MKS0602\n"))
    done = blind.mkeyspec("run", "--deny", "warnings")
    assert done.code == 0, done.out
    assert "MKS06" not in done.out


def test_files_that_are_ignored_are_not_told(blind: Project) -> None:
    blind.put("cases/conftest.py", 'collect_ignore_glob = ["a.mks"]\n')
    blind.put("cases/b.mks", BLIND)
    for arguments in ((), ("-n2",)):
        done = blind.pytest(*arguments)
        assert "cases/b.mks:3:6: warning[MKS0602]" in done.out
        assert "a.mks" not in done.out


SHADOWS = "mks 1\nlet any = 3\n"


def test_those_of_a_library_are_kept(blind: Project) -> None:
    blind.put("cases/lib.mks", SHADOWS)
    for arguments in (("--allow", "MKS0602"), ("--allow", "MKS0602"), ("--allow", "MKS0602", "-n2")):
        done = blind.mkeyspec("run", *arguments)
        assert done.code == 0
        assert done.out.count("cases/lib.mks:2:5: warning[MKS0613]") == 1, arguments
    assert "cases/lib.mks:2:5: warning[MKS0613]" in blind.mkeyspec("compile").err
    assert blind.mkeyspec("compile", "--deny", "MKS0613").code == 2
    assert blind.mkeyspec("run").code == 0
    assert blind.mkeyspec("run", "--deny", "MKS0613").code == 2
    assert blind.mkeyspec("run", "--deny", "MKS0613").code == 2


def test_all_of_them_are_kept(blind: Project) -> None:
    """Whatever number comes before the one that is denied."""
    many = "".join(CASE.format(i) for i in range(201))
    blind.put("cases/a.mks", "mks 1\n" + many + BLIND.split("\n", 1)[1])
    for _ in range(2):
        done = blind.mkeyspec("run", "--allow", "MKS0606")
        assert done.code == 0
        assert "warning[MKS0602]" in done.out
    assert blind.mkeyspec("run", "--allow", "MKS0606", "--deny", "MKS0602").code == 2


CASE = """\
case c{}
    memory m = counter(64)
    mkey k
    configure k {{ layout list(m) }}
    transmit k by send
    expect wire == m

"""


def test_of_a_generated_module_they_are_shown_and_denied_too(blind: Project) -> None:
    assert blind.mkeyspec("compile", "cases").code == 0
    shown = blind.pytest("generated")
    assert (shown.code, shown.counts["passed"]) == (0, 1)
    assert LINE in shown.out
    for denied in ("warnings", "MKS0602"):
        done = blind.pytest("generated", "--deny", denied)
        assert (done.code, done.counts) == (1, {"failed": 1})
        assert LINE.replace("warning", "error") in done.out
    assert LINE not in blind.pytest("generated", "--allow", "MKS0602").out
