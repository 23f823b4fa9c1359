"""`mkeyspec run --bundle` and `mkeyspec judge`, as a user runs them."""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.report.reader import Run, read
from tests.plugin.project import CASES, ROOT, Project
from tests.report.test_stream import SLOW

FAILED = "cases/a.mks::fails[n=2]"


@pytest.fixture
def suite(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", CASES)
    return made


def said(project: Project, name: str) -> dict[str, tuple[str, str, str]]:
    run = run_of(project, name)
    return {id: (one.verdict, one.code, one.message) for id, one in run.results.items()}


def run_of(project: Project, name: str) -> Run:
    return read(project.path / name)


def kept(project: Project, *words: str, code: int = 1) -> None:
    done = project.mkeyspec("run", "cases", "--bundle", "a.bundle", "--results", "a.ndjson", *words)
    assert done.code == code, done.out + done.err
    assert "a process was killed" not in done.out + done.err


def judged(project: Project, *words: str) -> Any:
    return project.mkeyspec("judge", "a.bundle", "--results", "b.ndjson", *words)


@pytest.mark.parametrize(
    "workers",
    [[], ["-n", "2"], ["-n", "2", "--dist=load"], ["-n", "2", "--device", "model:late"]],
    ids=["alone", "processes", "xdist", "processes, tried before"],
)
def test_judged_as_in_the_run(suite: Project, workers: list[str]) -> None:
    kept(suite, *workers)
    assert not (suite.path / "a.bundle.parts").exists()
    done = judged(suite)
    assert done.code == 1, done.out + done.err
    assert said(suite, "b.ndjson") == said(suite, "a.ndjson")
    begin = run_of(suite, "b.ndjson").begin
    assert begin.device.startswith("model")
    assert begin.judged.startswith("a.bundle, sha256 ")
    assert begin.judged.split(", ")[2] == f"of {run_of(suite, 'a.ndjson').begin.run}"
    assert run_of(suite, "b.ndjson").devices == run_of(suite, "a.ndjson").devices
    assert (suite.path / "reports" / "junit.xml").is_file()
    compared = suite.mkeyspec("compare", "a.ndjson", "b.ndjson")
    assert compared.code == 0, compared.out
    assert "1 STILL WRONG" in compared.out


def test_with_the_cases_of_today_and_of_the_run(suite: Project) -> None:
    kept(suite)
    suite.put("cases/a.mks", CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)"))
    assert judged(suite).code == 0
    assert said(suite, "b.ndjson")[FAILED][0] == "passed"
    assert judged(suite, "--recorded-cases").code == 1
    assert said(suite, "b.ndjson")[FAILED][0] == "failed"
    assert "counter(64)\n" in (suite.path / "cases" / "a.mks").read_text()
    suite.put("cases/a.mks", CASES.replace("counter(n * 64)", "counter(n * 64 + 64)"))
    done = judged(suite, "-k", "passes")
    assert done.code == 1, done.out
    assert "3 failed (3 MKS0954)" in done.out
    assert (suite.path / "reports" / "junit.xml").read_text().count("<error ") == 3, "no skipped rows"
    (result, *_) = run_of(suite, "b.ndjson").results.values()
    assert (result.verdict, result.code) == ("error", "MKS0954")
    assert "`memory`" in result.message


def test_rows_that_are_not_there(suite: Project) -> None:
    kept(suite, "-k", "passes", code=0)
    done = judged(suite)
    assert done.code == 0, done.out + done.err
    assert Counter(one[0] for one in said(suite, "b.ndjson").values()) == {"passed": 3}
    suite.put("cases/a.mks", CASES.replace("1, 2, 3", "1, 2"))
    done = judged(suite)
    assert done.code == 1
    assert "error[MKS0955]: 1 row of the bundle is not in these cases, as cases/a.mks::passes[n=3]" in done.out
    assert judged(suite, "-k", "passes").code == 0  # what is left out on purpose
    (suite.path / "cases" / "a.mks").rename(suite.path / "cases" / "b.mks")
    done = judged(suite)
    assert (done.code, "MKS0955" in done.err) == (2, True)


def test_a_file_that_is_left_out_and_one_that_is_gone(suite: Project) -> None:
    good = CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)")
    suite.put("cases/a.mks", good)
    suite.put("cases/b.mks", good)
    kept(suite, code=0)
    assert judged(suite, "cases/a.mks").code == 0
    (suite.path / "cases" / "b.mks").unlink()
    done = judged(suite)
    assert (done.code, "error[MKS0955]: 7 rows" in done.out) == (1, True), done.out


def test_a_row_that_failed_and_can_not_be_judged_is_no_success(suite: Project) -> None:
    kept(suite)
    one = "    transmit k by send\n    expect wire == pick"
    assert CASES.count(one) == 1
    suite.put("cases/a.mks", CASES.replace(one, f"    transmit k by send\n{one}"))
    done = judged(suite)
    assert "2 failed (2 MKS0954)" in done.out
    assert done.code == 1


def test_a_killed_run_keeps_the_rows_that_ended(suite: Project) -> None:
    """All processes of it."""
    suite.put("cases/a.mks", CASES.replace("for n in 1, 2, 3", f"for n in {', '.join(map(str, range(1, 400)))}"))
    suite.put("conftest.py", SLOW)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{suite.path}"
    command = ["run", "-pconftest", "--bundle=a.bundle", "--results=a.ndjson", "cases"]
    process = subprocess.Popen(
        [sys.executable, "-m", "mkeyspec", *command],
        cwd=suite.path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end and process.poll() is None:
            path = suite.path / "a.ndjson"
            if path.exists() and path.read_bytes().count(b'"verdict"') >= 20:
                break
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
    done = suite.mkeyspec("judge", "a.bundle.parts", "--results", "b.ndjson")
    assert done.code == 1, done.out + done.err
    assert "error[MKS0953]: a.bundle.parts: the bundle is cut" in done.out
    assert "Traceback" not in done.out + done.err
    before = {id: one for id, one in said(suite, "a.ndjson").items() if "[" in id}
    assert len(before) >= 20
    assert before.items() <= said(suite, "b.ndjson").items()
    again = suite.mkeyspec("run", "cases", "--bundle", "a.bundle")
    assert (again.code, "is what a killed run left" in again.err) == (2, True)


def test_places_that_can_not_be_written(suite: Project) -> None:
    suite.put("notes.txt", "mine\n")
    for name, text in (("notes.txt", "is not a bundle"), ("cases", "a directory is"), ("/dev/null", "regular file")):
        done = suite.mkeyspec("run", "cases", "--bundle", name)
        assert (done.code, "error[MKS0902]" in done.err, text in done.err) == (2, True, True), done.err
    assert (suite.path / "notes.txt").read_text() == "mine\n"
    done = suite.mkeyspec("run", "cases", "--bundle", "/proc/none/a.bundle")
    assert (done.code, "error[MKS0902]" in done.err) == (2, True), done.err


def test_a_full_disk(suite: Project) -> None:
    """The verdicts stand, and the exit code says that the bundle is not whole."""
    command = [sys.executable, "-m", "mkeyspec", "run", "cases", "-k", "passes", "--bundle", "a.bundle"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(ROOT)
    environment["MKEYSPEC_TRACEBACK"] = "1"
    noise = f"# {random.Random(950).randbytes(50_000).hex()}\n"  # a bundle holds the sources, and this can't be packed
    suite.put("cases/b.mks", noise + CASES)
    suite.mkeyspec("compile", "cases")

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = subprocess.run(command, cwd=suite.path, env=environment, capture_output=True, text=True, preexec_fn=few)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "6 passed" in done.stdout
    assert "a.bundle" in done.stdout


def test_what_is_no_bundle(suite: Project) -> None:
    suite.put("a.bundle", "no\n")
    done = judged(suite)
    assert (done.code, "error[MKS0950]" in done.err) == (2, True)
    done = suite.mkeyspec("judge", "none.bundle")
    assert (done.code, "error[MKS0903]" in done.err) == (2, True)
    done = suite.pytest("cases", "--device", "bundle:a.bundle")
    assert done.code == 4
    assert "error[MKS0950]" in done.out + done.err


def test_a_judged_bundle_is_no_device(suite: Project) -> None:
    kept(suite, "-k", "passes", code=0)
    done = suite.mkeyspec("run", "cases", "--device", "bundle:a.bundle", "--bundle", "b.bundle")
    assert (done.code, "error[MKS0905]" in done.out + done.err) == (2, True)
    assert not (suite.path / "b.bundle.parts").exists()


def test_the_parts_are_in_the_bundle(suite: Project) -> None:
    """Provenance, device, sources, rows."""
    kept(suite)
    lines = [json.loads(line) for line in gzip.decompress((suite.path / "a.bundle").read_bytes()).splitlines()]
    kinds = Counter(line["kind"] for line in lines)
    assert kinds["row"] == 7
    assert [line["path"] for line in lines if line["kind"] == "source"] == ["cases/a.mks"]
    assert lines[0]["run"]["mkeyspec"] == run_of(suite, "a.ndjson").begin.mkeyspec
    assert lines[-1] == {"kind": "whole"}
