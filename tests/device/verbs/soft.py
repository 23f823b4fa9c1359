"""Whether this machine can run the software NIC under pyverbs: one reason, or None."""

from __future__ import annotations

import pytest

from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.soft import softnic
from mkeyspec.device.verbs import names


def missing() -> str | None:
    try:
        names.load()
    except Unavailable as error:
        return error.message
    return softnic.missing()


def need() -> None:
    """Skip with the reason."""
    reason = missing()
    if reason is not None:
        pytest.skip(f"needs the software NIC: {reason}")
