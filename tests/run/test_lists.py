"""`completes { }` and claims of several outcomes, as sentences say them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import AsyncEvent, Completion, Qp, Send, Write
from mkeyspec.run.verdict import Verdict
from tests.run.test_before_failure import Twisted, lost, other
from tests.run.text import one, told, verdicts

SHORT = {
    "transmit k by send, id 7 {}": "send, id 7",
    "transmit k by write_imm, id 7 {}": "rdma_write, id 7",
    "transmit k by peer_read {}": "rdma_read, byte_len 64",
    "receive fill(3, 64) into k by recv {}": "send",
    "receive fill(3, 64) into k by peer_write {}": "rdma_write",
    "receive fill(3, 64) into k by read {}": "rdma_read, byte_len 64",
}


def after(form: str) -> str:
    return "expect wire == m" if form.startswith("transmit") else "expect m == fill(3, 64)"


@pytest.mark.parametrize("form", SHORT)
def test_the_short_forms_have_lists(form: str) -> None:
    """The completions of the send queue that the request is posted to."""
    entry = SHORT[form]
    assert told(one(form.format(f"completes {{ {entry} }}"), after(form))) == ["pass"]
    wrong = ("", "driver1", f"{entry}; {entry}", f"{entry.split(',')[0]}, id 99")
    for listed in wrong:
        assert told(one(form.format(f"completes {{ {listed} }}"), after(form))) == ["MKS2005:9"], listed


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
    "two lists": one(
        "post { write k[0 +: 64] to w, signaled, id 5 }",
        "    completes { error } or completes { error, id 5 } or accepted",
    ),
}


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


class Ids(Model):
    """The owner's completion number `bad` of this opcode has another wr_id: one of no request, or the first one's."""

    def __init__(self, opcode: str, bad: int, again: bool) -> None:
        self.opcode, self.bad, self.again, self.seen = opcode, bad, again, list[int]()
        super().__init__(Profile())

    def poll(self, qp: Qp) -> list[Completion]:
        found = []
        for each in super().poll(qp):
            if each.opcode == self.opcode and qp.side == "owner":
                self.seen.append(each.wr_id)
                if len(self.seen) == self.bad + 1:
                    each = replace(each, wr_id=self.seen[0] if self.again else each.wr_id ^ 0x40)
            found.append(each)
        return found


WRITES = "write m[0 +: 32] to w[0 +: 32], signaled; write m[32 +: 32] to w[32 +: 32], signaled"
BARE = {
    "a list of a section": ("rdma_write", 9, (f"post {{ {WRITES} }} completes {{ rdma_write; rdma_write }}",)),
    "a poll": ("rdma_write", 9, (f"post, nowait {{ {WRITES} }}", "poll completes { rdma_write; rdma_write }")),
    "receives": ("recv", 10, ("memory n[64]; peer memory f = fill(1, 64)", "recv m; recv n",
                 "peer post, nowait { send f, signaled; send f, signaled }", "peer poll completes { send; send }",
                 "poll completes { recv; recv, byte_len 64 }", "expect n == fill(1, 64)", "expect m == any")),
}  # fmt: skip


@pytest.mark.parametrize(("opcode", "line", "lines"), BARE.values(), ids=BARE)
@pytest.mark.parametrize(("bad", "again"), [(0, False), (1, False), (1, True)])
def test_a_list_without_ids_takes_no_completion_of_no_request(
    opcode: str, line: int, lines: tuple[str, ...], bad: int, again: bool
) -> None:
    """ibv_poll_cq(3): wr_id is that of the work request; what an entry does not name is judged as without a list."""
    text = one(*lines, "expect w == any")
    assert told(text) == ["pass"]
    (found,) = told(text, Ids(opcode, bad, again))
    assert found.split(":")[0] in ("MKS2004", "MKS2005", "MKS2201"), found


class Sender(Model):
    """The sender of a message that its receiver can't take gets another status."""

    def __init__(self, status: str) -> None:
        self.status = status
        super().__init__(Profile())

    def poll(self, qp: Qp) -> list[Completion]:
        return [replace(one, status=self.status) if one.status == "rem_op_err" else one for one in super().poll(qp)]


@pytest.mark.parametrize("status", ["retry_exc_err", "wr_flush_err", "loc_len_err"])
def test_the_sender_of_a_message_that_was_not_taken(status: str) -> None:
    """IBTA 9.7.5.2.8: the responder answers with a remote error."""
    text = one(
        "mkey j",
        "configure j { access 0; layout list(m) }",
        "receive counter(64) into j by recv",
        "    rejected at completion with local_protection",
        "expect m == unchanged",
    )
    assert told(text) == told(text, Sender("rem_inv_req_err")) == ["pass"]
    assert told(text, Sender(status)) == ["MKS2005:11"]


class Stale(Model):
    """With the second transfer the peer's buffer of the first one is written, too."""

    count = 0

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        result = super().post(qp, requests, abort=abort)
        for request in requests:
            if isinstance(request, (Write, Send)) and request.sges:
                self.count += 1
                if self.count == 2:
                    peer = self.tables["peer"].keys
                    regions = [one for one in self._memories.values() if peer.get(one.index) is one]
                    regions[1].data[64:72] = 0xAA  # after `w`
        return result


@pytest.mark.parametrize("line", ["let first = wire", "expect wire == m"])
def test_a_wire_that_was_looked_at_stays_what_it_was(line: str) -> None:
    text = one(
        "transmit k by send",
        line,
        "transmit k by write",
        "expect wire == m",
        *(["expect wire == first"] if line.startswith("let") else []),
    )
    assert told(text) == ["pass"]
    (found,) = told(text, Stale(Profile()))
    assert found.startswith("MKS2103")


class Storm(Model):
    """Of each question for events it tells a hundred of a QP's error."""

    def events(self) -> list[AsyncEvent]:
        pair = next(iter(self._queues.values()), None)
        return super().events() + ([AsyncEvent("qp_req_err", pair.qp)] * 100 if pair is not None else [])


STOPPED = (
    "mkey s { block_signature }", "configure s { access 0; layout list(m) }", "qp q { sig_pipelining }",
    "transmit s by send on q", "await sq_drained on q",
)  # fmt: skip


@pytest.mark.parametrize("lines", [(), STOPPED])
def test_a_storm_of_events_is_counted(lines: tuple[str, ...]) -> None:
    (failed,) = verdicts(one("transmit k by send", "expect wire == m", *lines), Storm(Profile()), deadline=0.2)
    assert not isinstance(failed, Verdict)
    assert len(failed) < 5
    assert sum(len(str(one)) for one in failed) < 5000
    assert any("times)" in str(one) for one in failed)


def test_a_byte_is_not_put_at_a_statement_that_only_reads_its_buffer() -> None:
    """Among several that moved data since it was looked at; where only one did, it is that one's."""
    lines = ("memory o = counter(48)", "peer memory f[48]", "receive fill(1, 64) into k by recv",
             "expect m == fill(1, 64)", "transmit k by send", "expect wire == m", "write o to f",
             "expect f == o")  # fmt: skip

    class Flips(Model):
        def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
            result = super().post(qp, requests, abort=abort)
            if any(isinstance(each, Write) and sum(sge.length for sge in each.sges) == 48 for each in requests):
                next(iter(self._memories.values())).data[70] ^= 1
            return result

    ((failure,),) = verdicts(one(*lines), Flips(Profile()))  # type: ignore[misc]
    assert (failure.code, failure.at.line) == ("MKS2103", 5)
    assert failure.suspects[0] == "read by"
