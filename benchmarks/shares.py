"""A pytest plugin that appends to the file in $SHARES what each process of `mkeyspec run -n N` took of a processor.

A line of JSON for each: its name (`gw0`, or `main`), `spent` at its end, and of that `loop`, while rows were run, in
seconds.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_spent: dict[str, float] = {"loop": 0.0}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop() -> Iterator[None]:
    begun = time.process_time()
    yield
    _spent["loop"] = time.process_time() - begun


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    line = {"process": os.environ.get("PYTEST_XDIST_WORKER", "main"), "spent": time.process_time(), **_spent}
    with Path(os.environ["SHARES"]).open("a") as file:
        file.write(json.dumps(line) + "\n")
