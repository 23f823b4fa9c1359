"""AES key wrap against the published vectors, and against RFC 3394 written out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.reference.key_wrap import unwrap, wrap
from tests.oracle import key_wrap as by_hand
from tests.reference.published import table

VECTORS = table("key_wrap.toml")["vector"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_published_vector(vector: dict[str, Any]) -> None:
    kek, wrapped = bytes.fromhex(vector["kek"]), bytes.fromhex(vector["wrapped"])
    if "key" not in vector:
        assert unwrap(wrapped, kek) is None
        return
    key = bytes.fromhex(vector["key"])
    assert wrap(key, kek) == by_hand.wrap(key, kek) == wrapped
    assert unwrap(wrapped, kek) == key


@settings(deadline=None)
@given(st.integers(2, 10).flatmap(lambda n: st.binary(min_size=8 * n, max_size=8 * n)), st.sampled_from([16, 24, 32]))
def test_by_hand(key: bytes, size: int) -> None:
    """The lengths of a credential and of keys with and without a keytag are among them: 40, 32, 64 and 72 bytes."""
    kek = bytes(range(size))
    assert wrap(key, kek) == by_hand.wrap(key, kek)


@pytest.mark.parametrize("place", [0, 7, 8, 23, 39])
def test_one_bit_of_any_semiblock_fails_the_whole(place: int) -> None:
    wrapped = bytearray(wrap(bytes(range(32)), bytes(16)))
    wrapped[place] ^= 0x10
    assert unwrap(bytes(wrapped), bytes(16)) is None


def test_another_kek_fails() -> None:
    assert unwrap(wrap(bytes(32), bytes(16)), bytes(15) + b"\1") is None


@pytest.mark.parametrize("length", [0, 8, 15, 17, 41])
def test_refuses_keys_of_other_lengths(length: int) -> None:
    with pytest.raises(ValueError, match=f"16 or more, not {length}$"):
        wrap(bytes(length), bytes(16))


@pytest.mark.parametrize("length", [0, 16, 23, 49])
def test_refuses_to_unwrap_other_lengths(length: int) -> None:
    with pytest.raises(ValueError, match=f"24 or more, not {length}$"):
        unwrap(bytes(length), bytes(16))


@pytest.mark.parametrize("length", [0, 15, 33])
def test_refuses_what_is_no_aes_key(length: int) -> None:
    for call in (wrap, unwrap):
        with pytest.raises(ValueError, match=f"not {length}$"):
            call(bytes(24), bytes(length))
