"""An unread error of a key stays, whatever becomes of the key's configuration (mlx5dv_mkey_check(3))."""

from __future__ import annotations

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from tests.run.text import verdicts

CASE = """\
case a
    verifies XCHK-04
    let d = crc32(ones) every 512
    let t = crc32c(ones) every 512
    memory src = flip(framed(counter(1024), d), 600)
    mkey k {{ block_signature }}
    configure k {{ access local_write; layout list(src); signature {{ mem d }} }}
    transmit k by send
    expect wire == flip(counter(1024), 596)
    {between}
    check k is bad_guard, block {block}
"""
BETWEEN = {
    "invalidated": "invalidate k",
    "aborted": "abort { configure k { signature { wire t } } }",
    "refused": "configure k, but num_setters 7 { signature { wire t } } rejected at complete",
}


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
@pytest.mark.parametrize(("block", "status"), [(1, "pass"), (0, "fail")])
def test_its_block_is_judged(between: str, block: int, status: str) -> None:
    [found] = verdicts(CASE.format(between=between, block=block), Model(Profile()))
    assert getattr(found, "status", "fail") == status
