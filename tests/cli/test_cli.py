"""The command line as a user meets it: exit codes, last lines, and one line for what can't be done."""

from __future__ import annotations

import errno
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mkeyspec import __version__, cli
from mkeyspec.cli.session import Tally
from mkeyspec.diagnostics.codes import CODES
from mkeyspec.files.unwritable import Unwritable
from tests.plugin.project import BROKEN, CASES, LIBRARY, Done, Project, properties

GOOD = CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", GOOD)
    return made


def last_line(done: Done) -> str:
    return done.out.rstrip().split("\n")[-1]


def no_traceback(done: Done) -> bool:
    return "Traceback" not in done.out + done.err


# run -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_run(project: Project, workers: list[str]) -> None:
    done = project.mkeyspec("run", "cases", *workers)
    assert done.code == 0
    counts = r"6 passed, 0 failed, 1 skipped \(1 needs crypto.wrapped, device.max_wr_memcpy_length < 1 \(it is \d+\)\)"
    assert re.fullmatch(rf"mkeyspec: {counts} on model in [\d.]+ s; report: reports/junit.xml", last_line(done))
    found = properties(project.path / "reports" / "junit.xml")
    assert found["passes[n=1]"]["requirements"] == "CRC-02 LAY-05"
    assert found[""]["device"] == "model"
    assert "Warning" not in done.out


def test_run_needs_no_argument(project: Project) -> None:
    assert project.mkeyspec("run").code == 0


def test_results_that_are_not_kept(project: Project) -> None:
    done = project.mkeyspec("run", "--results", "off", "-k", "passes")
    assert (done.code, "error" in done.err) == (0, False)
    assert properties(project.path / "reports" / "junit.xml")["passes[n=1]"]["requirements"] == "CRC-02 LAY-05"
    assert not [path for path in project.path.rglob("*") if path.name in ("off", "results.ndjson")]


def test_run_without_plugins_loaded_by_themselves(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    command = [sys.executable, "-m", "mkeyspec", "run", "cases"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout


def test_a_failed_case_is_1(project: Project) -> None:
    project.put("cases/a.mks", CASES)
    done = project.mkeyspec("run", "cases")
    assert done.code == 1
    assert "5 passed, 1 failed (1 MKS2101), 1 skipped" in last_line(done)


def test_a_broken_file_is_2_and_the_others_run(project: Project) -> None:
    project.put("cases/b.mks", BROKEN)
    done = project.mkeyspec("run", "cases")
    assert done.code == 2
    assert re.search(r"6 passed, 1 failed \(1 MKS02\d\d\), 1 skipped", last_line(done))
    assert no_traceback(done)


@pytest.mark.parametrize("arguments", [["cases/a.mks::lacks"], ["-k", "no_such_case"]])
def test_nothing_ran_is_3(project: Project, arguments: list[str]) -> None:
    done = project.mkeyspec("run", *arguments)
    assert done.code == 3
    assert "0 passed, 0 failed" in last_line(done)
    assert ("no case was selected" in last_line(done)) == ("-k" in arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["cases", "-x", "-q"],
        ["-x", "cases"],
        ["cases/a.mks::passes", "--durations=3"],
        ["-k", "passes", "cases", "-v", "--tb=short"],
        ["cases", "-m", "negative"],
        ["cases", "-pno:cacheprovider"],
        ["cases", "--deadline=3", "--device=model"],
    ],
)
def test_options_of_pytest_are_taken(project: Project, arguments: list[str]) -> None:
    done = project.mkeyspec("run", *arguments)
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize("option", ["--junit", "--junitxml", "--junit-xml"])
def test_the_report_can_go_elsewhere(project: Project, option: str) -> None:
    """By pytest's names of the option as well: the last line names the file that was written."""
    done = project.mkeyspec("run", option, "out/r.xml", "--generated", "made", "--results", "out/r.ndjson")
    assert done.code == 0
    assert last_line(done).endswith("; report: out/r.xml")
    assert ElementTree.parse(project.path / "out" / "r.xml").getroot().tag == "testsuites"
    assert (project.path / "made" / "cases" / "test_a.py").exists()
    assert not (project.path / "generated").exists()
    assert (project.path / "out" / "r.ndjson").exists()
    assert not (project.path / "reports").exists()


def test_skipped_rows_before_the_crash_are_told(project: Project) -> None:
    project.put("conftest.py", KILLED.format(how="os._exit(0)", when="setup").replace("fails[n=2]", "setup_module"))
    done = project.mkeyspec("run", "cases")
    assert done.code == 1, done.out + done.err
    counts = r"5 passed, 0 failed, 1 lost \(1 MKS2012\), 1 skipped \(1 needs crypto.wrapped, .*\)"
    assert re.fullmatch(rf"mkeyspec: {counts} on model in [\d.]+ s; report: reports/junit.xml", last_line(done))


KILLED = """\
import os, pytest
@pytest.hookimpl(trylast=True)
def pytest_runtest_{when}(item):
    if item.name == "fails[n=2]":
        {how}
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
@pytest.mark.parametrize("how", ["os.kill(os.getpid(), 9)", "import ctypes; ctypes.string_at(0)", "os._exit(0)"])
def test_a_row_that_its_process_is_lost_in(project: Project, how: str, workers: list[str]) -> None:
    """The report has all results, and that row: an error with a code and its properties."""
    project.put("reports/junit.xml", "<testsuites/>")
    project.put("conftest.py", KILLED.format(how=how, when="setup"))
    done = project.mkeyspec("run", "cases", *workers)
    assert done.code == 1, done.out + done.err
    assert "1 lost (1 MKS2012)" in last_line(done)
    assert ("4 passed" if not workers else "5 passed") in last_line(done)
    assert (", 2 not run on" in last_line(done)) == (not workers)
    report = ElementTree.parse(project.path / "reports" / "junit.xml")
    cases = {case.attrib["name"]: case for case in report.iter("testcase")}
    assert "error[MKS2012]" in (cases["fails[n=2]"].find("error").text or "")  # type: ignore[union-attr]
    found = properties(project.path / "reports" / "junit.xml")
    assert found["fails[n=2]"]["case"] == "cases/a.mks::fails[n=2]"
    assert found["fails[n=2]"]["requirements"] == "SIG-07"
    assert found["fails[n=2]"]["lost"] == "MKS2012"
    assert found[""]["device"] == "model"


def test_what_is_told_again_is_shown_as_the_run_was_to_show_it(project: Project) -> None:
    """By options of the command line; those of the project have no part in it."""
    project.put("conftest.py", KILLED.format(how="os._exit(0)", when="setup").replace("fails[n=2]", "setup_module"))
    plain = project.mkeyspec("run", "cases").out.split("its reports until then")[1]
    assert "PASSED" not in plain
    assert "the process ended in the middle of this case" in plain
    options = project.path / "pyproject.toml"
    options.write_text(options.read_text().replace('"--strict-markers"', '"--strict-markers", "-rA"'))
    shown = project.mkeyspec("run", "cases", "-v", "--tb=no", "-rs").out.split("its reports until then")[1]
    assert re.search(r"cases/a\.mks::passes\[n=1\] PASSED", shown)
    assert "SKIPPED [1]" in shown
    assert "the process ended in the middle of this case" not in shown


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_the_report_counts_the_row_that_is_lost(project: Project, when: str, workers: list[str]) -> None:
    """In whichever part of it the process ends: as many tests as there are test cases in the report."""
    project.put("conftest.py", KILLED.format(how="os._exit(0)", when=when))
    done = project.mkeyspec("run", "cases", *workers)
    assert "1 lost (1 MKS2012)" in last_line(done)
    report = ElementTree.parse(project.path / "reports" / "junit.xml")
    [suite] = report.iter("testsuite")
    assert int(suite.attrib["tests"]) == len(list(report.iter("testcase")))
    assert suite.attrib["errors"] == "1"


GONE = """\
import os
seen = []
def pytest_runtest_logreport(report):
    seen.append(report.when)
    if "PYTEST_XDIST_WORKER" not in os.environ and seen.count("call") == 2:
        os._exit(0)
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_rows_that_were_not_run_when_the_process_ended(project: Project, workers: list[str]) -> None:
    """A controller of xdist collects nothing itself; its workers report how many rows there are."""
    project.put("conftest.py", GONE)
    done = project.mkeyspec("run", "cases", *workers)
    assert done.code == 1, done.out + done.err
    assert re.search(r", \d not run", last_line(done)), last_line(done)


NONE = "0 passed, 0 failed, 1 lost (1 MKS2012), 0 skipped on"
ALL = "6 passed, 0 failed, 1 lost (1 MKS2012), 1 skipped"


@pytest.mark.parametrize(
    ("hook", "counts", "workers"),
    [
        ("pytest_sessionstart", NONE, []),
        ("pytest_sessionstart", NONE, ["-n", "2"]),
        ("pytest_collection_modifyitems", NONE, []),
        ("pytest_sessionfinish", ALL, []),
        ("pytest_sessionfinish", ALL, ["-n", "2"]),
        ("pytest_unconfigure", ALL, []),
    ],
)
def test_a_process_that_ends_in_no_row(project: Project, hook: str, counts: str, workers: list[str]) -> None:
    """Neither a green report nor "no case was selected"."""
    project.put("conftest.py", f"import os\ndef {hook}(): 'PYTEST_XDIST_WORKER' in os.environ or os._exit(0)\n")
    done = project.mkeyspec("run", "cases", *workers)
    assert done.code == 1, done.out + done.err
    assert counts in last_line(done)
    assert "not run" not in last_line(done)
    report = ElementTree.parse(project.path / "reports" / "junit.xml")
    assert "error[MKS2012]: the process ended outside of any case" in str(report.findtext(".//testcase/error"))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere"], "MKS0903"),
        (["pyproject.toml"], "MKS0903"),
        (["cases", "--tb", "short"], "MKS0903"),
        (["cases", "--device", "mlx5_0:none"], "MKS0901"),
        (["cases", "--deadline", "0"], "MKS0905"),
        (["cases", "--device-profile", "none.toml"], "MKS0903"),
        (["cases", "--expectations", "pyproject.toml"], "MKS0904"),
        (["cases", "--junit", "pyproject.toml/junit.xml"], "MKS0902"),
        (["cases", "--junit", "cases"], "MKS0902"),
        (["--junit", "cases/a.mks"], "MKS0902"),
        (["cases", "--junit", "pyproject.toml"], "MKS0902"),
        (["cases", "--junit", "cases/new.mks"], "MKS0902"),
        (["cases", "--generated", "pyproject.toml"], "MKS0902"),
    ],
)
def test_what_cannot_be_done_is_one_line(project: Project, arguments: list[str], code: str) -> None:
    done = project.mkeyspec("run", *arguments)
    lines = [line for line in (done.out + done.err).split("\n") if line.strip()]
    assert len(lines) == 1, lines
    assert code in lines[0]
    assert code in CODES
    assert done.code == 2
    assert (project.path / "cases" / "a.mks").read_text() == GOOD


@pytest.mark.parametrize("name", ["generated", "reports"])
def test_a_file_in_the_place_of_a_folder(project: Project, name: str) -> None:
    project.put(name, "")
    done = project.mkeyspec("run")
    assert done.code == 2
    assert done.err.startswith(f"mkeyspec: error[MKS0902]: can't write {name}")
    assert f"{name} is not a directory: move it away, or name another place with --" in done.err
    assert done.err.count("\n") == 1


def test_a_folder_that_can_not_be_written_is_not_in_its_own_place(tmp_path: Path) -> None:
    for number, what in ((errno.EACCES, "Permission denied"), (errno.EPERM, "Operation not permitted")):
        raised = OSError(number, what, str(tmp_path / ".probe"))
        assert f"{what}; make " in str(Unwritable(tmp_path, raised))
    assert "a directory is in its place" in str(Unwritable(tmp_path, OSError(errno.EPERM, "no", str(tmp_path))))


def test_what_is_in_the_way_of_a_module_is_named(project: Project) -> None:
    project.put("generated", "")
    done = project.mkeyspec("compile")
    assert done.code == 2
    assert "can't write generated/cases/test_a.py: generated is not a directory: move it away" in done.err
    (project.path / "generated").unlink()
    (project.path / "generated" / "cases" / "test_a.py").mkdir(parents=True)
    done = project.mkeyspec("compile")
    assert done.code == 2
    assert "can't write generated/cases/test_a.py: a directory is in its place" in done.err


def test_a_folder_that_cannot_be_searched(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(path: Path, onerror: Callable[[OSError], None] | None = None, **_: object) -> list[object]:
        if onerror is not None:
            onerror(PermissionError(13, "Permission denied", str(path)))
        return []

    monkeypatch.chdir(project.path)
    monkeypatch.setattr("mkeyspec.files.project.os.walk", refuse)
    for command in ("check", "compile", "run", "list"):
        assert cli.main([command, "cases"]) == 2
        assert "error[MKS0801]: can't search cases: Permission denied" in capsys.readouterr().err


def test_a_defect_of_mkeyspec_is_one_line(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.chdir(project.path)
    monkeypatch.setattr("mkeyspec.cli.check.compile_source", fail)
    assert cli.main(["check", "cases"]) == 4
    told = capsys.readouterr().err
    assert told.startswith("mkeyspec: error[MKS0999]: mkeyspec itself failed; please report it: RecursionError")
    assert told.count("\n") == 1


# check, compile ------------------------------------------------------------------------------


def test_check(project: Project) -> None:
    project.put("cases/library.mks", LIBRARY)
    done = project.mkeyspec("check")
    assert done.code == 0
    assert done.err.startswith("mkeyspec: 2 files checked, 0 errors")
    assert not (project.path / "generated").exists()


def test_check_tells_all_errors_of_all_files(project: Project) -> None:
    project.put("cases/b.mks", BROKEN)
    project.put("cases/c.mks", BROKEN.replace("nothing", "nobody") + "    memory n = 7 +\n")
    done = project.mkeyspec("check", "cases")
    assert done.code == 2
    assert "`nothing`" in done.out
    assert "`nobody`" in done.out or "cases/c.mks:7" in done.out
    assert no_traceback(done)


def test_check_formats(project: Project) -> None:
    project.put("cases/b.mks", BROKEN)
    document = json.loads(project.mkeyspec("check", "--format", "json").out)
    assert document["errors"] == 1
    assert [one["file"] for one in document["diagnostics"] if one["severity"] == "error"] == ["cases/b.mks"]
    sarif = json.loads(project.mkeyspec("check", "--format", "sarif").out)
    assert sarif["runs"][0]["tool"]["driver"]["version"] == __version__
    assert project.mkeyspec("check", "cases/b.mks", "--format", "github").out.startswith("::error file=")


def test_what_two_suites_use_is_told_once(project: Project) -> None:
    project.put("cases/library.mks", LIBRARY + "let broken = nowhere\n")
    for name in ("b", "c"):
        project.put(f"cases/{name}.mks", GOOD.replace('"a suite"\n', '"a suite"\nuse "library.mks"\n'))
    done = project.mkeyspec("check", "cases", "--format", "json")
    assert json.loads(done.out)["errors"] == 1


def test_the_project_is_the_root_of_a_suite_that_marks_none(tmp_path: Path) -> None:
    """Cases copied somewhere without a pyproject.toml still find what they share."""
    project = Project(tmp_path)
    (tmp_path / "pyproject.toml").unlink()
    project.put("common.mks", LIBRARY)
    project.put("cases/sub/a.mks", GOOD.replace('"a suite"\n', '"a suite"\nuse "../../common.mks"\n'))
    assert project.mkeyspec("check").code == 0
    assert project.mkeyspec("run").code == 0
    project.put("cases/mkeyspec.toml", "")
    assert "MKS0808" in project.mkeyspec("check").out


def test_a_link_out_of_the_project_is_refused(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "b.mks"
    elsewhere.write_text(GOOD)
    (project.path / "cases" / "b.mks").symlink_to(elsewhere)
    (project.path / "cases" / "c.mks").symlink_to(project.path / "cases" / "a.mks")
    done = project.mkeyspec("check", "--format", "json")
    errors = [one for one in json.loads(done.out)["diagnostics"] if one["severity"] == "error"]
    assert [one["code"] for one in errors] == ["MKS0808"]
    assert project.mkeyspec("check", str(elsewhere)).code == 0


def test_compile_says_what_it_wrote(project: Project) -> None:
    first = project.mkeyspec("compile")
    assert (first.code, first.out) == (0, "generated/cases/test_a.py\n")
    second = project.mkeyspec("compile")
    assert (second.code, second.out) == (0, "")
    assert "1 up to date" in second.err
    assert project.mkeyspec("compile", "--force").out == first.out


def test_compile_writes_nothing_of_a_broken_file(project: Project) -> None:
    project.mkeyspec("compile")
    project.put("cases/a.mks", BROKEN)
    done = project.mkeyspec("compile")
    assert done.code == 2
    assert "error[MKS02" in done.err
    assert not project.module().exists()


@pytest.mark.parametrize("command", ["check", "compile", "list"])
def test_no_source_is_3(project: Project, command: str) -> None:
    (project.path / "empty").mkdir()
    assert project.mkeyspec(command, "empty").code == 3


@pytest.mark.parametrize("command", ["check", "compile", "list"])
def test_a_path_that_is_none(project: Project, command: str) -> None:
    for path in ("nowhere", "pyproject.toml"):
        done = project.mkeyspec(command, path)
        assert done.code == 2
        assert "error[MKS0903]" in done.err
        assert done.err.count("\n") == 1


# list, explain -------------------------------------------------------------------------------


def test_list(project: Project) -> None:
    done = project.mkeyspec("list", "--rows")
    assert done.code == 0
    assert "passes  (3 rows)" in done.out
    assert "verifies CRC-02, LAY-05" in done.out
    assert "[n=2]" in done.out
    assert "needs crypto.wrapped, device.max_wr_memcpy_length < 1" in done.out


def test_list_as_json(project: Project) -> None:
    (suite,) = json.loads(project.mkeyspec("list", "--format", "json").out)
    assert suite["file"] == "cases/a.mks"
    assert [row["id"] for row in suite["cases"][0]["rows"]] == ["n=1", "n=2", "n=3"]
    assert {"crypto.wrapped", "device.max_wr_memcpy_length < 1"} <= set(suite["cases"][2]["rows"][0]["needs"])


def test_list_requirements(project: Project) -> None:
    assert "CFG-07" in project.mkeyspec("list", "--requirements").out
    ids = [one["id"] for one in json.loads(project.mkeyspec("list", "--requirements", "--format", "json").out)]
    assert "CRC-02" in ids
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("code", ["MKS0901", "mks0901", "901"])
def test_explain_a_code(project: Project, code: str) -> None:
    done = project.mkeyspec("explain", code)
    assert done.code == 0
    assert done.out.startswith("# MKS0901: unknown device")


def test_explain_a_requirement(project: Project) -> None:
    done = project.mkeyspec("explain", "cfg-07")
    assert done.out.startswith("CFG-07: ")
    assert "page: mlx5dv_wr_mkey_configure(3)" in done.out
    assert project.mkeyspec("explain", "X-DIFF-08").out.startswith("X-DIFF-08: ")


def test_explain_knows_digits_in_another_order(project: Project) -> None:
    assert "did you mean `SIG-07`?" in project.mkeyspec("explain", "SIG-70").err


def test_explain_what_is_none(project: Project) -> None:
    done = project.mkeyspec("explain", "MKS0199")
    assert done.code == 2
    assert done.err.startswith("mkeyspec: error[MKS0907]")
    assert "did you mean `MKS0" in done.err


def test_explain_alone_lists_the_codes(project: Project) -> None:
    assert "MKS0901  unknown device" in project.mkeyspec("explain").out


# The rest ------------------------------------------------------------------------------------


def test_help_teaches(project: Project) -> None:
    done = project.mkeyspec("--help")
    assert done.code == 0
    assert "mks 1" in done.out
    for command in ("check", "compile", "run", "list", "explain"):
        assert "example:" in project.mkeyspec(command, "--help").out


def test_the_example_of_the_help_runs(project: Project) -> None:
    text = project.mkeyspec("--help").out
    lines = text.split("$ cat cases/first.mks\n")[1].split("\n\n  $ ")[0].split("\n")
    project.put("cases/first.mks", "\n".join(line[2:] for line in lines) + "\n")
    assert project.mkeyspec("run", "cases/first.mks").code == 0


@pytest.mark.parametrize("arguments", [[], ["frobnicate"], ["check", "--frobnicate"], ["explain", "a", "b"]])
def test_wrong_usage_is_2(project: Project, arguments: list[str]) -> None:
    done = project.mkeyspec(*arguments)
    assert done.code == 2
    assert done.err.startswith("usage:")


@pytest.mark.parametrize("words", [["--version"], ["run", "cases", "--version"], ["run", "-V"], ["check", "--version"]])
def test_version(project: Project, words: list[str]) -> None:
    """Also after a command: pytest, which gets what `run` does not know, would print its own."""
    done = project.mkeyspec(*words)
    assert (done.code, done.out) == (0, f"mkeyspec {__version__}\n")


def test_the_last_line_tells_an_interruption_and_few_reasons() -> None:
    tally = Tally()
    assert tally.line(interrupted=True).endswith("0 skipped, interrupted")
    tally.rows = {name: ("skipped", name) for name in "abcde"}
    assert tally.line().endswith("5 skipped (1 a; 1 b; 1 c; 1 d; 1 more reason)")
    tally.rows["f"] = ("skipped", "f")
    assert tally.line().endswith("2 more reasons)")


# Counts and codes ----------------------------------------------------------------------------

KNOWN = """\
mks 1
suite "known"

case departs
    verifies LST-01
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == fill(1, 1) ++ m[1..]     known X-DIFF-22 any
"""
LIST = """\
[[shows]]
ids = { X-DIFF-22 = "the first byte is wrong" }
"""


def test_a_known_row_is_a_verdict(project: Project) -> None:
    project.put("cases/a.mks", KNOWN)
    project.put("list.toml", LIST)
    done = project.mkeyspec("run", "cases", "--expectations", "list.toml")
    assert done.code == 0
    assert "0 passed, 0 failed, 1 known (1 X-DIFF-22), 0 skipped" in last_line(done)
    (skipped,) = ElementTree.parse(project.path / "reports" / "junit.xml").iter("skipped")
    assert skipped.attrib == {"message": "known: X-DIFF-22: the first byte is wrong"}


@pytest.mark.parametrize("arguments", [["-n", "2", "-x"], ["-n", "2", "--maxfail=1"], ["-x"]])
def test_a_run_that_stops_at_a_failure_is_1(project: Project, arguments: list[str]) -> None:
    project.put("cases/a.mks", CASES)
    done = project.mkeyspec("run", "cases", *arguments)
    assert done.code == 1, done.out
    assert "interrupted" not in last_line(done)


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_key_pressed_is_130(project: Project, workers: list[str]) -> None:
    project.put("conftest.py", "def pytest_runtest_setup(item): raise KeyboardInterrupt\n")
    done = project.mkeyspec("run", "cases", *workers)
    assert done.code == 130
    assert ", interrupted on model" in last_line(done)


RERUN = """\
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    '''As pytest-rerunfailures does: what fails runs once more.'''
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for last in (False, True):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        again = not last and any(one.failed for one in reports)
        for one in reports:
            if again and one.failed:
                one.outcome = "rerun"
            hook.pytest_runtest_logreport(report=one)
        if not again:
            break
        item._initrequest()
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""


def test_a_rerun_is_not_skipped(project: Project) -> None:
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", RERUN)
    done = project.mkeyspec("run", "cases")
    assert done.code == 1
    assert re.search(r"5 passed, 1 failed \(1 MKS2101\), 1 skipped \(.*\), 1 rerun on", last_line(done))
    for case in ElementTree.parse(project.path / "reports" / "junit.xml").iter("testcase"):
        names = [one.attrib["name"] for one in case.iter("property")]
        assert len(names) == len(set(names)), names


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["no_such_case"], 5), (["lacks"], 5), (["lacks", "-n", "2"], 5), (["lacks or passes"], 0)],
)
def test_pytest_alone_does_not_succeed_where_nothing_was_judged(
    project: Project, arguments: list[str], code: int
) -> None:
    done = project.pytest("cases", "-k", *arguments)
    assert done.code == code
    assert ("no row came to a verdict" in done.out) == ("lacks" in arguments)


def test_a_file_is_named_from_the_project_whatever_its_root(project: Project) -> None:
    """A suite may have a root of its own below the project; who reads a message looks from the project."""
    project.put("cases/sub/mkeyspec.toml", "")
    project.put("cases/sub/library.mks", LIBRARY + "let broken = nowhere\n")
    project.put("cases/sub/b.mks", BROKEN.replace('"broken"\n', '"broken"\nuse "library.mks"\n'))
    found = json.loads(project.mkeyspec("check", "cases", "--format", "json").out)["diagnostics"]
    named = {one["file"] for one in found if one["severity"] == "error"}
    assert named == {"cases/sub/b.mks", "cases/sub/library.mks"}
    assert "file=cases/sub/b.mks," in project.mkeyspec("check", "cases", "--format", "github").out
    project.put("cases/sub/library.mks", LIBRARY)
    project.put("cases/sub/b.mks", GOOD.replace("    verifies CRC-02, LAY-05\n", ""))
    assert "cases/sub/b.mks:4:6: warning[MKS0606]" in project.mkeyspec("run", "cases", "-k", "passes").out


@pytest.mark.parametrize("option", ["--setup-plan", "--collect-only"])
def test_what_was_selected_and_not_run_is_told_so(project: Project, option: str) -> None:
    last = project.mkeyspec("run", option).out.splitlines()[-1]
    assert re.search(r"\b\d+ not run", last)
    assert "for no case was selected" not in last


@pytest.mark.parametrize("option", ["--collect-only", "--co"])
def test_rows_that_are_only_listed_make_no_report(project: Project, option: str) -> None:
    """The exit code is pytest's, and the report of the last run stays."""
    assert project.mkeyspec("run", "cases", "-k", "passes").code == 0
    report = (project.path / "reports" / "junit.xml").read_bytes()
    done = project.mkeyspec("run", "cases", option, "-q")
    assert done.code == 0, done.out
    assert "cases/a.mks::passes[n=1]" in done.out.splitlines()
    assert "error[" not in done.out
    assert (project.path / "reports" / "junit.xml").read_bytes() == report
    assert len([*(project.path / "reports").iterdir()]) == 2
    assert project.mkeyspec("run", "cases", option, "-k", "no_such_case").code == 3
