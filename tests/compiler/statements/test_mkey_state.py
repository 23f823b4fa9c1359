"""What is known of an mkey behind a section: what was carried out counts, and nothing else."""

from __future__ import annotations

import pytest

from mkeyspec import plan
from tests.compiler.statements.lower_text import errors, steps

BASE = """
let d = crc32(ones) every 512
memory src = framed(counter(512), d)
memory more[2048]
peer memory w[512]
mkey k { block_signature; entries 4 }
configure k { access local_write | remote_read | remote_write; layout list(src); signature { mem d } }
"""


def checks(body: str) -> list[plan.Check]:
    return [step for step in steps(BASE + body) if isinstance(step, plan.Check)]


# Sections of which nothing is carried out -------------------------------------------------------

NOT_CARRIED_OUT = {
    "an abort": "abort {{ {} }}",
    "a refused section": "mkey j\npost {{ {}; configure j, but comp_mask 1 {{ access 0 }} }} rejected at complete",
}


@pytest.mark.parametrize("section", NOT_CARRIED_OUT.values(), ids=NOT_CARRIED_OUT)
def test_key_stays_configured_where_its_invalidation_is_not_carried_out(section: str) -> None:
    assert errors(BASE + section.format("invalidate k") + "\ntransmit k by send\nexpect wire == counter(512)") == []


@pytest.mark.parametrize("section", NOT_CARRIED_OUT.values(), ids=NOT_CARRIED_OUT)
def test_request_that_is_not_carried_out_is_no_transfer(section: str) -> None:
    (check,) = checks(section.format("write k[0 +: 512] to w") + "\ncheck k is ok")
    assert check.domain is None


@pytest.mark.parametrize("section", NOT_CARRIED_OUT.values(), ids=NOT_CARRIED_OUT)
def test_configuration_that_is_not_carried_out_leaves_nothing_known(section: str) -> None:
    found = errors(BASE + section.format("configure k { layout list(more) }") + "\ntransmit k by send")
    assert found[0].startswith("MKS0506 `k` is in an unknown state after the ")


# Sections that are carried out ------------------------------------------------------------------


def test_requests_of_a_section_see_those_before_them() -> None:
    (*_, post) = steps(
        BASE + "peer recv w\npost { configure k, reset_signature { layout list(more[0 +: 256]) }; send k, signaled }"
    )
    assert isinstance(post, plan.Post)
    (end,) = post.requests[1].ends()
    assert end.length == 256


def test_invalidated_key_has_no_layout_behind_it() -> None:
    found = errors(BASE + "peer recv w\npost { invalidate k; send k, signaled }")
    assert found == ["MKS0308 `k` has no layout here, so nothing says how long it is"]


def test_unread_error_outlives_a_configuration() -> None:
    first, second = checks(
        "transmit k by send\nexpect wire == any\nconfigure k, reset_signature { }\n" + "check k is ok\n" * 2
    )
    assert first.domain is not None
    assert second.domain is None


def test_key_that_the_device_refuses_to_invalidate_stays_configured() -> None:
    """The key was created without REMOTE_INVALIDATE (mlx5dv_create_mkey(3))."""
    body = "recv more\npeer send_inv w, key k rejected at completion\ntransmit k by send\nexpect wire == counter(512)"
    assert errors(BASE + body) == []


# A wrong number of setters ----------------------------------------------------------------------


def test_wrong_number_of_setters_leaves_the_state_unknown_and_the_bytes_as_written() -> None:
    wrong = "configure k, but num_setters 3 { layout list(more[0 +: 8]) }\n"
    assert errors(BASE + wrong + "store more[0 +: 8] = fill(1, 8)\nexpect k == fill(1, 8)") == []
    assert errors(BASE + wrong + "transmit k[0 +: 8] by send")[0].startswith("MKS0506 `k` is in an unknown state")


def test_layout_of_a_key_in_an_unknown_state_leads_nowhere() -> None:
    body = """
    mkey j { entries 4 }
    configure k, but num_setters 2 { layout list(more[0 +: 8], j[0 +: 8]) }
    configure j { layout list(k[0 +: 8]) }
    """
    assert errors(BASE + body) == []


# What is forgotten, and what is not -------------------------------------------------------------


@pytest.mark.parametrize("section", NOT_CARRIED_OUT.values(), ids=NOT_CARRIED_OUT)
def test_key_of_a_section_that_is_not_carried_out_has_no_bytes(section: str) -> None:
    found = errors(BASE + section.format("configure k { access 0 }") + "\nexpect k == any")
    assert found == ["MKS0323 `k` has no layout here, so it has no bytes"]


@pytest.mark.parametrize("clears", ["invalidate k", "abort { configure k { } }"])
def test_unread_error_outlives_what_clears_the_key(clears: str) -> None:
    (check,) = checks(f"transmit k by send\nexpect wire == any\n{clears}\ncheck k is ok")
    assert check.domain is not None


def test_configuration_that_is_refused_at_completion_leaves_the_state_unknown() -> None:
    refused = "configure k { layout list(more) } rejected at completion with local_protection\n"
    found = errors(BASE + refused + "transmit k[0 +: 512] by send")
    assert found[0].startswith("MKS0506 `k` is in an unknown state")


# Requests that wait in a stopped queue ----------------------------------------------------------

STOPS = """
let d = crc32(ones) every 512
memory src = flip(framed(counter(512), d), field_at(d, 0))
memory m = random(512, seed=1)
memory n = random(256, seed=2)
peer memory w[512]
qp q { sig_pipelining }
mkey k { block_signature }
mkey l { block_signature }
configure k on q { layout list(src); signature { mem d } }
configure l { access local_write | remote_read; layout list(m) }
"""
STOPPED = """
post on q, nowait { write k[0 +: 512] to w, signaled, id 1; WAITS }
await sq_drained on q
check k is bad_guard, block 0
"""
AS_IT_WAS = "\nresume q\npoll q\ntransmit l by peer_read\nexpect wire == random(512, seed=1)"
CHANGES = {
    "access": "configure l, fence, id 2 { access 0 }",
    "layout": "configure l, fence, id 2 { layout list(n) }",
    "signature": "configure l, fence, id 2 { signature { wire d } }",
    "mr_list": "mr_list l from [n], access 0, fence, id 2",
    "invalidate": "invalidate l, fence, id 2",
    "wr_post": "invalidate l by wr_post, fence, id 2",
    "two": "invalidate l, fence, id 2; configure l, id 2 { layout list(n); access 0 }",
}


def stopped(waits: str) -> str:
    return STOPS + STOPPED.replace("WAITS", waits)


@pytest.mark.parametrize("waits", CHANGES.values(), ids=CHANGES)
def test_what_is_cancelled_has_not_changed_the_key(waits: str) -> None:
    assert errors(stopped(waits) + "cancel 2 on q" + AS_IT_WAS) == []
    assert errors(stopped(waits) + "cancel 3 on q" + AS_IT_WAS) != []
    assert errors(stopped(waits) + AS_IT_WAS) != []


def test_of_several_only_the_cancelled_ones_have_not() -> None:
    waits = "configure l, fence, id 2 { layout list(n) }; configure l, id 3 { access 0 }"
    assert errors(stopped(waits) + "cancel 3 on q\nresume q\npoll q\ntransmit l by peer_read\nexpect wire == n") == []
    refused = "\nresume q\npoll q\ntransmit l[0 +: 8] by peer_read rejected at completion with remote_access"
    assert errors(stopped(waits) + "cancel 2 on q" + refused) == []
    assert errors(stopped(waits) + "cancel 2 on q\ncancel 3 on q" + AS_IT_WAS) == []


def test_what_was_done_meanwhile_stays_done() -> None:
    meanwhile = "configure l { access 0 }\ncancel 2 on q\nresume q\npoll q\n"
    refused = "transmit l by peer_read rejected at completion with remote_access"
    assert errors(stopped(CHANGES["layout"]) + meanwhile + refused) == []
    assert errors(stopped(CHANGES["layout"]) + meanwhile + "transmit l by send\nexpect wire == m") == []


def test_what_is_posted_while_the_queue_stands_may_be_cancelled() -> None:
    later = "post on q, nowait { invalidate l, fence, id 2 }\n"
    assert errors(stopped("write m to w, fence, id 9") + later + "cancel 2 on q" + AS_IT_WAS) == []
    assert errors(stopped("write m to w, fence, id 9") + later + "cancel 9 on q" + AS_IT_WAS) != []


def test_requests_of_an_earlier_stop_have_been_carried_out() -> None:
    again = "resume q\npoll q\nconfigure k on q { layout list(src); signature { mem d } }\n"
    second = STOPPED.replace("WAITS", "write m to w, fence, id 2")
    text = stopped("configure l, fence, signaled, id 2 { layout list(n) }") + again + second
    assert errors(text + "cancel 2 on q\nresume q\npoll q\ntransmit l by peer_read\nexpect wire == n") == []


def test_a_request_without_a_fence_may_have_left() -> None:
    assert errors(stopped("configure l, id 2 { layout list(n) }") + "cancel 2 on q" + AS_IT_WAS) != []
