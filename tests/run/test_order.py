"""The order of completions on a DCI, what is flushed there, a full send queue, and numbers that can't be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion, Mkey, Qp, Write
from mkeyspec.run.verdict import Verdict
from tests.run.text import one, told, verdicts


class Swapped(Model):
    """Two completions of a send queue that come together are told in the other order."""

    def poll(self, qp: Qp) -> list[Completion]:
        found = super().poll(qp)
        sent = [i for i, completion in enumerate(found) if completion.queue == "send"]
        if len(sent) >= 2:
            found[sent[0]], found[sent[1]] = found[sent[1]], found[sent[0]]
        return found


class Unflushed(Model):
    """Of what was not signaled it tells no flush."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        quiet = {one.wr_id for one in requests if isinstance(one, Write) and not one.flags & 2}
        self.unsignaled: set[int] = getattr(self, "unsignaled", set()) | quiet
        return super().post(qp, requests, abort=abort)

    def poll(self, qp: Qp) -> list[Completion]:
        found = super().poll(qp)
        return [one for one in found if not (one.status == "wr_flush_err" and one.wr_id in self.unsignaled)]


class Few(Model):
    def mkey(self, *args: Any, **options: Any) -> Mkey:
        made = super().mkey(*args, **options)
        return replace(made, max_entries=made.max_entries - 2)


class Counting(Model):
    """Each receive of 64 bytes counts 3."""

    def poll(self, qp: Qp) -> list[Completion]:
        return [
            replace(one, byte_len=3) if one.queue == "recv" and one.status == "success" and one.byte_len == 64 else one
            for one in super().poll(qp)
        ]


def dci(members: str, stream: str, other: str, claim: str = "") -> str:
    """Two writes on a DCI, each to its stream."""
    wrong, quiet = (", but rkey w.rkey ^ 0xff", "") if claim else ("", ", signaled")
    return one(
        "dct t { key 5 }",
        f"qp q {{ type dci{members} }}",
        f"post on q {{ write m[0 +: 32] to w[0 +: 32], signaled, dct t{stream}{wrong}; "
        f"write m[32 +: 32] to w[32 +: 32]{quiet}, dct t{other} }}{claim}",
        "expect w == any",
    )


STREAMS = "; streams 4"


@pytest.mark.parametrize(
    ("members", "stream", "other", "red"),
    [("", "", "", True), (STREAMS, ", stream 1", ", stream 1", True), (STREAMS, ", stream 1", ", stream 2", False)],
)
def test_a_dci_completes_in_order(members: str, stream: str, other: str, red: bool) -> None:
    """IBTA: the completions of a send queue are in the order of its requests. Only streams go on without another."""
    text = dci(members, stream, other)
    assert told(text) == ["pass"]
    assert told(text, Swapped(Profile())) == (["MKS2005:11"] if red else ["pass"])


@pytest.mark.parametrize(
    ("members", "stream", "other", "red"),
    [("", "", "", True), (STREAMS, ", stream 1", ", stream 1", True), (STREAMS, ", stream 1", ", stream 2", False)],
)
def test_all_that_is_after_a_failure_is_flushed(members: str, stream: str, other: str, red: bool) -> None:
    """Signaled or not. Another stream goes on, and an unsignaled request there has no completion."""
    text = dci(members, stream, other, " rejected at completion")
    assert told(text) == ["pass"]
    assert told(text, Unflushed(Profile())) == (["MKS2004:11"] if red else ["pass"])
    plain = text.replace(", dct t", "").replace(stream, "").replace(other, "").replace("type dci" + members, "")
    assert told(plain, Unflushed(Profile())) == ["MKS2004:11"]


@pytest.mark.parametrize("wrs", [1, 2, 3])
def test_a_queue_that_unsignaled_requests_have_filled_takes_no_marker(wrs: int) -> None:
    """No completion has told the driver that there is room: a quiet time takes the marker's place."""
    lines = (
        "mkey j",
        f"qp q {{ max_send_wr {wrs}; max_inline_data 0 }}",
        "post on q { configure j { access remote_read; layout list(m) } }",
        "transmit j by peer_read",
        "expect wire == m",
    )
    (found,) = verdicts(one(*lines))
    assert isinstance(found, Verdict)
    assert found.status == "pass"


class Full(Model):
    """A send queue that is full though it can't be."""

    full = False

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if self.full:
            return 12
        self.full = len(requests) == 2
        return super().post(qp, requests, abort=abort)


def test_a_queue_that_has_room_takes_one() -> None:
    (found,) = told(one("post { write m[0 +: 8] to w; write m[8 +: 8] to w[8 +: 8] }"), Full(Profile()))
    assert found.startswith("MKS2204:9")


@pytest.mark.parametrize("line", ["expect j.max_entries >= 1", "expect j.max_entries != 0", "record n = j.max_entries"])
def test_a_weak_expectation_of_a_number_leaves_it_to_the_rig(line: str) -> None:
    """mlx5dv_create_mkey(3): max_entries is no less than what was asked for."""
    text = one("mkey j { entries 4 }", "configure j { layout list(m) }", "transmit j by send", "expect wire == m", line)
    assert told(text) == ["pass"]
    assert told(text, Few(Profile())) == ["MKS2109:7, MKS2109:9"]


def test_a_strong_one_tells_it_itself() -> None:
    assert told(one("mkey j { entries 4 }", "expect j.max_entries >= 4"), Few(Profile())) == ["MKS2105:10, MKS2109:7"]


UNSIGNED = {
    "a configuration without signature": "configure j { access local_write; layout list(m) }",
    "mr_list": "mr_list j from [m], access local_write",
    "a signature that was reset": "configure j { signature { mem crc32(ones) every 512 } }; "
    "configure j, reset_signature { access local_write; layout list(m) }",
}


@pytest.mark.parametrize("configuration", UNSIGNED.values(), ids=UNSIGNED)
@pytest.mark.parametrize("how", ["receive counter(64) into j by recv", "recv j[0 +: 64]; peer send f"])
def test_byte_len_of_a_key_that_has_no_signature(configuration: str, how: str) -> None:
    """Without one the count of the wire and that of the memory are the same (X-OPEN-17)."""
    text = one("mkey j { block_signature }", configuration, "peer memory f = counter(64)", how, "expect m == any")
    assert told(text) == ["pass"]
    assert told(text, Counting(Profile())) == ["MKS2005:12"]


class FarCount(Model):
    """A READ's completion counts 4 bytes too many."""

    def poll(self, qp: Qp) -> list[Completion]:
        return [
            replace(one, byte_len=one.byte_len + 4) if one.opcode == "rdma_read" and one.byte_len else one
            for one in super().poll(qp)
        ]


FAR = {
    "a signature": ("memory b = framed(counter(512), crc32(ones) every 512)", "peer memory z[512]",
                    "mkey j { block_signature }",
                    "configure j { access remote_read; layout list(b); signature { mem crc32(ones) every 512 } }",
                    "peer read z from j[0 +: 512]", "expect z == counter(512)"),
    "none": ("memory b = counter(64)", "peer memory z[64]", "mkey j { block_signature }",
             "configure j { access remote_read; layout list(b) }", "peer read z from j[0 +: 64]",
             "expect z == counter(64)"),
}  # fmt: skip


@pytest.mark.parametrize("lines", FAR.values(), ids=FAR)
def test_byte_len_of_a_read_of_a_far_key(lines: tuple[str, ...]) -> None:
    """What the reader's plain buffer got; the far key's signature has no part in it (X-OPEN-17 is of a key's own)."""
    assert told(one(*lines)) == ["pass"]
    assert told(one(*lines), FarCount(Profile())) == ["MKS2005:13"]


def test_byte_len_of_a_read_after_the_configuration_in_its_section() -> None:
    text = one(
        "memory b[516]",
        "peer memory z = counter(512)",
        "mkey j { block_signature }",
        "post { configure j { access local_write; layout list(b); signature { mem crc32(ones) every 512 } }; "
        "read j[0 +: 512] from z, signaled }",
        "expect b == framed(counter(512), crc32(ones) every 512)",
    )
    assert told(text) == told(text, FarCount(Profile())) == ["pass"]  # 516 is the memory's count


class More(Model):
    """A write of 32 bytes writes 64."""

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        wide = [
            replace(one, sges=(replace(one.sges[0], length=64),))
            if isinstance(one, Write) and one.sges and one.sges[0].length == 32
            else one
            for one in requests
        ]
        return super().post(qp, wide, abort=abort)


def test_bytes_after_those_of_a_shorter_transmit_are_not_its_wire() -> None:
    text = one("transmit k by write, but length 32", "expect wire[0 +: 32] == m[0 +: 32]")
    assert told(text) == ["pass"]
    assert told(text, More(Profile())) == ["MKS2103:9"]
