"""newest.py: what is a failure, what is none, and what an archive that does not answer comes to."""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.upstream import newest
from tests.upstream.newest import EXPECTED, Failed, NotRun, build, count, fetch, fetch_any, judge, record, unpack_source
from tests.upstream.test_upstream import Outcome

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = {"rdma_core": "65.0"}
RUN: dict[str, Any] = {"at_least": 2, "pass": ["m.A.a", "m.A.b"], "skip": {"no room": ["m.A.c"]}}
GOOD: Outcome = {"m.A.a": ("pass", ""), "m.A.b": ("pass", ""), "m.A.c": ("skip", "no room")}


def test_the_release_of_the_data_is_judged_test_by_test() -> None:
    assert judge(DATA, "65.0", RUN, GOOD) == []
    assert len(judge(DATA, "65.0", RUN, {**GOOD, "m.A.c": ("skip", "tired")})) == 1
    assert len(judge(DATA, "65.0", RUN, {**GOOD, "m.A.new": ("pass", "")})) == 1
    assert [line.split(":")[0] for line in judge(DATA, "65.0", RUN, {**GOOD, "m.A.a": ("error", "boom")})] == [
        "m.A.a",
        "1 tests passed, and at least 2 must",
    ]


def test_of_another_release_failures_and_passes_count() -> None:
    more: Outcome = {**GOOD, "m.A.c": ("pass", ""), "m.A.new": ("skip", "whatever")}
    assert judge(DATA, "66.0", RUN, more) == []
    assert judge(DATA, "66.0", RUN, {**more, "m.A.new": ("fail", "1 != 2")}) == ["m.A.new: fail\n1 != 2"]
    assert judge(DATA, "66.0", RUN, {"m.A.a": ("pass", "")}) == ["1 tests passed, and at least 2 must"]
    assert judge(DATA, "65.0", {"at_least": 2}, more) == []  # a personality of which no tests are listed


def test_a_module_that_ends_badly_is_a_failure() -> None:
    assert count({"m": ("fail", "the process ended with -11: ")}) == {"pass": 0, "skip": 0, "fail": 1}


def test_what_is_recorded_is_what_is_read() -> None:
    run = {"personality": "connectx7", "pass": []}
    data = tomllib.loads(record("66.0", [(run, GOOD), ({"personality": "other"}, GOOD)]))
    assert data["rdma_core"] == "66.0"
    assert judge(data, "66.0", data["run"][0], GOOD) == []
    assert data["run"][1] == {"personality": "other", "at_least": 2}


def test_the_data_agree_with_themselves() -> None:
    for run in EXPECTED["run"]:
        assert run["at_least"] >= 100
    first = EXPECTED["run"][0]
    assert first["at_least"] == len(first["pass"]) == len(set(first["pass"]))


def test_an_archive_that_does_not_answer_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An apt-get that can't reach its archive, and none at all."""
    apt = tmp_path / "apt-get"
    apt.write_text("#!/bin/sh\necho 'E: Failed to fetch http://deb.debian.org' >&2; exit 100\n")
    apt.chmod(0o755)
    monkeypatch.setattr(newest, "KEYRING", apt)
    monkeypatch.setattr("mkeyspec.device.soft.softnic.library", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert newest.main(["--suite", "sid"]) == 0
    assert capsys.readouterr().out == "not run: sid: E: Failed to fetch http://deb.debian.org\n"
    apt.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(NotRun, match=r"^one: no source of rdma-core; two: no source of rdma-core$"):
        fetch_any(["one", "two"], tmp_path)
    apt.unlink()
    with pytest.raises(NotRun, match="no apt-get here"):
        fetch("sid", tmp_path)


def test_what_can_not_be_built_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "rdma-core_65.0.orig.tar"
    tarfile.open(archive, "w").close()
    with pytest.raises(Failed, match="is not one release"):
        unpack_source(archive, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failed, match="apt-get install cmake ninja-build cython3 pkg-config gcc"):
        build(tmp_path)
    for name in newest.TOOLS:
        (tmp_path / name).write_text("#!/bin/sh\necho no such compiler; exit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(newest, "fetch_any", lambda suites, directory: archive)
    monkeypatch.setattr(newest, "unpack_source", lambda archive, directory: ("65.0", tmp_path))
    assert newest.main([]) == 1
    assert capsys.readouterr().out == "cmake ended with 1:\nno such compiler\n\n"
