"""Two processes under the software NIC talk to one another: Debian's pingpongs and perftest, and what a death does.

Needs the library, ibverbs-utils and perftest; what is missing is said by the skip.
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

PINGPONG = ["ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "ibv_rc_pingpong -e"]
PERFTEST = [
    *("ib_send_bw", "ib_write_bw", "ib_read_bw", "ib_atomic_bw"),
    *("ib_send_lat", "ib_write_lat", "ib_read_lat", "ib_atomic_lat"),
    *("ib_send_bw -c UC", "ib_send_bw -c UD", "ib_write_bw -c UC", "ib_send_lat -c UD"),
    *("ib_send_bw -q 4", "ib_send_bw -b", "ib_send_lat -e", "ib_write_bw -a"),
]


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


def both(command: list[str], variables: dict[str, str]) -> None:
    """A server and a client of the same program; both must end well."""
    command = [*command, "-p", str(next(PORTS))]
    server = start(command, variables)
    try:
        for _ in range(50):  # the client ends at once while nobody listens
            time.sleep(0.1)
            client = start([*command, "localhost"], variables)
            said, _ = client.communicate(timeout=SECONDS)
            if client.returncode == 0 or "onnect" not in said:
                break
        assert client.returncode == 0, said
        heard, _ = server.communicate(timeout=SECONDS)
        assert server.returncode == 0, heard
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("command", PINGPONG)
def test_pingpong(command: str) -> None:
    both([*command.split(), "-n", "100"], environment(uuid.uuid4().hex))


@pytest.mark.parametrize("command", PERFTEST)
def test_perftest(command: str) -> None:
    both([*command.split(), "-F", "-n", "50"], environment(uuid.uuid4().hex))


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
