"""The software NIC's arithmetic: published values, the bitwise judge, and the references (no shared code)."""

from __future__ import annotations

import ctypes as c
import random
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.reference.crc import CRC32, CRC32C, CRC64_XP10, T10, crc_blocks
from mkeyspec.reference.dif import CSUM, guard_blocks
from mkeyspec.reference.xts import decrypt, encrypt
from tests.oracle import bitwise
from tests.oracle import xts as by_hand
from tests.reference.published import made, table
from tests.softnic import pure

VECTORS = table("vectors.toml")["vector"]
PROBE = table("probe.toml")
XTS = table("xts.toml")["vector"]
SIZE = {"t10": 2, "csum": 2, "crc32": 4, "crc32c": 4, "crc64_xp10": 8}
REFERENCE = {"t10": T10, "crc32": CRC32, "crc32c": CRC32C, "crc64_xp10": CRC64_XP10}


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    pure.library()


def stored(kind: str, pieces: Iterable[bytes], seed: int) -> bytes:
    """A CRC or checksum as it comes after the data, which comes in pieces."""
    nic, ones = pure.library(), (1 << 8 * SIZE[kind]) - 1
    if kind == "csum":
        state = nic.checksum_start(seed == ones)
        state.sum = seed
        for piece in pieces:
            nic.checksum_update(state, piece, len(piece))
        return int(nic.checksum_value(state)).to_bytes(2, "big")
    number = pure.KINDS[kind]
    register = nic.crc_start(number, seed == ones)
    if seed not in (0, ones):  # no signature of the device has such a seed, but vectors have
        assert kind in ("t10", "crc32")
        register = seed << 16 if kind == "t10" else seed
    for piece in pieces:
        register = nic.crc_update(number, register, piece, len(piece))
    field = c.create_string_buffer(SIZE[kind])
    nic.crc_store(number, register, field)
    assert nic.crc_size(number) == SIZE[kind]
    order = "little" if kind in ("crc32c", "crc64_xp10") else "big"
    assert nic.crc_value(number, register) == int.from_bytes(field.raw, order)  # type: ignore[arg-type]
    return field.raw


def named(vector: dict[str, Any]) -> str:
    return f"{vector['kind']}-{vector['seed']}-{vector.get('value') or vector['stored']}"


@pytest.mark.parametrize("vector", VECTORS, ids=named)
def test_published_value(vector: dict[str, Any]) -> None:
    kind, seed, data = vector["kind"], int(vector["seed"], 0), made(vector["input"])
    field = stored(kind, [data], seed)
    if "stored" in vector:
        assert field.hex() == vector["stored"], vector["source"]
    else:
        order = "little" if kind in ("crc32c", "crc64_xp10") else "big"
        assert int.from_bytes(field, order) == int(vector["value"], 0), vector["source"]  # type: ignore[arg-type]


@pytest.mark.parametrize("column", range(len(PROBE["columns"])), ids=PROBE["columns"])
@pytest.mark.parametrize("seed", ["zeros", "ones"])
def test_probe_table(column: int, seed: str) -> None:
    kind = PROBE["columns"][column]
    start = 0 if seed == "zeros" else (1 << 8 * SIZE[kind]) - 1
    for row in PROBE["block"]:
        assert stored(kind, [made(row["input"])], start).hex() == row[seed][column], row["input"]


@settings(deadline=None)
@given(st.sampled_from(sorted(SIZE)), st.booleans(), st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_any_pieces(kind: str, ones: bool, data: bytes, cuts: list[int]) -> None:
    """Wherever the data is cut, also inside a word of the checksum and at no length that eight divides."""
    seed = (1 << 8 * SIZE[kind]) - 1 if ones else 0
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    field = stored(kind, [data[a:b] for a, b in pairwise(places)], seed)
    assert field == bitwise.stored(kind, data, seed)
    if kind != "csum" and data:
        assert field == crc_blocks(REFERENCE[kind], data, len(data), seed).tobytes()
    elif data and len(data) % 2 == 0:
        assert field == guard_blocks(CSUM, data, len(data), seed).tobytes()


REGISTERS = {"t10": 0xFFFF0000, "crc32": 2**32 - 1, "crc32c": 2**32 - 1, "crc64_xp10": 2**64 - 1}  # the bits there are


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(sorted(REGISTERS)), st.integers(0, 2**64 - 1), st.integers(0, 2**32), st.integers(64, 5000))
def test_the_instructions_and_the_tables_agree(kind: str, start: int, seed: int, length: int) -> None:
    """From any register, at any place, by each width of the registers there are; published values hold both ways."""
    nic, number = pure.library(), pure.KINDS[kind]
    data = random.Random(seed).randbytes(length)
    start &= REGISTERS[kind]
    expected = nic.crc_update_portable(number, start, data, length)
    assert nic.crc_update(number, start, data, length) == expected
    whole = c.create_string_buffer(length + 16)
    assert nic.crc_copy(number, start, whole, data, length) == expected
    assert whole.raw == data + bytes(16)
    for slim in (True, False) if nic.crc_folds() else ():
        folded, copy = c.create_string_buffer(16), c.create_string_buffer(length + 16)
        done = nic.crc_fold(number, start, data, copy, length, slim, folded)
        assert 0 <= length - done < 16
        assert copy.raw == data[:done] + bytes(length + 16 - done)
        assert nic.crc_fold(number, start, data, None, length, slim, folded) == done
        register = nic.crc_update_portable(number, 0, folded.raw, 16)
        assert nic.crc_update_portable(number, register, data[done:], length - done) == expected


GENERATORS = {"T10": (0x18BB70000, False), "FC_PH": (0x104C11DB7, False), "CASTAGNOLI": (0x11EDC6F41, True)}
GENERATORS["XP10"] = (0x1AD93D23594C93659, True)


@pytest.mark.parametrize("name", GENERATORS)
def test_the_folding_constants_are_powers_of_x(name: str) -> None:
    generator, reflected = GENERATORS[name]

    def power(exponent: int) -> int:
        value = 1
        for _ in range(exponent):
            value <<= 1
            if value >> generator.bit_length() - 1:
                value ^= generator
        return int(f"{value:064b}"[::-1], 2) if reflected else value

    source = (pure.SOFTNIC / "pure" / "crc_fold.c").read_text("utf-8")
    entry = source.partition(f"[CRC_{name}] = ")[2].partition("}},")[0]
    found = [int(word, 16) for word in re.findall(r"0x[0-9a-f]+", entry)]
    less = 1 if reflected else 0
    assert found == [power(bits + half - less) for bits in (2048, 512, 128) for half in (64, 0)]


@pytest.mark.parametrize("kind", sorted(SIZE))
def test_every_place_to_cut(kind: str) -> None:
    data = bytes(37 * i & 255 for i in range(13))
    expected = bitwise.stored(kind, data, 0)
    for a in range(len(data) + 1):
        for b in range(a, len(data) + 1):
            assert stored(kind, [data[:a], data[a:b], data[b:]], 0) == expected, (a, b)


def test_a_long_sum_is_folded_in_time() -> None:
    data = b"\xff" * (1 << 21)
    assert stored("csum", [data, b"\xfe"], 0xFFFF) == bitwise.internet_checksum(b"\xfe", 0xFFFF).to_bytes(2, "big")


# AES-XTS -------------------------------------------------------------------------------------

FIPS_197 = (  # appendix C: C.1 and C.3, plaintext 00112233…
    ("000102030405060708090a0b0c0d0e0f", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    ("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "8ea2b7ca516745bfeafc49904b496089"),
)


@pytest.mark.parametrize(("key", "cipher"), FIPS_197)
def test_block_cipher(key: str, cipher: str) -> None:
    aes, out, back = pure.Aes(), c.create_string_buffer(16), c.create_string_buffer(16)
    assert pure.library().aes_init(aes, bytes.fromhex(key), len(key) // 2)
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    pure.library().aes_encrypt(aes, plain, out)
    pure.library().aes_decrypt(aes, out.raw, back)
    assert (out.raw.hex(), back.raw) == (cipher, plain)


def schedule(key: bytes) -> pure.Xts:
    xts = pure.Xts()
    assert pure.library().xts_init(xts, key, len(key))
    return xts


def units(xts: pure.Xts, data: bytes, number: int, unit: int, decipher: bool) -> tuple[bytes, int]:
    """In place, as the engine does it; and the number that is left."""
    buffer = c.create_string_buffer(data, max(len(data), 1))
    tweak = c.create_string_buffer(number.to_bytes(16, "little"), 16)
    assert pure.library().xts_units(xts, decipher, tweak, unit, buffer, buffer, len(data))
    return buffer.raw[: len(data)], int.from_bytes(tweak.raw, "little")


@pytest.mark.parametrize("vector", XTS, ids=lambda vector: vector["name"])
def test_published_xts_vector(vector: dict[str, Any]) -> None:
    plain = bytes.fromhex(vector["plain"]) if "plain" in vector else made([{"up": vector["up"]}])
    cipher, xts = bytes.fromhex(vector["cipher"]), schedule(bytes.fromhex(vector["key"]))
    number, out = vector["number"].to_bytes(16, "little"), c.create_string_buffer(len(plain))
    assert pure.library().xts_encrypt(xts, number, plain, out, len(plain))
    assert out.raw == cipher
    assert pure.library().xts_decrypt(xts, number, cipher, out, len(plain))
    assert out.raw == plain
    assert units(xts, plain, vector["number"], len(plain), decipher=False)[0] == cipher


TOP = (1 << 128) - 1


@settings(deadline=None)
@given(
    (st.binary(min_size=32, max_size=32) | st.binary(min_size=64, max_size=64)),
    st.integers(0, TOP) | st.integers(TOP - 3, TOP) | st.integers((1 << 64) - 3, 1 << 64),
    st.integers(16, 150),
    st.integers(0, 4),
    st.data(),
)
def test_data_units(key: bytes, number: int, unit: int, count: int, draw: st.DataObject) -> None:
    rest = draw.draw(st.just(0) | st.integers(16, unit).filter(lambda size: size < unit or unit == 16))
    rest %= unit
    data = draw.draw(st.binary(min_size=unit * count + rest, max_size=unit * count + rest))
    xts = schedule(key)
    cipher, left = units(xts, data, number, unit, decipher=False)
    assert cipher == by_hand.encrypt(data, key, number, unit)
    assert left == (number + count + (rest > 0)) % (1 << 128)
    assert units(xts, cipher, number, unit, decipher=True)[0] == data
    if key[: len(key) // 2] != key[len(key) // 2 :]:
        assert cipher == encrypt(data, key, number, unit)
        assert decrypt(cipher, key, number, unit) == data


def test_what_xts_is_not_defined_for() -> None:
    nic, number = pure.library(), c.create_string_buffer(16)
    assert not nic.xts_init(pure.Xts(), bytes(48), 48)
    assert not nic.xts_init(pure.Xts(), bytes(33), 33)
    xts, out = schedule(bytes(range(32))), c.create_string_buffer(b"?" * 64, 64)
    assert not nic.xts_encrypt(xts, bytes(16), bytes(15), out, 15)
    assert not nic.xts_units(xts, False, number, 32, bytes(40), out, 40)
    assert not nic.xts_units(xts, False, number, 8, bytes(40), out, 40)
    assert (out.raw, number.raw) == (b"?" * 64, bytes(16))
