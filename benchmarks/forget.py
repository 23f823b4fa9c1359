"""A pytest plugin for suites made of copies of cases: no copy finds bytes that another one has computed."""

from __future__ import annotations

from mkeyspec.value.cache import DATA


class Copies:
    def __init__(self) -> None:
        self.last = ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        number = nodeid.partition("[")[0].rpartition("_")[2]
        if number != self.last:
            self.last = number
            DATA.clear()


_copies = Copies()
pytest_runtest_logstart = _copies.pytest_runtest_logstart
