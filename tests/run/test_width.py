"""MKS2107: a live number that the member of its struct can't hold. The driver would get another one, or none."""

from __future__ import annotations

import pytest

from tests.run.text import one, told


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["transmit k by peer_read, but rkey k.rkey * 0x1000000", "    rejected at completion with remote_access"], 9),
        (["transmit k by send_imm, imm k.rkey << 32", "expect wire == m"], 9),
        (["configure k { access k.rkey << 30; layout list(m) }", "    accepted or rejected at complete"], 9),
        (["mr_list k from [m], access k.rkey << 32", "    accepted or rejected at complete"], 9),
        (["configure k { layout list(m but lkey m.lkey << 32) }", "    accepted or rejected at complete"], 9),
        (["configure k { layout list(m but length m.lkey << 32) }", "    accepted or rejected at complete"], 9),
        (["memory o[8]", "fetch_add o from w, add m.addr << 40", "expect w == any", "expect o == any"], 10),
        (["mkey l { entries m.addr }", "    accepted or rejected at create"], 9),
        (["mkey l, but max_entries m.addr", "    accepted or rejected at create"], 9),
        (["mkey l { update_tag }", "retag l to l.rkey << 8"], 10),
        (["mkey l", "configure l { layout list(k[0 +: m.addr << 8]) }", "    accepted or rejected at complete"], 10),
        (["write m to w, but rkey 0 - k.rkey", "    rejected at completion"], 9),
        (["write m to w, but remote_addr w.addr << 60", "    accepted or rejected at completion"], 9),
    ],
)
def test_a_live_number_that_its_member_cant_hold_is_the_authors(lines: list[str], line: int) -> None:
    assert told(one(*lines)) == [f"MKS2107:{line}"]
