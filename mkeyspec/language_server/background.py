"""One thread for work that takes longer than a keystroke may, and the process that compiles for it.

Of the jobs for one document only the last is done.
"""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable

from mkeyspec.language_server.whole import Whole
from mkeyspec.language_server.worker import Broken, Job

Task = Callable[[], None]


class Background:
    """The thread ends with this process, and so does the other process. Nothing waits for them."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def submit(self, key: str, task: Task) -> None:
        """Do `task`, in place of one for the same key that has not begun. A task raises nothing."""
        with self._changed:
            self._tasks[key] = task
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="mkeyspec compiles", daemon=True)
                self._thread.start()
            self._changed.notify()

    def forget(self, key: str) -> None:
        """A task for the key that has not begun is not done."""
        with self._changed:
            self._tasks.pop(key, None)

    def compile(self, job: Job) -> Whole:
        """Compile in the other process, which is started again if it has ended. Raises RuntimeError. In a task only."""
        for _ in range(2):
            if self._ended:
                break
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                pickle.dump(job, process.stdin)
                process.stdin.flush()
                result = pickle.load(process.stdout)
            except (OSError, EOFError, pickle.UnpicklingError):
                self._stop()
                continue
            if isinstance(result, Broken):
                raise RuntimeError(result.why)
            assert isinstance(result, Whole)
            return result
        raise RuntimeError("the process that compiles has ended, twice")

    def end(self) -> None:
        """End the other process, for good."""
        self._ended = True
        self._stop()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                process.kill()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mkeyspec.language_server.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # an interrupt of a terminal is this process's own
            )
        return self._process

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._tasks:
                    self._changed.wait()
                task = self._tasks.pop(next(iter(self._tasks)))
            task()
