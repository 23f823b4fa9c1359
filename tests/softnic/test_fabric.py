"""Two processes under the software NIC that do not hear one another, and what a death does.

Those that talk are Debian's programs: tests/witnesses. Needs perftest; what is missing is said by the skip.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from mkeyspec.device.soft import softnic

PORTS = iter(range(21000 + os.getpid() % 20000, 65000))
SECONDS = 60


def environment(fabric: str) -> dict[str, str]:
    library = softnic.library()
    if library is None:
        pytest.skip(f"no software NIC: {softnic.missing()}")
    return {**os.environ, "LD_PRELOAD": str(library), "MKEYSPEC_SOFTNIC_FABRIC": fabric}


def start(command: list[str], variables: dict[str, str]) -> subprocess.Popen[str]:
    if shutil.which(command[0]) is None:
        package = "ibverbs-utils" if command[0].startswith("ibv_") else "perftest"
        pytest.skip(f"{command[0]} is not installed (Debian: apt-get install {package})")
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.02)


def listens(port: int) -> bool:
    tables = [Path(f"/proc/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    rows = [line.split() for lines in tables for line in lines]
    return any(row[3] == "0A" and row[1].endswith(f":{port:04X}") for row in rows)


def is_writing(pid: int) -> bool:
    """Its device has sent something to another process, and has memory with it since."""
    return "/memfd:softnic" in Path(f"/proc/{pid}/maps").read_text()


def test_fabrics_do_not_hear_each_other() -> None:
    """A client of another fabric gets nothing but its retry error."""
    port = next(PORTS)
    command = ["ib_write_bw", "-F", "-n", "50", "-p", str(port)]
    server = start(command, environment(uuid.uuid4().hex))
    try:
        wait_until(lambda: listens(port))
        client = start([*command, "localhost"], environment(uuid.uuid4().hex))
        said, _ = client.communicate(timeout=SECONDS)
        assert client.returncode != 0
        assert "Completion with error" in said or "Failed status 12" in said, said
    finally:
        server.kill()
        server.wait()


def test_a_dead_peer_is_a_retry_error_and_no_hang() -> None:
    port = next(PORTS)
    command = ["ib_write_bw", "-F", "-D", "20", "-p", str(port)]
    variables = environment(uuid.uuid4().hex)
    server = start(command, variables)
    try:
        wait_until(lambda: listens(port))
        client = start([*command, "localhost"], variables)
        wait_until(lambda: is_writing(client.pid))
        server.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        said, _ = client.communicate(timeout=SECONDS)
        assert client.returncode != 0
        assert "Failed status 12" in said, said
        assert time.monotonic() - killed < 15
    finally:
        server.kill()
        server.wait()
