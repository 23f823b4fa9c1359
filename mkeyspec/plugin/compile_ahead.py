"""With `-n N`, N processes bring the modules up to date before any of them is collected.

Each process is given one file at a time, the largest ones first. What a process can't do (a broken file, a disk that
is full, a process that ends) is left to the session, which compiles what is not up to date and says why it can't.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from mkeyspec.files.unwritable import Unwritable
from mkeyspec.store import Store

_FEW = 4
"""Sources that the session compiles by itself in less time than another process takes to start."""

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from mkeyspec.plugin.compile_ahead import serve; serve()"
)
"""The session's own search path, and nothing of the current directory."""


def compile_ahead(store: Store, paths: Sequence[Path], processes: int) -> None:
    """Bring the modules of `paths` up to date, as far as nothing is wrong with them."""
    stale = [path for path in paths if not store.is_current(path)]
    if processes < 2 or len(stale) < _FEW:
        return
    queue: SimpleQueue[Path] = SimpleQueue()
    for path in sorted(stale, key=_size, reverse=True):
        queue.put(path)
    with ThreadPoolExecutor(processes) as threads:
        try:
            wait([threads.submit(_feed, store, queue) for _ in range(min(processes, len(stale)))])
        except BaseException:  # interrupted: what is not begun is not compiled
            with suppress(Empty):
                while True:
                    queue.get_nowait()
            raise


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _feed(store: Store, queue: SimpleQueue[Path]) -> None:
    """Give the files of the queue to a process, one after the other, until there is none or the process ends."""
    about = {"project": str(store.project), "generated": str(store.plain), "stronger": store.stronger}
    with subprocess.Popen(
        [sys.executable, "-I", "-c", _START, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError, Empty):
            while True:
                request = json.dumps({**about, "path": str(queue.get_nowait())})
                process.stdin.write(request + "\n")
                process.stdin.flush()
                if not process.stdout.readline():
                    return


def serve() -> None:
    """Compile each file of which a line comes in, and answer with a line."""
    for line in sys.stdin:
        request = json.loads(line)
        store = Store(Path(request["project"]), Path(request["generated"]), stronger=request["stronger"])
        # The session compiles it again, and reports what is wrong.
        with suppress(Unwritable, Exception):
            store.compile(Path(request["path"]))
        print(flush=True)
