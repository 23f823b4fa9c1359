"""Runs a case for a code lens: `mkeyspec run` in a process of its own, whose lines go to the client's log."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

MOST_LINE = 1 << 20


class Runs:
    """The processes that are running; they end with the server."""

    def __init__(self) -> None:
        self._processes: set[asyncio.subprocess.Process] = set()

    async def run(self, path: Path, case: str, device: str, folder: Path, log: Callable[[str], None]) -> int:
        """Run a case ("": the whole file) of the file at `path`; the exit code of `mkeyspec run`."""
        what = f"{path}::{case}" if case else str(path)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "mkeyspec", "run", what, "--device", device,
            cwd=folder, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT, limit=MOST_LINE,
        )  # fmt: skip
        self._processes.add(process)
        try:
            assert process.stdout is not None
            while line := await process.stdout.readline():
                log(line.decode("utf-8", "replace").rstrip())
            return await process.wait()
        finally:
            self._processes.discard(process)
            self._end(process)

    def end(self) -> None:
        for process in self._processes:
            self._end(process)

    @staticmethod
    def _end(process: asyncio.subprocess.Process) -> None:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
