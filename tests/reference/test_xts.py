"""AES-XTS against the published vectors, and against the standard written out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.reference.xts import decrypt, encrypt
from tests.oracle import xts as by_hand
from tests.reference.published import made, table

VECTORS = table("xts.toml")["vector"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_published_vector(vector: dict[str, Any]) -> None:
    plain = bytes.fromhex(vector["plain"]) if "plain" in vector else made([{"up": vector["up"]}])
    key, cipher = bytes.fromhex(vector["key"]), bytes.fromhex(vector["cipher"])
    assert encrypt(plain, key, vector["number"], len(plain)) == cipher
    assert decrypt(cipher, key, vector["number"], len(plain)) == plain
    assert by_hand.encrypt(plain, key, vector["number"], len(plain)) == cipher


keys = st.binary(min_size=32, max_size=32) | st.binary(min_size=64, max_size=64)
top = (1 << 128) - 1


@settings(deadline=None)
@given(
    keys | st.binary(min_size=16, max_size=16).map(lambda half: half * 2) | st.just(bytes(64)),
    st.integers(0, top) | st.integers(top - 3, top),
    st.integers(16, 80),
    st.integers(0, 4),
    st.data(),
)
def test_data_units(key: bytes, tweak: int, unit: int, count: int, draw: st.DataObject) -> None:
    """Unit after unit, a short one at the end, and tweaks that wrap."""
    rest = draw.draw(st.just(0) | st.integers(16, unit))
    data = draw.draw(st.binary(min_size=unit * count + rest, max_size=unit * count + rest))
    cipher = encrypt(data, key, tweak, unit)
    assert cipher == by_hand.encrypt(data, key, tweak, unit)
    assert decrypt(cipher, key, tweak, unit) == data


def test_a_view_is_enciphered_as_its_bytes() -> None:
    view = np.arange(128, dtype=np.uint8)[::2]
    key = bytes(range(32))
    assert encrypt(view, key, 1, 32) == encrypt(view.tobytes(), key, 1, 32)


@pytest.mark.parametrize("size", [0, 16, 31, 33, 48, 65])
def test_refuses_keys_of_other_sizes(size: int) -> None:
    with pytest.raises(ValueError, match=f"not {size}$"):
        encrypt(bytes(32), bytes(range(size)), 0, 32)


@pytest.mark.parametrize(("length", "unit"), [(15, 512), (513, 512), (527, 512), (30, 15), (32, 0), (32, -16)])
def test_refuses_units_that_are_too_short(length: int, unit: int) -> None:
    with pytest.raises(ValueError, match="data unit"):
        encrypt(bytes(length), bytes(range(32)), 0, unit)
