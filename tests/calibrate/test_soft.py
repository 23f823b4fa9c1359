"""Calibration of a software NIC under the unmodified driver: what is known of its personality and of its fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.calibrate.blind import SoftNic, found_in, measure_soft, soft_nics
from tests.device.verbs import soft

SAMPLE = [one for one in soft_nics() if one.device == "soft:cx5" or one.fault == "error_values_swapped"]


@pytest.mark.parametrize("nic", SAMPLE, ids=lambda nic: f"{nic.device} {nic.fault}".strip())
def test_what_is_known_is_found(nic: SoftNic, tmp_path: Path) -> None:
    soft.need()
    file = measure_soft(nic, tmp_path)
    assert {point: found_in(file, point) for point in nic.known} == nic.known
    assert file["measured"]["device"] == nic.device
    published = file["evidence"]["published"]
    assert {one["confidence"] for one in published.values()} <= {"sure", "nothing"}
    assert published["crc32"]["value"] is True
