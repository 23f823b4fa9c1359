"""`completes { }` and claims of several outcomes, as sentences say them."""

from __future__ import annotations

import pytest

from tests.run.test_before_failure import Twisted, lost, other
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
    text = one(f"peer post {{ read w from k[0 +: 64] }} accepted or {EITHER}", "expect w in [m, unchanged]")
    assert told(text) == ["pass"]
    refused = text.replace("accepted or ", "").replace("layout list(m)", "layout list(m[0 +: 32])")
    assert told(refused) == ["pass"]
    assert told(refused.replace("in [m, unchanged]", "== m")) == ["MKS2102:10"]


# Another outcome than a list ------------------------------------------------------------------

OR = {
    "accepted": one("post { write k[0 +: 64] to w, signaled, id 5 }", "    completes { rdma_write, id 5 } or accepted"),
    "an error": one("post { write k[0 +: 64] to w, signaled, id 5 }", "    accepted or completes { error, id 5 }"),
    "two lists": one("post { write k[0 +: 64] to w, signaled, id 5 }",
                     "    completes { error } or completes { error, id 5 } or accepted"),
}  # fmt: skip


def twice(wr_id: int) -> Twisted:
    return Twisted(lambda found: [each for one in found for each in [one] * (1 + (one.wr_id == wr_id))])


@pytest.mark.parametrize("how", OR)
def test_a_success_that_no_list_fits_is_judged_as_plain_success(how: str) -> None:
    text = OR[how] + "    expect w in [m, unchanged]\n"
    assert told(text) == ["pass"]
    assert told(text, other(5, opcode="send"))[0].startswith("MKS2005:9")
    assert told(text, twice(5))[0].startswith("MKS2201:9")
    assert told(text, lost(5))[0].startswith("MKS2004:9")


REFUSED = one(
    "peer post { write w to m, signaled, id 4; read w from k[0 +: 64], signaled, id 5, but rkey k.rkey ^ 0x5500 }",
    "    completes { rdma_write, id 4; rdma_read, id 5 } or rejected at completion with remote_access",
    "expect m == any",
)


def test_a_refusal_beside_a_list_is_judged_as_without_one() -> None:
    assert told(REFUSED) == ["pass"]
    assert told(REFUSED, other(4, opcode="send"))[0].startswith("MKS2005:")


def test_each_list_of_a_poll_has_an_order_of_its_own() -> None:
    text = one(
        "memory in1[64]",
        "recv in1, id 5",
        "peer post, nowait { send w[0 +: 8], id 6 }",
        "post, nowait { write m to w, signaled, id 2 }",
        "poll",
        "    completes { rdma_write, id 1; recv, id 5 } or completes { recv, id 5; rdma_write, id 2 }",
        "expect w == m",
        "expect in1 == any",
    )
    assert told(text) == ["pass"]
    assert told(text, other(5, byte_len=5)) == ["MKS2005:10"]
    assert told(text.replace("rdma_write, id 2 }", "rdma_write, id 3 }")) == ["MKS2005:13"]
