"""The software NIC under the real driver: golden values, error records, refusals, timers.

Needs the library (built at first use) and an interpreter with pyverbs; without them the tests skip and say why.
Expected values: published outputs of hardware (docs/design/hardware.md), IBTA, enum ibv_wc_status. None was taken
from this NIC.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.soft import softnic

HERE = Path(__file__).parent
OK, LOCAL_LENGTH, LOCAL_PROTECTION, FLUSHED, REMOTE_REQUEST, REMOTE_ACCESS, REMOTE_OPERATION, RETRY, RNR = (
    0,
    1,
    4,
    5,
    9,
    10,
    11,
    12,
    13,
)
NO_ERROR, BAD_GUARD = 0, 1


@lru_cache(maxsize=1)
def interpreter() -> str | None:
    """One that has pyverbs with the mlx5 provider; Debian's comes with /usr/bin/python3."""
    for candidate in (sys.executable, "/usr/bin/python3", shutil.which("python3")):
        if candidate and Path(candidate).exists():
            done = subprocess.run([candidate, "-c", "import pyverbs.providers.mlx5.mlx5dv_mkey"], capture_output=True)
            if done.returncode == 0:
                return candidate
    return None


@cache
def play(name: str, personality: str = "connectx7") -> Any:
    """What the scenario saw; skips the test if the machine can't play it."""
    library, python = softnic.library(), interpreter()
    if library is None:
        pytest.skip(f"no software NIC: {softnic.missing()}")
    if python is None:
        pytest.skip("no interpreter here has pyverbs (Debian: apt-get install python3-pyverbs ibverbs-providers)")
    environment = {**os.environ, "LD_PRELOAD": str(library), "MKEYSPEC_SOFTNIC_PERSONALITY": personality}
    done = subprocess.run(
        [python, str(HERE / "traffic.py"), name], capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)[name]


GOLDEN = {  # tests/reference/vectors.toml has the sources; those marked came from hardware
    "crc32 zero, 512 x 01": ["15d286f7"],  # hardware
    "crc32 ones, 512 x 01": ["f4832c45"],
    "crc32 zero, 512 x A5": ["699aca21"],  # hardware
    "crc32c ones, 4096 x a": ["a24cc726"],  # hardware
    "crc32c zero, 512 x A5": ["4207e6b4"],  # hardware
    "crc64 zero, 512 x A5": ["8c8adb450cce85aa"],  # hardware
    "crc64 ones, 4160 inc": ["d4cc777ee03a1044"],
    "crc32 zero, 4048 inc": ["65af7860"],
    "crc32 zero, 520 inc": ["3ce9d9f7"],
    "dif ffff, 512 x A5": ["ec7d5678f0debc9a"],  # hardware
    "dif 0, 512 x A5": ["9ec65678f0debc9a"],  # hardware
    "dif ffff, remap, 3 blocks": ["ec7d5678f0debc9a", "ec7d5678f0debc9b", "ec7d5678f0debc9c"],
    "csum 0, 512 x A5": ["5a5a5678f0debc9a"],
}


@pytest.mark.parametrize("what", GOLDEN)
def test_published_values_come_out_of_real_sends(what: str) -> None:
    assert play("golden")[what] == GOLDEN[what]


def test_the_error_record_and_its_arming() -> None:
    seen = play("record")
    computed, stored, last_byte = 0x9916, 0xEC7D, 2 * 520 - 1  # HW-01, HW-02; 5A + 511 x A5 is 0x9916 on hardware
    told = [BAD_GUARD, computed, stored, last_byte]
    assert seen["good"] == [[OK, OK], [NO_ERROR, 0, 0, 0], True]
    assert seen["bad"] == [[OK, OK], told]
    assert seen["not armed"] == [[OK, OK], [NO_ERROR, 0, 0, 0]]
    assert seen["armed"] == [[OK, OK], told]
    assert seen["written"] == [OK, told]


def test_escapes_exempt_the_whole_block_and_near_misses_do_not() -> None:
    assert play("escapes") == {"app": 0, "app, none set": 1, "app and ref": 0, "app and ref, near miss": 1}


def test_a_signature_works_on_the_top_mkey_only() -> None:
    assert play("raw_inside") == [OK, [OK, 520], "ec7d5678f0debc9a"]


def test_an_interleaved_layout_whole_in_part_and_beyond() -> None:
    assert play("layouts") == [
        [OK, [OK, 18]],
        "000102038081" + "101112138889" + "202122239091",
        "8110111213",
        LOCAL_PROTECTION,
    ]


def test_layouts_of_1024_entries_that_lie_in_memory() -> None:
    assert play("far_lists") == [OK, [OK, [OK, 8192]], True, OK, [OK, [OK, 16384]], True]


@pytest.mark.parametrize("personality", ["connectx7", "connectx7;trap=0"])
def test_modify_to_error_lets_posted_work_finish(personality: str) -> None:
    assert play("finished", personality) == [[OK] * 20 + [FLUSHED], [OK] * 20]


REFUSED = {
    "freed source": [LOCAL_PROTECTION],
    "freed target": [REMOTE_OPERATION, LOCAL_PROTECTION],
    "stale rkey": [REMOTE_ACCESS],
    "foreign pd": [LOCAL_PROTECTION],
    "too long": [REMOTE_REQUEST, LOCAL_LENGTH],
    "misaligned atomic": [REMOTE_REQUEST],
    "no receive": [RNR],
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_ends_with_its_status(what: str) -> None:
    assert play("refusals")[what] == REFUSED[what]


def test_the_retry_timer_is_the_formula() -> None:
    status, seconds = play("retry_timer")
    assert status == RETRY
    assert 0.067 <= seconds < 0.6


def test_a_send_waits_for_its_peer_and_for_a_receive() -> None:
    assert play("late_peer") == [[], OK, [OK, 4], "late"]


def test_atomics_return_the_old_value() -> None:
    assert play("atomics") == [[OK, 8], 41, 42, [OK, 8], 42, 7, [OK, 8], 7, 7]


def test_keys_are_recycled_late() -> None:
    assert play("recycling") == [True, 200]


@pytest.mark.parametrize(("personality", "most"), [("connectx7", 0.005), ("connectx7;trap=0", 0.03)])
def test_an_idle_nic_costs_nothing(personality: str, most: float) -> None:
    assert play("idle", personality) < most


@pytest.mark.parametrize("name", ["golden", "record", "refusals", "late_peer", "atomics"])
def test_polled_doorbells_do_the_same(name: str) -> None:
    assert play(name, "connectx7;trap=0") == play(name)
