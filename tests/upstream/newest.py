"""rdma-core's own tests, of one of its newest releases, on the software NIC.

    python -m tests.upstream.newest [--suite sid] [--source DIRECTORY] [--record]

The source is what Debian's archive offers, unpacked and built in a temporary directory: libibverbs, libmlx5, pyverbs.
All of its tests run, under each personality of newest.toml. No test may fail, and at least as many as that file says
must pass; of the release that it is about, each test must come out as it says.

An archive that does not answer is reported ("not run: ..."), and the exit code is 0. A build or a test that fails is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkeyspec.device.soft import softnic
from tests.upstream.test_upstream import HERE, PYTHON, Outcome, differences, environment, unpack

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXPECTED: dict[str, Any] = tomllib.loads((HERE / "newest.toml").read_text(encoding="utf-8"))
SUITES = ("sid", "trixie")
"""Of Debian; the first one that answers is taken."""
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
TOOLS = {
    "cmake": "cmake",
    "ninja": "ninja-build",
    "cython3": "cython3",
    "pkg-config": "pkg-config",
    "cc": "gcc",
}
TARGETS = ("pyverbs/all", "providers/mlx5/all", "librdmacm/all", "libibverbs/all")
FETCHING, BUILDING, RUNNING = 180, 540, 120
"""Seconds: a download, the build, one module of the tests."""


class NotRun(Exception):
    """The archive does not offer it now; no verdict."""


class Failed(Exception):
    """What must not be, in a line or several."""


# The source -----------------------------------------------------------------------------------


def fetch(suite: str, directory: Path) -> Path:
    """Release's archive, as its authors made it, checked against the suite's signed index."""
    if shutil.which("apt-get") is None:
        raise NotRun("no apt-get here")
    if not KEYRING.exists():
        raise NotRun(f"no {KEYRING}: apt-get install debian-archive-keyring")
    state = directory / suite
    for folder in ("state/lists/partial", "cache/archives/partial", "source"):
        (state / folder).mkdir(parents=True)
    listed = f"deb-src [signed-by={KEYRING}] http://deb.debian.org/debian {suite} main\n"
    (state / "sources.list").write_text(listed)
    options = {
        "Dir::State": state / "state", "Dir::Cache": state / "cache", "Dir::State::status": "/dev/null",
        "Dir::Etc::SourceList": state / "sources.list", "Dir::Etc::SourceParts": "-", "Acquire::Languages": "none",
        "Acquire::http::Timeout": 30, "Acquire::Retries": 2, "APT::Update::Error-Mode": "any",
        "APT::Sandbox::User": "root",
    }  # fmt: skip
    (state / "apt.conf").write_text("".join(f'{name} "{value}";\n' for name, value in options.items()))
    ours = {**os.environ, "APT_CONFIG": str(state / "apt.conf")}
    for words in (["update"], ["source", "--download-only", "--tar-only", "rdma-core"]):
        try:
            done = subprocess.run(
                ["apt-get", "-qq", *words],
                cwd=state / "source",
                env=ours,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=FETCHING,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise NotRun(f"{suite}: apt-get {words[0]} did not end within {FETCHING} s") from None
        if done.returncode:
            raise NotRun(f"{suite}: {(done.stderr.strip().splitlines() or ['apt-get ended badly'])[0]}")
    found = list((state / "source").glob("rdma-core_*.orig.tar.*"))
    if len(found) != 1:
        raise NotRun(f"{suite}: no source of rdma-core")
    return found[0]


def fetch_any(suites: Iterable[str], directory: Path) -> Path:
    reasons = []
    for suite in suites:
        try:
            return fetch(suite, directory)
        except NotRun as reason:
            reasons.append(str(reason))
    raise NotRun("; ".join(reasons))


def unpack_source(archive: Path, directory: Path) -> tuple[str, Path]:
    """Version of the release, and the folder of its source."""
    version = re.match(r"rdma-core_(.+?)(\+.*)?\.orig\.", archive.name)
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extraction_filter = tarfile.data_filter
        packed.extractall(directory)
    folders = [path for path in directory.iterdir() if path.is_dir()]
    if version is None or len(folders) != 1:
        raise Failed(f"{archive.name} is not one release: {[path.name for path in folders]}")
    return version[1], folders[0]


def build(source: Path) -> Path:
    lacking = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if lacking:
        raise Failed(f"it can't be built: apt-get install {' '.join(lacking)}")
    built = source / "build"
    # -O1: Cython's C takes most of the time.
    options = {
        "IN_PLACE": 1, "NO_MAN_PAGES": 1, "ENABLE_VALGRIND": 0, "PYTHON_EXECUTABLE": PYTHON, "CMAKE_BUILD_TYPE": "None",
        "CMAKE_C_FLAGS": "-O1",
    }  # fmt: skip
    commands = (
        ["cmake", "-G", "Ninja", "-S", str(source), "-B", str(built), *(f"-D{n}={v}" for n, v in options.items())],
        ["ninja", "-C", str(built), *TARGETS],
    )
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=BUILDING)
        except subprocess.TimeoutExpired:
            raise Failed(f"{command[0]} did not end within {BUILDING} s") from None
        if done.returncode:
            raise Failed(f"{command[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
    if not list((built / "python/pyverbs").glob("device.*.so")):
        raise Failed("pyverbs was not built: are python3-dev and cython3 here?")
    return built


# Its tests ------------------------------------------------------------------------------------


def stand_in(directory: Path) -> Path:
    """A folder for PATH. The tests ask `rdma link` for network devices. That wants a kernel with RDMA, which this
    machine may not have; it says here what it says on one that has no such device.
    """
    directory.mkdir()
    program = directory / "rdma"
    program.write_text("#!/bin/sh\necho '[]'\n")
    program.chmod(0o755)
    return directory


def run_module(built: Path, directory: Path, library: Path, module: str, personality: str) -> Outcome:
    ours = {
        **environment(library, directory, personality),
        "PATH": f"{directory / 'bin'}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": str(built / "lib"),
        "PYTHONPATH": str(built / "python"),
    }
    try:
        done = subprocess.run(
            [PYTHON, str(HERE / "run.py"), str(directory), "mlx5_0", module],
            env=ours,
            cwd=directory,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=RUNNING,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return {module: ("fail", f"it did not end within {RUNNING} s")}
    if done.returncode:
        return {module: ("fail", f"the process ended with {done.returncode}: {done.stderr[-2000:]}")}
    return {f"{module}.{name}": (outcome, why) for name, (outcome, why) in json.loads(done.stdout)[module].items()}


def run_all(built: Path, directory: Path, library: Path, personality: str) -> Outcome:
    modules = sorted(path.stem for path in (directory / "tests").glob("test_*.py"))
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda module: run_module(built, directory, library, module, personality), modules)
        return {name: outcome for part in parts for name, outcome in part.items()}


def count(got: Outcome) -> dict[str, int]:
    """How many passed, were skipped, and failed."""
    kinds = [outcome for outcome, _ in got.values()]
    return {
        "pass": kinds.count("pass"),
        "skip": kinds.count("skip"),
        "fail": sum(kind not in ("pass", "skip") for kind in kinds),
    }


def judge(expected: dict[str, Any], version: str, run: dict[str, Any], got: Outcome) -> list[str]:
    """A line for each thing that is not as it must be."""
    if version == expected["rdma_core"] and "pass" in run:
        lines = differences(run, got)
    else:
        lines = [f"{name}: {kind}\n{why}" for name, (kind, why) in sorted(got.items()) if kind not in ("pass", "skip")]
    passed = count(got)["pass"]
    if passed < run["at_least"]:
        lines.append(f"{passed} tests passed, and at least {run['at_least']} must")
    return lines


def record(version: str, runs: list[tuple[dict[str, Any], Outcome]]) -> str:
    """newest.toml with these outcomes. What depends on the machine must be moved to `either` by hand."""
    lines = [f'rdma_core = "{version}"']
    for run, got in runs:
        passed = [f"    {json.dumps(name)}," for name, (kind, _) in got.items() if kind == "pass"]
        lines += ["", "[[run]]", f'personality = "{run["personality"]}"', f"at_least = {len(passed)}"]
        if "pass" not in run:
            continue
        reasons: dict[str, list[str]] = {}
        for name, (kind, why) in got.items():
            if kind == "skip":
                reasons.setdefault(why, []).append(f"    {json.dumps(name)},")
        lines += ["pass = [", *passed, "]", "[run.skip]"]
        for why, names in sorted(reasons.items()):
            lines += [f"{json.dumps(why)} = [", *names, "]"]
    return "\n".join(lines) + "\n"


def work(directory: Path, suites: Iterable[str], source: Path | None, recording: bool) -> list[str]:
    """All of it; what is wrong."""
    library = softnic.library()
    if library is None:
        raise Failed(f"no software NIC: {softnic.missing()}")
    began = time.monotonic()
    (directory / "source").mkdir()
    if source is None:
        version, source = unpack_source(fetch_any(suites, directory), directory / "source")
        built = build(source)
        print(f"rdma-core {version}: fetched and built in {time.monotonic() - began:.0f} s", flush=True)
    else:
        version, built = source.name.rpartition("-")[2], source / "build"
    if version != EXPECTED["rdma_core"]:
        print(f"newest.toml is about {EXPECTED['rdma_core']}: of {version} failures and passes are counted only")
    unpack(directory, source / "tests")
    stand_in(directory / "bin")
    wrong, seen = [], []
    for run in EXPECTED["run"]:
        began = time.monotonic()
        got = run_all(built, directory, library, run["personality"])
        seen.append((run, got))
        told = ", ".join(f"{number} {kind}" for kind, number in count(got).items())
        print(f"{run['personality']:24} {told} ({time.monotonic() - began:.0f} s)", flush=True)
        wrong += [f"{run['personality']}: {line}" for line in judge(EXPECTED, version, run, got)]
    if recording:
        print(record(version, seen))
    return wrong


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--suite", action="append", help=f"of Debian; may be repeated ({', '.join(SUITES)})")
    parser.add_argument("--source", type=Path, help="a release that is unpacked and built here: …/rdma-core-65.0")
    parser.add_argument("--record", action="store_true", help="print the outcomes as newest.toml")
    wanted = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="mkeyspec-newest-") as place:
        try:
            wrong = work(Path(place), wanted.suite or SUITES, wanted.source, wanted.record)
        except NotRun as reason:
            print(f"not run: {reason}")
            return 0
        except Failed as reason:
            wrong = [str(reason)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
