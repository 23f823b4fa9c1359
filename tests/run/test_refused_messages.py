"""A message that the other end's receive can't take, or whose invalidation it refuses: the status of each end.

IBTA volume 1, 9.7.5.2 and 9.9.3: the responder returns a NAK (invalid request, remote access, remote operation), which
is the requester's status; its own receive ends with an error of that end. A UC has no NAK.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion, Qp
from mkeyspec.run.verdict import Verdict
from tests.run.text import one, told, verdicts

REMOTE = ("rem_inv_req_err", "rem_access_err", "rem_op_err")
LOCAL = ("loc_len_err", "loc_prot_err", "loc_access_err", "loc_qp_op_err")

BARE = "    rejected at completion"
LONG = "memory note[16]", "recv note"
KEY = "mkey j", "configure j { access local_write; layout list(m) }"
TOO_LONG = {
    "into a buffer": (*LONG, "peer send w", BARE, "expect note == any"),
    "into a key": (*KEY, "recv j[0 +: 16]", "peer send w", BARE, "expect m == any"),
    "from a key": ("peer memory note[16]", "peer recv note", "send k[0 +: 64]", BARE, "expect note == any"),
    "in a section": (*LONG, "peer post {", "    write w[0 +: 8] to m[0 +: 8]", "    send w, signaled", "}", BARE,
                     "expect m[0..8] == any", "expect note == any"),
}  # fmt: skip
NOT_ASKED = {
    "into a buffer": ("memory note[64]", "mkey j", "recv note", "peer send_inv w, key j", BARE, "expect note == any"),
    "into a key": (*KEY, "recv j[0 +: 64]", "peer send_inv w, key k", BARE, "expect m == any"),
}
NO_RIGHT = {
    "of a buffer": ("memory note[64], rights 0", "recv note", "peer send w", BARE),
    "of a key": ("mkey j", "configure j { access 0; layout list(m) }", "recv j[0 +: 64]", "peer send w", BARE),
}  # fmt: skip
ALL = {
    f"{what} {where}": lines
    for what, cases in (("too long", TOO_LONG), ("not invalidated", NOT_ASKED), ("without the right", NO_RIGHT))
    for where, lines in cases.items()
}


class Ends(Model):
    """The end that sent a refused message, and the one that refused it, have these statuses; "": those of the model."""

    def __init__(self, sender: str, receiver: str = "") -> None:
        self._statuses = {"send": sender, "recv": receiver}
        super().__init__(Profile())

    def poll(self, qp: Qp) -> list[Completion]:
        return [self._other(completion) for completion in super().poll(qp)]

    def _other(self, completion: Completion) -> Completion:
        status = self._statuses[completion.queue]
        if completion.status in ("success", "wr_flush_err") or not status:
            return completion
        return replace(completion, status=status)


@pytest.mark.parametrize("name", ALL)
def test_a_right_device_is_green(name: str) -> None:
    text = one(*ALL[name])
    assert told(text) == ["pass"]
    for status in REMOTE:
        assert told(text, Ends(status)) == ["pass"], status
    for status in LOCAL:
        assert told(text, Ends("", status)) == ["pass"], status


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "status", ["retry_exc_err", "rnr_retry_exc_err", "loc_prot_err", "loc_len_err", "wr_flush_err"]
)
def test_the_sender_is_told_by_a_nak(name: str, status: str) -> None:
    (found,) = told(one(*ALL[name]), Ends(status))
    assert found.split(":")[0] in ("MKS2003", "MKS2005"), found


@pytest.mark.parametrize("name", [name for name in ALL if "invalidated" not in name])
@pytest.mark.parametrize("status", ["retry_exc_err", "rem_access_err", "mw_bind_err"])
def test_the_receive_ends_with_an_error_of_its_own_end(name: str, status: str) -> None:
    (found,) = told(one(*ALL[name]), Ends("", status))
    assert found.split(":")[0] in ("MKS2003", "MKS2005"), found


@pytest.mark.parametrize("name", NOT_ASKED)
def test_what_the_receiver_of_a_refused_invalidation_sees_is_open(name: str) -> None:
    """X-OPEN-27."""
    assert told(one(*NOT_ASKED[name]), Ends("", "mw_bind_err")) == ["pass"]


@pytest.mark.parametrize("name", ["into a buffer", "into a key"])
def test_an_unreliable_sender_is_not_told(name: str) -> None:
    lines = [line + " on q" if "recv" in line or "send" in line else line for line in TOO_LONG[name]]
    text = one("qp q { type uc; send_ops [] }", *lines)
    assert told(text) == ["pass"]
    assert told(text, Ends("", "retry_exc_err")) != ["pass"]


def test_the_text_names_the_receive() -> None:
    """Line 11: the receive; line 12: its message, which has the claim."""
    (failures,) = verdicts(one(*NO_RIGHT["of a key"]), Ends("", "retry_exc_err"))
    assert not isinstance(failures, Verdict)
    (found,) = failures
    assert "rejected at completion with retry_exc_err (the receive at 11:5), and should be" in found.message
    assert found.at.line == 12
