"""UMRs that raw users write: pointers, BSFs in force from creation, translation offsets, masks."""

from __future__ import annotations

import pytest

from tests.softnic import preloaded

NAMES = (
    "pointer", "pointer_to_a_long_list", "pointer_refused", "signature_of_nothing", "bsf_from_creation",
    "bsf_without_room", "crypto_from_creation", "offset", "offset_in_a_repeat_block", "offset_beyond", "masks",
    "unknown_masks", "invalidation", "fixed_size",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_umr(name: str) -> None:
    preloaded.passes("umr_scenarios.py", name)
