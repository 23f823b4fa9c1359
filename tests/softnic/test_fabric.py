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

import pytest

from mkeyspec.device import softnic

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


def test_fabrics_do_not_hear_each_other() -> None:
    """A client of another fabric gets nothing but its retry error."""
    command = ["ib_write_bw", "-F", "-n", "50", "-p", str(next(PORTS))]
    server = start(command, environment(uuid.uuid4().hex))
    try:
        time.sleep(0.5)
        client = start([*command, "localhost"], environment(uuid.uuid4().hex))
        said, _ = client.communicate(timeout=SECONDS)
        assert client.returncode != 0
        assert "Completion with error" in said or "Failed status 12" in said, said
    finally:
        server.kill()
        server.wait()


def test_a_dead_peer_is_a_retry_error_and_no_hang() -> None:
    command = ["ib_write_bw", "-F", "-D", "20", "-p", str(next(PORTS))]
    variables = environment(uuid.uuid4().hex)
    server = start(command, variables)
    try:
        time.sleep(0.5)
        client = start([*command, "localhost"], variables)
        time.sleep(1.5)
        server.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        said, _ = client.communicate(timeout=SECONDS)
        assert client.returncode != 0
        assert "Failed status 12" in said, said
        assert time.monotonic() - killed < 15
    finally:
        server.kill()
        server.wait()
