"""Runs are sorted by time, also those that began in the same second."""

from __future__ import annotations

import os
from pathlib import Path

from mkeyspec.report.place import FILE, newest, streams_in

RUNS = {"20261122-174501-model-ffff": 5, "20261122-174501-model-0000": 6, "20261122-174500-soft-aaaa": 9}
"""By name, and when their folders were changed last."""


def test_runs_of_one_second_are_in_their_order(tmp_path: Path) -> None:
    for name, time in RUNS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).touch()
        os.utime(tmp_path / name, (time, time))
    (tmp_path / "other").mkdir()
    names = [path.parent.name for path in streams_in(tmp_path)]
    assert names == ["20261122-174500-soft-aaaa", "20261122-174501-model-ffff", "20261122-174501-model-0000"]
    assert newest(tmp_path) == [tmp_path / names[-1] / FILE]
    assert streams_in(tmp_path / "nowhere") == newest(tmp_path / "nowhere") == []
