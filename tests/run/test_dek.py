"""`dek`, `query d` and `destroy d`: what reaches the device, and what is judged of its answer."""

from __future__ import annotations

from errno import EBUSY, EINVAL

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Dek, DekAttr, DekState, Refused
from mkeyspec.run.verdict import Verdict
from tests.run.text import one, told, verdicts

OPAQUE = bytes(range(8))


class Odd(Model):
    """A model whose queries answer as it is told, and whose DEKs are busy."""

    answer: DekState | int = EINVAL
    seen: list[DekAttr | None]

    def __init__(self, answer: DekState | int) -> None:
        super().__init__(Profile())
        self.answer, self.seen = answer, []

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        self.seen.append(attr)
        return super().dek(key, keytag, attr)

    def query_dek(self, dek: Dek) -> DekState:
        if isinstance(self.answer, int):
            raise Refused("mlx5dv_dek_query", self.answer)
        return self.answer

    def destroy_dek(self, dek: Dek) -> None:
        raise Refused("mlx5dv_dek_destroy", EBUSY)


PLAIN = "dek d { key fill(1, 32) }"
TAGGED = "dek d { key fill(1, 32); opaque counter(8) }"


def test_state_and_opaque_bytes_are_judged() -> None:
    text = one(TAGGED, "query d is state_ready, opaque counter(8)")
    assert told(text) == ["pass"]
    assert told(text, Odd(DekState(0, OPAQUE))) == ["pass"]
    for wrong in (DekState(1, OPAQUE), DekState(2, OPAQUE), DekState(0, OPAQUE[::-1]), DekState(0, bytes(8))):
        assert told(text, Odd(wrong)) == ["MKS2120:10"]
    assert told(one(TAGGED, "query d is state_error, opaque counter(8)")) == ["MKS2120:10"]
    assert told(one(TAGGED, "query d is [state_ready, state_error]"), Odd(DekState(1, bytes(8)))) == ["pass"]


def test_a_failure_says_what_was_asked_for_and_what_came() -> None:
    text = one(TAGGED, "query d is state_ready, opaque counter(8)")
    [failures] = verdicts(text, Odd(DekState(2, bytes(8))))
    assert not isinstance(failures, Verdict)
    assert failures[0].code == "MKS2120"
    assert failures[0].details == (
        ("expected", "state_ready"),
        ("got", "state 2"),
        ("expected", "opaque 0001020304050607"),
        ("got", "opaque 0000000000000000"),
    )


def test_what_query_and_destroy_return_is_judged() -> None:
    query, destroy = one(PLAIN, "query d is state_ready"), one(PLAIN, "destroy d")
    assert (told(query), told(query, Odd(EINVAL))) == (["pass"], ["MKS2001:10"])
    assert (told(destroy), told(destroy, Odd(EINVAL))) == (["pass"], ["MKS2001:10"])
    claimed = one(PLAIN, "query d is state_ready as q", "    rejected at query with EINVAL", "expect q.errno == EINVAL")
    assert (told(claimed), told(claimed, Odd(EINVAL))) == (["MKS2002:10"], ["pass"])
    kept = one(PLAIN, "destroy d as g", "    rejected at destroy with EBUSY", "expect g.errno == EBUSY")
    assert (told(kept), told(kept, Odd(EINVAL))) == (["MKS2002:10"], ["pass"])


def test_the_attributes_as_they_reach_the_device() -> None:
    device = Odd(DekState(0, bytes(8)))
    but = "dek e, but key_size 7, but key_purpose 2, but comp_mask 9 { key fill(1, 32) }"
    lines = (
        "pd p",
        PLAIN,
        "dek f { key fill(1, 64); opaque counter(8); pd p }",
        but,
        "    rejected at create with EINVAL",
    )
    assert told(one(*lines), device) == ["pass"]
    assert device.seen[0] is None
    plain, bent = device.seen[1:]
    assert plain is not None
    assert plain.pd is not None
    assert plain.opaque == OPAQUE
    assert (plain.key_size, plain.key_purpose, plain.comp_mask) == (None, 0, 1)
    assert bent == DekAttr(bytes(8), 7, 2, 9)
