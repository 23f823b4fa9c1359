"""DEVX: mkeys with their translation, queue pairs, queries."""

from __future__ import annotations

import pytest

from tests.softnic import preloaded

NAMES = (
    "list_in_command", "fixed_size_in_command", "memory_in_command", "destroyed_umem", "mkeys_refused", "query",
    "qp_moves", "qp_moves_refused", "unreliable_moves", "vports", "capability_pages", "null_region",
    "resized_cq", "full_cq", "moderated_cq",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_devx(name: str) -> None:
    preloaded.passes("devx_scenarios.py", name)


def test_devx_of_an_ethernet_port() -> None:
    preloaded.passes("devx_scenarios.py", "vports_of_roce", MKEYSPEC_SOFTNIC_PERSONALITY="name=connectx7;roce=1")
