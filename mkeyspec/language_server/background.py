"""One thread for work that takes longer than a keystroke may. Of the jobs for one document only the last is done."""

from __future__ import annotations

import threading
from collections.abc import Callable

Job = Callable[[], None]


class Background:
    """The thread ends with the process: nobody waits for it."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(self, key: str, job: Job) -> None:
        """Do `job`, in place of one for the same key that has not begun. A job raises nothing."""
        with self._changed:
            self._jobs[key] = job
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="mkeyspec compiles", daemon=True)
                self._thread.start()
            self._changed.notify()

    def forget(self, key: str) -> None:
        """A job for the key that has not begun is not done."""
        with self._changed:
            self._jobs.pop(key, None)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._jobs:
                    self._changed.wait()
                job = self._jobs.pop(next(iter(self._jobs)))
            job()
