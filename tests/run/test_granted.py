"""Numbers that a device grants, and that the member of the struct can't hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.model.queue import Queue, Room
from mkeyspec.device.protocol import Mkey, QpAttributes, Side
from tests.run.text import told

CASE = """
case a
    verifies MKY-09
    memory m = counter(64)
    qp q { max_inline_data 124 }
    mkey k { entries 4 }
    record room = q.max_inline_data
    expect k.max_entries >= 4
"""


class Granting(Model):
    def __init__(self, entries: Any, inline: Any) -> None:
        self.granted = entries, inline
        super().__init__()

    def mkey(self, side: Side, **options: Any) -> Mkey:
        return replace(super().mkey(side, **options), max_entries=self.granted[0])

    def _end(self, side: Side, attributes: QpAttributes, rooms: Room) -> Queue:
        queue = super()._end(side, attributes, rooms)
        queue.qp = replace(queue.qp, max_inline_data=self.granted[1])
        return queue


@pytest.mark.parametrize(
    ("entries", "inline", "wanted"),
    [
        (0xFFFF, 0xFFFF_FFFF, "pass"),
        (0x10000, 124, "MKS2109:8"),
        (2**200, 124, "MKS2109:8"),
        (4, 2**32, "MKS2109:7"),
        (4, 2**200, "MKS2109:7"),
        (-1, 124, "MKS2109:8"),
        (4.5, 124, "MKS2109:8"),
        ("4", 124, "MKS2109:8"),
        (None, 124, "MKS2109:8"),
        (4, -1, "MKS2109:7"),
        (4, 124.5, "MKS2109:7"),
    ],
)
def test_a_number_that_its_member_can_not_hold(entries: Any, inline: Any, wanted: str) -> None:
    assert told(CASE, Granting(entries, inline)) == [wanted]
