"""A pytest plugin that appends the peak memory of each process of a session, in KiB, to the file in $PEAK."""

from __future__ import annotations

import os
from pathlib import Path


def pytest_unconfigure() -> None:
    # Not ru_maxrss, which a child inherits from whoever started it.
    status = Path("/proc/self/status").read_text("ascii")
    [peak] = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    with Path(os.environ["PEAK"]).open("a") as file:
        file.write(f"{peak}\n")
