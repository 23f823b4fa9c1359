"""Python's garbage collector is off while values are made, and afterwards as it was."""

from __future__ import annotations

import gc

import pytest

from mkeyspec.process.collector import no_collection


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
