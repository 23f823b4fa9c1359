"""`--row-ids FILE`: the ids of all selected rows, a line each, before the first of them runs. Who reads a run from
elsewhere knows by it which rows a run that was cut has not run."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest


class RowIds:
    def __init__(self, path: Path) -> None:
        self._path = path

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        part = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):  # a run that can't tell them runs them all the same
            self._path.parent.mkdir(parents=True, exist_ok=True)
            text = "".join(f"{item.nodeid}\n" for item in session.items)
            part.write_text(text, encoding="utf-8", errors="backslashreplace")
            part.replace(self._path)
