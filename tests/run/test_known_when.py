"""`known … when COND`: in the other rows the device must do what the page says."""

from __future__ import annotations

from errno import EINVAL
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Configure, Qp, SetList
from mkeyspec.run.departures import Expectations
from tests.run.text import told

LISTED = Expectations({"X-DIFF-01": ("driver.toml", "is too strict")})
CASE = """\
case a
    verifies ACC-01
    for n in 1, 2
    memory m = fill(1, 64)
    mkey k
    configure k { access remote_read; layout list(m[0 +: 32 * n]) }
        known X-DIFF-01 rejected at complete with EINVAL when n == 2
    transmit k by peer_read
    expect wire == m[0 +: 32 * n]
"""


class Strict(Model):
    """Refuses configurations: of layouts of these lengths."""

    def __init__(self, *lengths: int) -> None:
        super().__init__(Profile())
        self.lengths = lengths

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        for one in requests:
            layout = one.setters[1] if isinstance(one, Configure) else None
            if isinstance(layout, SetList) and sum(sge.length for sge in layout.sges) in self.lengths:
                return EINVAL
        return super().post(qp, requests, abort=abort)


@pytest.mark.parametrize(
    ("lengths", "found"),
    [((), ["pass", "MKS2301:8"]), ((64,), ["pass", "known"]), ((32,), ["MKS2001:8", "MKS2301:8"])],
)
def test_it_is_of_its_rows_alone(lengths: tuple[int, ...], found: list[str]) -> None:
    assert told(CASE, Strict(*lengths), expectations=LISTED) == found
