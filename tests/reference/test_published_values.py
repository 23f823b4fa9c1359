"""Every published value of the signature algorithms, against the references and against their bitwise judge."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec.reference.crc import CRC32, CRC32C, CRC64_XP10, T10, crc_blocks, crc_values
from mkeyspec.reference.dif import CSUM, guard_blocks
from tests.oracle import bitwise
from tests.reference.published import made, table

PARAMETERS = {"t10": T10, "crc32": CRC32, "crc32c": CRC32C, "crc64_xp10": CRC64_XP10}
VECTORS = table("vectors.toml")["vector"]
PROBE = table("probe.toml")
SIZE = {"t10": 2, "csum": 2, "crc32": 4, "crc32c": 4, "crc64_xp10": 8}


def named(vector: dict[str, Any]) -> str:
    return f"{vector['kind']}-{vector['seed']}-{vector.get('value') or vector['stored']}"


def computed(kind: str, data: bytes, seed: int) -> bytes:
    if kind == "csum":
        return guard_blocks(CSUM, data, len(data), seed).tobytes()
    return crc_blocks(PARAMETERS[kind], data, len(data), seed).tobytes()


@pytest.mark.parametrize("vector", VECTORS, ids=named)
def test_published_value(vector: dict[str, Any]) -> None:
    kind, seed, data = vector["kind"], int(vector["seed"], 0), made(vector["input"])
    if "stored" in vector:
        assert computed(kind, data, seed).hex() == vector["stored"], vector["source"]
    elif kind == "csum":
        assert int.from_bytes(computed(kind, data, seed), "big") == int(vector["value"], 0), vector["source"]
    else:
        assert int(crc_values(PARAMETERS[kind], data, len(data), seed)[0]) == int(vector["value"], 0), vector["source"]


@pytest.mark.parametrize("vector", VECTORS, ids=named)
def test_the_judge_knows_the_published_value(vector: dict[str, Any]) -> None:
    kind, seed, data = vector["kind"], int(vector["seed"], 0), made(vector["input"])
    if "stored" in vector:
        assert bitwise.stored(kind, data, seed).hex() == vector["stored"]
    elif kind == "csum":
        assert bitwise.internet_checksum(data, seed) == int(vector["value"], 0)
    else:
        assert bitwise.crc_value(kind, data, seed) == int(vector["value"], 0)


def test_no_vector_is_lost() -> None:
    """The counts of the table, kind by kind, so that a row that vanishes is noticed."""
    counts = {kind: sum(vector["kind"] == kind for vector in VECTORS) for kind in SIZE}
    assert counts == {"t10": 15, "crc32": 7, "crc32c": 22, "crc64_xp10": 8, "csum": 7}
    assert all(vector["source"] for vector in VECTORS)


@pytest.mark.parametrize("column", range(len(PROBE["columns"])), ids=PROBE["columns"])
@pytest.mark.parametrize("seed", ["zeros", "ones"])
def test_probe_table(column: int, seed: str) -> None:
    kind = PROBE["columns"][column]
    start = 0 if seed == "zeros" else (1 << 8 * SIZE[kind]) - 1
    for row in PROBE["block"]:
        data = made(row["input"])
        assert computed(kind, data, start).hex() == row[seed][column], row["input"]
        assert bitwise.stored(kind, data, start).hex() == row[seed][column], row["input"]
