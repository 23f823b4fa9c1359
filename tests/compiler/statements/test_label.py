"""What a labelled statement shows: each member that its verb has can be read of a device that does as it should."""

from __future__ import annotations

import pytest

from mkeyspec.compiler.statements.registry import PLACES
from mkeyspec.plan import At, Expect
from mkeyspec.run.verdict import CaseFailed
from mkeyspec.value.live import Live
from tests.compiler.statements.lower_text import rows
from tests.run.fixtures import rig, run

SETUP = """
    memory m = counter(64)
    peer memory w = counter(64)
    mkey k { block_signature }
    configure k { access local_write | remote_read | remote_write; layout list(m) }
"""
LABELLED = {
    "post": "post as x { write m to w, signaled }",
    "abort": "abort as x { configure k { layout list(m) } }",
    "configure": "configure k as x { layout list(m) }",
    "write": "write m to w as x",
    "read": "read m from w as x",
    "fetch_add": "fetch_add m[0 +: 8] from w[0 +: 8] as x, add 0",
    "compare_swap": "compare_swap m[0 +: 8] from w[0 +: 8] as x, compare 1, swap 1",
    "invalidate": "invalidate k as x",
    "transmit": "transmit k by send as x",
    "receive": "receive counter(64) into k by recv as x",
    "recv": "recv m as x\n    peer send w",
    "check": "check k is ok as x",
}


@pytest.mark.parametrize("verb", LABELLED)
def test_each_member_is_there(verb: str) -> None:
    tested, _ = rig()
    members = PLACES["case"].shapes[verb].shows
    body = SETUP + f"    {LABELLED[verb]}\n"
    # byte_len is defined of what an answer or a message fills alone (ibv_poll_cq(3)).
    for member in (name for name in members if name != "byte_len"):
        compare = "== 0" if member == "errno" else "== success"
        body += f"    expect x.{member} {compare}\n"
    assert run(tested, *rows(body)[0].steps).status == "pass"


def test_a_member_that_no_device_shows_is_a_failure_and_no_skip() -> None:
    """Of a module that the compiler did not write: it lets no such member pass."""
    tested, _ = rig()
    steps = rows(SETUP + "    transmit k by send as x\n    expect wire == m\n")[0].steps
    with pytest.raises(CaseFailed, match="MKS2105"):
        run(tested, *steps, Expect(At(99, 5), Live("x", "count"), "==", 1))
