"""A test file of a lab run (it is copied as test_roles.py): what becomes of its rows depends on the host, by ROLE."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

ROLE = os.environ.get("ROLE", "")
RUN = os.getppid()
"""`mkeyspec run` on the host, whose child runs the rows."""


def _gateway() -> int:
    """The process that serves the gateway."""
    return int(Path(f"/proc/{RUN}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize("n", range(4))
def test_row(n: int) -> None:
    if n != 2 or not ROLE:
        return
    if "PIDS" in os.environ:
        Path(os.environ["PIDS"], ROLE).write_text(f"{RUN} {os.getpid()}")
    time.sleep(1)  # so that the rows before are told
    match ROLE:
        case "gateway":
            os.kill(_gateway(), signal.SIGKILL)
        case "stops":
            os.kill(_gateway(), signal.SIGSTOP)
        case "run":
            os.kill(RUN, signal.SIGKILL)
        case "process":
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(300)
