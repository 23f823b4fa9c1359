"""`mkeyspec softnic trace` of a real program: ibv_rc_pingpong, two processes of one fabric."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.soft import softnic

ROUNDS = 3


@pytest.fixture(scope="module", autouse=True)
def _present() -> None:
    if softnic.library() is None:
        pytest.skip(str(softnic.missing()))
    if shutil.which("ibv_rc_pingpong") is None:
        pytest.skip("no ibv_rc_pingpong: Debian and Ubuntu `apt install ibverbs-utils ibverbs-providers`")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def pingpong(*options: str) -> tuple[str, str]:
    """Both ends' stderr."""
    port, fabric = free_port(), f"test-{uuid.uuid4().hex[:8]}"
    command = [sys.executable, "-m", "mkeyspec", "softnic", "trace", "--fabric", fabric, *options, "--"]
    command += ["ibv_rc_pingpong", "-p", str(port), "-n", str(ROUNDS), "-s", "512"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 30
        while True:
            client = subprocess.run([*command, "localhost"], capture_output=True, text=True, check=False, timeout=60)
            if client.returncode == 0 or time.monotonic() > deadline:
                break
            time.sleep(0.1)  # the server does not listen yet
        _, said = server.communicate(timeout=30)
    finally:
        server.kill()
    assert (client.returncode, server.returncode) == (0, 0), client.stderr + said
    return said, client.stderr


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_json_of_two_processes(tmp_path: Path) -> None:
    out = tmp_path / "trace.jsonl"
    pingpong("--json", "-o", str(out))
    found = records(out)
    done = Counter((record["record"], record.get("opcode")) for record in found)
    assert len({record["pid"] for record in found}) == 2
    assert done["cqe", "REQUESTER"] == done["wqe", "SEND"] >= ROUNDS
    assert done["cqe", "RESPONDER_SEND"] >= ROUNDS
    sends = [record for record in found if record.get("opcode") == "SEND"]
    assert all(record["signaled"] and record["service"] == "RC" for record in sends)
    assert {data["length"] for record in sends for data in record["data"]} == {512}
    assert all("malformed" not in record for record in found)


def test_text_on_stderr() -> None:
    server, client = pingpong()
    for said in (server, client):
        assert "service RC  opcode SEND  qpn 0x" in said
        assert "\n    data[0]             length 512  lkey 0x" in said
        assert "opcode RESPONDER_SEND  owner " in said


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"MKEYSPEC_SOFTNIC_TRACE": "/no/such/file"}, "no trace: /no/such/file: No such file or directory"),
        (
            {"MKEYSPEC_SOFTNIC_TRACE": "-", "MKEYSPEC_SOFTNIC_TRACE_FORMAT": "xml"},
            "no trace: xml: neither text nor json",
        ),
    ],
)
def test_a_trace_that_cannot_be_written_is_one_line(variables: dict[str, str], says: str) -> None:
    """The program runs on: a trace is not a part of it."""
    done = subprocess.run(
        [sys.executable, "-m", "mkeyspec", "softnic", "exec", "--", "ibv_devinfo"],
        env=os.environ | variables, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert "hca_id:" in done.stdout
    assert done.stderr.count(f"mkeyspec softnic: {says}") == 1
