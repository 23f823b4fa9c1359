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
