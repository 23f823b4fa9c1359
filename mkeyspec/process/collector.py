"""Python's garbage collector, put off while very many values are made.

Values, trees and steps are immutable and hold no cycles: the collector walks all of them again and again, a quarter of
the time of compiling, and finds nothing.

What was made meanwhile counts as old afterwards (`gc.freeze`, then `gc.unfreeze`, move it there without a look at it):
else the first collection that comes would walk all of it as young.

What stays frozen for long is frozen by `freeze()` here, and then is not counted: `gc.get_freeze_count` walks all of it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_frozen = False


def freeze() -> None:
    """What there is by now is not looked through again until `unfreeze()`."""
    global _frozen  # as the collector itself is one of the process
    _frozen = True
    gc.freeze()


def unfreeze() -> None:
    """All that was frozen is looked through again."""
    global _frozen
    _frozen = False
    gc.unfreeze()


@contextmanager
def no_collection() -> Iterator[None]:
    """The collector is off inside, and afterwards as it was."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not _frozen and not gc.get_freeze_count():  # what others have frozen stays frozen
                gc.freeze()
                gc.unfreeze()
            gc.enable()
