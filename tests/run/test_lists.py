"""`completes { }` and claims of several outcomes, as sentences say them."""

from __future__ import annotations

import pytest

from tests.run.test_before_failure import lost, other
from tests.run.text import one, told

SHORT = {
    "transmit k by send, id 7 {}": "send, id 7",
    "transmit k by write_imm, id 7 {}": "rdma_write, id 7",
    "transmit k by peer_read {}": "rdma_read, byte_len 64",
    "receive fill(3, 64) into k by recv {}": "send",
    "receive fill(3, 64) into k by peer_write {}": "rdma_write",
    "receive fill(3, 64) into k by read {}": "rdma_read, byte_len 64",
}


def behind(form: str) -> str:
    return "expect wire == m" if form.startswith("transmit") else "expect m == fill(3, 64)"


@pytest.mark.parametrize("form", SHORT)
def test_the_short_forms_have_lists(form: str) -> None:
    """The completions of the send queue that the request is posted to."""
    entry = SHORT[form]
    assert told(one(form.format(f"completes {{ {entry} }}"), behind(form))) == ["pass"]
    wrong = ("", "driver1", f"{entry}; {entry}", f"{entry.split(',')[0]}, id 99")
    for listed in wrong:
        assert told(one(form.format(f"completes {{ {listed} }}"), behind(form))) == ["MKS2005:9"], listed


def test_of_a_short_form_the_other_end_is_judged_as_without_a_list() -> None:
    text = one("transmit k by send, id 7 completes { send }", "expect wire == m")
    assert told(text, other(7, byte_len=5)) == ["pass"], "of a SEND it is not defined"
    assert told(text, lost(7)) == ["MKS2005:9"]


TWO = "rejected at completion with rem_op_err or rejected at completion with rem_access_err"
EITHER = "rejected at complete or rejected at completion with remote_access"


@pytest.mark.parametrize("signaled", ["", ", signaled"])
@pytest.mark.parametrize("claim", [EITHER, TWO, f"accepted or {EITHER}", "rejected at completion with remote_access"])
def test_of_several_outcomes_an_unsignaled_request_has_one(signaled: str, claim: str) -> None:
    """Nobody waited for the error of a request that has no other completion."""
    text = one("configure k { access 0 }", f"peer post {{ read w from k[0 +: 64]{signaled} }}", f"    {claim}")
    assert told(text) == ["pass"]


def test_an_unsignaled_request_that_is_accepted() -> None:
    text = one(f"peer post {{ read w from k[0 +: 64] }} accepted or {EITHER}", "expect w == m")
    assert told(text) == ["pass"]
    assert told(text.replace("accepted or ", "").replace("layout list(m)", "layout list(m[0 +: 32])")) != ["pass"]
