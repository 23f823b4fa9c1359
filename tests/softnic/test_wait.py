"""WAIT on data and the transpose: wait_scenarios.py, each scenario in a process of its own."""

from __future__ import annotations

import uuid

import pytest

from tests.softnic import preloaded

HOW = pytest.mark.parametrize("personality", ["connectx7", "connectx7;trap=0"])
WAITS = (
    "conditions", "masks", "as_ucc_posts_it", "unsignaled", "others_go_on", "many_queues_wait", "more_than_a_ring",
    "a_processor", "released_by_a_write", "cancelled", "drained", "destroyed", "bad_memory", "forked",
)  # fmt: skip
ELSE = (
    "through_an_mkey", "refused", "signature_key", "matrices", "matrix_in_place", "matrix_through_mkeys",
    "matrix_refused", "announced",
)  # fmt: skip


@HOW
@pytest.mark.parametrize("name", WAITS)
def test_wait(name: str, personality: str) -> None:
    preloaded.passes("wait_scenarios.py", name, MKEYSPEC_SOFTNIC_PERSONALITY=personality)


@pytest.mark.parametrize("name", ELSE)
def test_wqe(name: str) -> None:
    preloaded.passes("wait_scenarios.py", name)


@HOW
def test_two_processes(personality: str) -> None:
    fabric = {"MKEYSPEC_SOFTNIC_FABRIC": uuid.uuid4().hex}
    preloaded.passes("wait_scenarios.py", "two_processes", MKEYSPEC_SOFTNIC_PERSONALITY=personality, **fabric)


@pytest.mark.parametrize("personality", ["connectx6dx", "connectx5", "connectx7;wait_on_data=0;transpose=0"])
def test_a_device_without_them(personality: str) -> None:
    preloaded.passes("wait_scenarios.py", "no_such_device", MKEYSPEC_SOFTNIC_PERSONALITY=personality)
