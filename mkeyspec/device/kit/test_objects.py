"""Protection domains, buffers, mkeys, DEKs and QP pairs: what is made is what was asked for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device.kit.bench import ACCESS, Bench, fail
from mkeyspec.device.protocol import Memory, Mkey

M32 = 0xFFFF_FFFF
INDIRECT = int(MkeyFlag.INDIRECT)


@pytest.mark.parametrize("side", ["owner", "peer"])
def test_a_pd_is_new(bench: Bench, side: str) -> None:
    one, other = bench.device.pd(side), bench.device.pd(side)
    if one.side != side or one.handle == other.handle:
        fail(f"pd({side!r}) gives {one} and {other}", "each is a new one, of its side")


@pytest.mark.parametrize("misaligned", [0, 1, 63])
@pytest.mark.parametrize("side", ["owner", "peer"])
def test_a_buffer_is_as_asked(bench: Bench, side: str, misaligned: int) -> None:
    memory: Memory = bench.device.memory(side, 100, access=ACCESS, misaligned=misaligned)
    if (memory.side, memory.length, memory.addr % 64) != (side, 100, misaligned):
        asked = f"memory({side!r}, 100, misaligned={misaligned})"
        fail(f"{asked} gives {memory}", "a buffer of the length, so many bytes past a 64-byte boundary")
    if not 0 <= memory.lkey <= M32 or not 0 <= memory.rkey <= M32:
        fail(f"memory() gives the keys {memory.lkey:#x} and {memory.rkey:#x}", "keys have 32 bits")


def test_buffers_are_apart(bench: Bench) -> None:
    made: list[Memory] = sorted((bench.device.memory("owner", 100, access=ACCESS) for _ in range(4)), key=_addr)
    for one, next_ in pairwise(made):
        if one.addr + one.length > next_.addr:
            fail(f"{one} and {next_} overlap", "each buffer has bytes of its own")
    if len({one.lkey for one in made}) < 4 or len({one.handle for one in made}) < 4:
        fail("two buffers have one key, or one handle", "each buffer has its own key")


def _addr(memory: Memory) -> int:
    return memory.addr


def test_a_buffer_in_a_pd(bench: Bench) -> None:
    pd = bench.device.pd("peer")
    memory = bench.device.memory("peer", 8, access=ACCESS, pd=pd)
    if memory.side != "peer":
        fail(f"memory() gives {memory}", "the buffer is of the side that was asked for")


def test_bytes_come_back(bench: Bench) -> None:
    memory, other = bench.memory("owner", bytes(16)), bench.memory("owner", bytes(16))
    bench.device.write(memory, 3, b"\1\2\3")
    bench.device.write(memory, 6, np.array([4, 5], np.uint8))
    got = bench.device.read(memory, 0, 16).tobytes()
    if got != bytes([0, 0, 0, 1, 2, 3, 4, 5]) + bytes(8):
        fail(f"after two stores read() gives {got.hex()}", "a store changes the bytes that it names, and no others")
    if bench.device.read(memory, 4, 3).tobytes() != b"\2\3\4":
        fail("read(memory, 4, 3) gives other bytes", "a load is of the bytes that it names")
    if bench.device.read(other, 0, 16).any():
        fail("a store changes another buffer", "each buffer has bytes of its own")


def test_a_store_is_a_copy(bench: Bench) -> None:
    memory, data = bench.memory("owner", bytes(16)), np.arange(16, dtype=np.uint8)
    given = data.copy()
    bench.device.write(memory, 0, given)
    given[:] = 0xFF
    if not np.array_equal(got := bench.device.read(memory, 0, 16), data):
        fail(f"the host changes its array after write(), and read() gives {got.tobytes().hex()}", "the data is copied")
    given[:] = data
    bench.device.write(memory, 0, given)
    bench.device.write(memory, 0, bytes(16))
    if not np.array_equal(given, data):
        fail("a store changes the array that the store before it gave", "the data is copied")


@pytest.mark.parametrize(("offset", "length"), [(8, 16), (16, 1), (-1, 2)])
def test_bytes_outside_are_refused(bench: Bench, offset: int, length: int) -> None:
    memory = bench.memory("owner", bytes(16))
    bench.refused(
        lambda: bench.device.read(memory, offset, length), f"read() of bytes {offset} to {offset + length} of 16"
    )
    bench.refused(lambda: bench.device.write(memory, offset, bytes(length)), f"write() at byte {offset} of 16")


@pytest.mark.parametrize("entries", [1, 4, 5])
def test_an_mkey_is_as_asked(bench: Bench, entries: int) -> None:
    one: Mkey = bench.device.mkey("owner", create_flags=INDIRECT, max_entries=entries)
    other = bench.device.mkey("owner", create_flags=INDIRECT, max_entries=entries)
    if one.side != "owner" or one.max_entries < entries:
        fail(f"mkey(max_entries={entries}) gives {one}", "no fewer entries are granted than asked for (MKY-09)")
    if not 0 <= one.lkey <= M32 or one.lkey == other.lkey or one.handle == other.handle:
        fail(f"two mkeys are {one} and {other}", "each mkey has its own key, of 32 bits")


def test_unknown_flags_are_refused(bench: Bench) -> None:
    bench.refused(
        lambda: bench.device.mkey("owner", create_flags=INDIRECT | 1 << 30, max_entries=4),
        "mkey() with an unknown flag",
    )


def test_a_tag_is_the_lowest_byte(bench: Bench) -> None:
    if not bench.offers("update_tag"):
        pytest.skip("update_tag is not offered")
    before = bench.device.mkey("owner", create_flags=INDIRECT | int(MkeyFlag.UPDATE_TAG), max_entries=4)
    after = bench.device.retag(before, 0x7E)
    wanted = [key & ~0xFF | 0x7E for key in (before.lkey, before.rkey)]
    if [after.lkey, after.rkey] != wanted or after.handle != before.handle:
        fail(f"retag({before}, 0x7e) gives {after}", "the lowest byte of the keys is the tag; the rest stays")


def test_a_destroyed_mkey_is_gone(bench: Bench) -> None:
    mkey = bench.device.mkey("owner", create_flags=INDIRECT, max_entries=4)
    bench.device.destroy(mkey)
    bench.refused(lambda: bench.device.destroy(mkey), "destroy() of an mkey that was destroyed")


def test_a_new_signature_mkey_has_no_error(bench: Bench) -> None:
    if not bench.offers("block_signature"):
        pytest.skip("block_signature is not offered")
    flags = INDIRECT | int(MkeyFlag.BLOCK_SIGNATURE)
    mkey = bench.device.mkey("owner", create_flags=flags, max_entries=4)
    found = bench.device.mkey_check(mkey)
    if found is not None:
        fail(f"mkey_check() of a new mkey gives {found}", "None is NO_ERR")
    bench.device.destroy(mkey)
    bench.refused(lambda: bench.device.mkey_check(mkey), "mkey_check() of an mkey that was destroyed")


def test_a_dek_of_no_length_is_refused(bench: Bench) -> None:
    if not bench.offers("crypto"):
        pytest.skip("crypto is not offered")
    bench.refused(lambda: bench.device.dek(b"\1" * 31), "dek() of 31 bytes")


def test_a_pair_has_two_ends(bench: Bench) -> None:
    pair = bench.pair()
    sides = (pair.owner.side, pair.peer.side)
    # Two NICs number their QPs each by itself.
    if sides != ("owner", "peer") or pair.owner.handle == pair.peer.handle:
        fail(f"qp_pair() gives {pair}", "two QPs, the owner's and the peer's")
    if not 0 <= pair.owner.number < 1 << 24:
        fail(f"the number of a QP is {pair.owner.number:#x}", "the number of a QP has 24 bits")
    if pair.owner.max_inline_data < 1:
        fail(f"qp_pair() grants {pair.owner.max_inline_data} bytes inline", "no less is granted than asked for")


@pytest.mark.parametrize("private", [False, True])
def test_pairs_of_a_case_are_apart(bench: Bench, private: bool) -> None:
    one, other = bench.pair(private=private), bench.pair(private=private)
    handles = {end.handle for pair in (one, other) for end in (pair.owner, pair.peer)}
    if len(handles) < 4:
        fail("two qp_pair() of one case give one pair", "a pair may be one of an earlier case, not of this one")
    bench.transfer(one)
    bench.transfer(other)


def test_a_dct_has_a_number(bench: Bench) -> None:
    if not bench.offers("qp.dci"):
        pytest.skip("qp.dci is not offered")
    bench.pair(type="dci", send_ops=0)
    numbers = [bench.device.dct(0x1234), bench.device.dct(0x1234)]
    if len({*numbers}) < 2 or not all(0 < one < 1 << 24 for one in numbers):
        fail(f"two dct() give {numbers}", "each DCT has a number of 24 bits")
