"""Transaction signatures: generated, checked, continued over keys, or refused."""

from __future__ import annotations

import pytest

from tests.softnic import preloaded

NAMES = (
    "wire", "published_values", "continued", "set_psv", "checked_on_the_wire", "masked", "memory", "both", "local",
    "outside", "switched_off", "refused",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_transaction(name: str) -> None:
    preloaded.passes("transaction_scenarios.py", name)


def test_a_device_without_the_crc() -> None:
    preloaded.passes("transaction_scenarios.py", "without_crc32c", MKEYSPEC_SOFTNIC_PERSONALITY="connectx5")
