"""With xdist, reports usage errors of a worker's pytest (for example an unknown id) and fails as without xdist.

xdist does not report a worker's usage error: a session of workers without items ends like one that selects nothing.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

_KEY = "mkeyspec refusal"


class InWorker:
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> Generator[None, object, object]:
        try:
            return (yield)
        except pytest.UsageError as error:
            output: dict[str, Any] = getattr(session.config, "workeroutput", {})
            output[_KEY] = [str(line) for line in error.args]
            raise


class InController:
    def __init__(self) -> None:
        self._lines: dict[str, None] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._lines.update(dict.fromkeys(getattr(node, "workeroutput", {}).get(_KEY, ())))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._lines:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self._lines:
            terminalreporter.write_line(f"ERROR: {line}", red=True)


def register(config: pytest.Config) -> None:
    worker = hasattr(config, "workerinput")
    config.pluginmanager.register(InWorker() if worker else InController(), "mkeyspec-refusal")
