"""Debian's own programs under the software NIC, alone and in pairs: programs.toml says which, and what comes out."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.soft import softnic

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
PROGRAMS: list[dict[str, Any]] = tomllib.loads((HERE / "programs.toml").read_text())["program"]
CASES = [(program, variant) for program in PROGRAMS for variant in program.get("variants", [""])]
SECONDS, TRIES = 60, 30
LISTENING, ACCEPTS = "0A", "00010000"
"""A socket that listens: the state in /proc/net/tcp, the flags in /proc/net/unix."""


def environment(program: dict[str, Any], fabric: str) -> dict[str, str]:
    library = softnic.library()
    if library is None:
        pytest.skip(f"no software NIC: {softnic.missing()}")
    own = {"LD_PRELOAD": str(library), "MKEYSPEC_SOFTNIC_FABRIC": fabric}
    return {**os.environ, **program.get("environment", {}), **own}


def command(text: str, **names: str) -> list[str]:
    """The words of a command. A variant may be several; one that has a blank or a quote in it can't be."""
    words = shlex.split(text.replace("{variant}", names["variant"]))
    return [re.sub(r"\{(port|directory)\}", lambda name: names[name[1]], word) for word in words]


@contextmanager
def started(
    words: list[str], package: str, variables: dict[str, str], output: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own, which does not outlive the block."""
    program = next(word for word in words if word not in ("env", "nice", "-n", "19") and "=" not in word)
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (Debian: apt-get install {package})")
    with output.open("wb") as to:
        process = subprocess.Popen(
            words,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=to,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=output.parent,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def listens(kind: str, port: int, fabric: str) -> bool:
    if kind == "cm":
        rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
        return any(row[3] == ACCEPTS and f"/{fabric}/cm-" in row[-1] for row in rows)
    tables = [Path(f"/proc/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    rows = [line.split() for lines in tables for line in lines]
    return any(row[3] == LISTENING and row[1].endswith(f":{port:04X}") for row in rows)


def wait_for(kind: str, port: int, fabric: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + SECONDS
    while not listens(kind, port, fabric):
        assert server.poll() is None, "the server ended before it listened"
        assert time.monotonic() < end, "the server does not listen"
        time.sleep(0.02)


class Failed(AssertionError):
    pass


def end_well(process: subprocess.Popen[bytes], output: Path) -> None:
    try:
        code: int | str = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        code = f"no end after {SECONDS} s"
    if code != 0:
        raise Failed(f"{process.args!r}: {code}\n{output.read_text(errors='replace')[-3000:]}")


def run(program: dict[str, Any], variant: str, directory: Path) -> str:
    """Both processes, or the one there is; what the client said. Raises Failed."""
    fabric, port = uuid.uuid4().hex, free_port()
    names = {"variant": variant.replace(";", r"\;"), "port": str(port), "directory": str(directory)}
    variables, package = environment(program, fabric), program["package"]
    said, heard = directory / "client.txt", directory / "server.txt"

    def client() -> str:
        with started(command(program["client"], **names), package, variables, said) as process:
            end_well(process, said)
        return said.read_text(errors="replace")

    if "server" not in program:
        return client()
    with started(command(program["server"], **names), package, variables, heard) as server:
        wait_for(program["listens"], port, fabric, server)
        text = client()
        if not program.get("stays"):
            end_well(server, heard)
    return text


@pytest.mark.parametrize(("program", "variant"), CASES, ids=[f"{p['name']} {v}".strip() for p, v in CASES])
def test_runs(program: dict[str, Any], variant: str, tmp_path: Path) -> None:
    for left in reversed(range(TRIES)):
        try:
            text = run(program, variant, tmp_path)
        except Failed as failed:
            if left and "again" in program and re.search(program["again"], str(failed)):
                continue
            raise
        break
    assert re.search(program.get("says", ""), text), text
    copy = tmp_path / "copy"
    assert not copy.exists() or copy.read_bytes() == Path("/usr/bin/rcopy").read_bytes()


def test_that_a_failure_is_one(tmp_path: Path) -> None:
    """A program that ends badly, or says something else, fails its test."""
    program = {"name": "none", "package": "coreutils", "client": "sh -c 'echo no; exit {variant}'", "says": "^no$"}
    test_runs(program, "0", tmp_path)
    with pytest.raises(AssertionError, match="no"):
        test_runs(program, "3", tmp_path)
    with pytest.raises(AssertionError, match="no"):
        test_runs({**program, "says": "yes"}, "0", tmp_path)
