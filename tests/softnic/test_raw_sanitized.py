"""The scenarios that drive the device by bytes, under AddressSanitizer and UBSan."""

from __future__ import annotations

import pytest

from tests.softnic import preloaded, test_devx, test_transaction, test_umr, test_wait

SCENARIOS = [
    *(("umr_scenarios.py", name) for name in test_umr.NAMES),
    *(("transaction_scenarios.py", name) for name in test_transaction.NAMES),
    *(("wait_scenarios.py", name) for name in (*test_wait.WAITS, *test_wait.ELSE) if name != "a_processor"),
    *(("devx_scenarios.py", name) for name in test_devx.NAMES),
]


@pytest.mark.parametrize(("script", "name"), SCENARIOS)
def test_under_sanitizers(sanitized: str, script: str, name: str) -> None:
    done = preloaded.run(script, name, LD_PRELOAD=sanitized, ASAN_OPTIONS="detect_leaks=0")
    assert done.returncode == 0, done.stderr
