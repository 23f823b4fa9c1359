"""Python's garbage collector, put off while very many values are made.

Values, trees and steps are immutable and hold no cycles: the collector walks all of them again and again, a quarter of
the time of compiling, and finds nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """The collector is off inside, and afterwards as it was."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
