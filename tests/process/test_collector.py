"""Python's garbage collector is off while values are made, and afterwards as it was."""

from __future__ import annotations

import gc

import pytest

from mkeyspec.process.collector import freeze, no_collection, unfreeze


def test_the_collector_is_as_it_was() -> None:
    assert gc.isenabled()
    with no_collection():
        with pytest.raises(KeyError), no_collection():
            raise KeyError
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_is_frozen_stays_so_and_is_not_counted_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting walks all that is frozen: 20 ms with the shipped cases, at each file that is compiled."""
    counted: list[int] = []
    count = gc.get_freeze_count

    def counting() -> int:
        counted.append(1)
        return count()

    freeze()
    try:
        before = count()
        with monkeypatch.context() as patched:
            patched.setattr(gc, "get_freeze_count", counting)
            with no_collection():
                pass
        assert before > 1000
        assert count() > before - 100  # it is 0 of what is not frozen; some of it has been let go of meanwhile
        assert not counted
    finally:
        unfreeze()
    assert not count()


def test_what_others_have_frozen_stays_so() -> None:
    gc.freeze()
    try:
        with no_collection():
            pass
        assert gc.get_freeze_count() > 1000
    finally:
        gc.unfreeze()
