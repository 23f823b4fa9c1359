"""What collection has made, items and modules, is not looked through for cycles again.

Of all shipped cases it is some millions of objects, which live to the end. Python's collector walks them several times
while rows run, and pytest twice at the end (`_pytest.unraisableexception`), in each process.
"""

from __future__ import annotations

import pytest

from mkeyspec.process import collector


class Collected:
    def __init__(self, config: pytest.Config) -> None:
        # Before pytest's own clean-ups are added, so it is done after them: their look is the last one.
        config.add_cleanup(collector.unfreeze)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        collector.freeze()
