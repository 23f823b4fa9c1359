"""Whether this machine can run the software NIC under pyverbs: one reason, or None."""

from __future__ import annotations

import os

import pytest

from mkeyspec.device import softnic, verbs_names
from mkeyspec.device.protocol import Unavailable


def missing() -> str | None:
    try:
        verbs_names.load()
    except Unavailable as error:
        return error.message
    return softnic.missing()


def need() -> None:
    """Skip with the reason; fail where everything must be there (MKEYSPEC_REQUIRE_SOFT=1)."""
    reason = missing()
    if reason is None:
        return
    if os.environ.get("MKEYSPEC_REQUIRE_SOFT") == "1":
        pytest.fail(f"MKEYSPEC_REQUIRE_SOFT=1, and {reason}")
    pytest.skip(f"needs the software NIC: {reason}")
