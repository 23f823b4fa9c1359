"""A device that can't be closed when a session ends (MKS2207): the session fails. The rows keep their verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec.plugin.session_failure import fail_session

NOT_CLOSED: pytest.StashKey[str] = pytest.StashKey()
"""In the config's stash of the process that had the device open: the text of the failure."""
_KEY = "mkeyspec not closed"


class InWorker:
    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output: dict[str, Any] = getattr(session.config, "workeroutput", {})
        output[_KEY] = session.config.stash.get(NOT_CLOSED, "")


class NotClosed:
    """Registered in the process that gets all reports."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._texts[getattr(node, "workeroutput", {}).get(_KEY, "")] = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        config = session.config
        self._texts[config.stash.get(NOT_CLOSED, "")] = None
        for text in filter(None, self._texts):
            device = config.getoption("--device")
            fail_session(session, f"{device}::MKS2207", (device, 0, "MKS2207"), text)


def register(config: pytest.Config) -> None:
    config.pluginmanager.register(InWorker() if hasattr(config, "workerinput") else NotClosed(), "mkeyspec-not-closed")
