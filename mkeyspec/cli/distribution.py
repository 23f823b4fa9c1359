"""`-n` of `mkeyspec run`: how many processes, and whether pytest-xdist has them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec

from mkeyspec.cli.session import Failure

_OF_XDIST = (
    "--dist", "--tx", "--px", "--maxprocesses", "--max-worker-restart", "--maxschedchunk", "--loadscope-reorder",
    "--no-loadscope-reorder", "--testrunuid", "--rsyncdir", "--rsyncignore", "--looponfail", "-d", "-f",
)  # fmt: skip
"""Options that only pytest-xdist has a meaning for."""


def distributed(processes: str | None, rest: Sequence[str]) -> list[str]:
    """Arguments for pytest. `rest`: the options that `run` passes on; one of pytest-xdist leaves `-n` to it. Raises
    Failure for what is not a number."""
    theirs = next((word for word in rest if word.split("=", 1)[0] in _OF_XDIST), None)
    if theirs is not None and find_spec("xdist") is None:
        raise Failure("MKS0905", f"{theirs} is an option of pytest-xdist, which is not installed here")
    if processes is None:
        return []
    if processes not in ("auto", "logical") and re.fullmatch(r"\d{1,4}", processes, re.ASCII) is None:
        raise Failure("MKS0905", f"-n {processes}: say how many processes, as 2, or auto for one on each CPU")
    if theirs is not None:
        return ["-n", processes]
    number = len(os.sched_getaffinity(0)) if processes in ("auto", "logical") else int(processes)
    return [f"--processes={number}"] if number else []
