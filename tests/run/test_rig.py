"""The rig's own promises: needs, verdicts, health, what becomes of a case that ends early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from errno import EIO
from typing import Any

import pytest

from mkeyspec import plan
from mkeyspec.device import protocol
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Qp, QpAttributes, QpPair, Refused, Unsupported
from mkeyspec.plan import (
    Comparison,
    Content,
    Expect,
    Known,
    Lacks,
    Memory,
    Post,
    RawWqe,
    Record,
    Rejected,
    Transmit,
    Wire,
)
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import Blocked, CaseFailed, CaseInfo
from mkeyspec.value.bytestring import Counter, Literal
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Live
from tests.run.fixtures import SIGNALED, at, codes, content, failures, generating, plain, rig, run, transmit, wire
from tests.run.text import one, told


def test_a_right_device_passes_and_goes_back_to_the_pool() -> None:
    tested, device = rig()
    verdict = run(tested, *generating())
    assert (verdict.status, verdict.failures, device.released) == ("pass", [], [True])


LACKING = Profile(without=("memcpy", "crypto", "raw_wqe"))


def test_unmet_needs_are_all_listed() -> None:
    tested, _ = rig(profile=LACKING)
    needs = ("memcpy", "block_signature", Comparison(Live("device", "max_wr_memcpy_length"), ">=", 4096), "crypto")
    assert tested.begin(CaseInfo("a", "a.mks", (), needs)) == [
        "memcpy",
        "device.max_wr_memcpy_length >= 4096 (it is 0)",
        "crypto",
    ]
    assert tested.unmet((Comparison(Live("device", "nothing"), ">", 0),)) == ["device.nothing (unknown to this device)"]


def test_what_a_case_needs_to_be_lacking() -> None:
    tested, _ = rig(profile=LACKING)
    assert tested.unmet((Lacks("memcpy"), Lacks("block_signature"))) == ["not block_signature (the device offers it)"]
    assert tested.unmet((Lacks("memcpy"), Lacks("crypto"))) == []


def test_a_lack_of_what_the_profile_requires_fails() -> None:
    tested, _ = rig(profile=replace(LACKING, require=("crypto",)))
    assert tested.begin(CaseInfo("a", "a.mks", (), ("memcpy",))) == ["memcpy"]
    with pytest.raises(CaseFailed, match="the device lacks crypto") as failed:
        tested.begin(CaseInfo("b", "a.mks", (), ("memcpy", "crypto")))
    assert [failure.code for failure in failed.value.failures] == ["MKS2009"]


def refusing_raw(device: Any) -> Callable[..., int]:
    """`post` of a device that cannot post a raw WQE."""
    post: Callable[..., int] = device.post

    def refuse(qp: Any, requests: Any, **rest: Any) -> int:
        if any(isinstance(request, protocol.RawWqe) for request in requests):
            raise Unsupported("a raw WQE")
        return post(qp, requests, **rest)

    return refuse


def test_a_step_that_the_device_offered_and_lacks_ends_the_case() -> None:
    """What it lacks, it has to say before the row begins: a skip here would hide a device that offers too much."""
    tested, device = rig()
    device.post = refusing_raw(device)
    assert codes(tested, Post(at(2), (RawWqe(at(2), Literal(b"\0" * 64), SIGNALED),)), *plain()) == ["MKS2013"]
    assert device.released == [False, True], "of the case, of the canary"
    assert tested.verdict.not_run == [at(2), at(3), at(4)]


def test_a_lack_does_not_hide_a_failure() -> None:
    tested, device = rig()
    device.post = refusing_raw(device)
    with pytest.raises(CaseFailed):
        run(tested, *plain(), transmit(), wire(Literal(b"\0" * 64)), Post(at(9), (RawWqe(at(9), Literal(b"\0")),)))


def test_what_follows_a_hard_failure_is_told_not_run_and_soft_failures_stay() -> None:
    tested, device = rig()
    with pytest.raises(CaseFailed) as failed:
        run(
            tested,
            *plain(),
            content("m", Literal(b"\1" * 64), line=5),
            Transmit(at(6), Part("k", 60, 64), "send"),
            wire(Counter(64), line=7),
            Record(at(8), "seen", Live("k", "max_entries")),
        )
    assert [failure.code for failure in failed.value.failures] == ["MKS2102", "MKS2005"]
    assert tested.verdict.not_run == [at(7)]
    assert tested.verdict.records == {"seen": "4"}, "records are collected whatever happened"
    assert "not run   1 statement: 7:5" in str(failed.value)
    assert device.released == [False, True]


def test_a_dead_device_is_told_with_its_traceback_and_blocks_what_follows() -> None:
    tested, device = rig()
    device.dead = BrokenPipeError(32, "Broken pipe")
    with pytest.raises(CaseFailed) as failed:
        run(tested, *plain(), id="a.mks::culprit")
    assert [failure.code for failure in failed.value.failures] == ["MKS2007"]
    assert "BrokenPipeError" in str(failed.value)
    for _ in range(2):
        with pytest.raises(Blocked, match=r"MKS2008.*a\.mks::culprit.*BrokenPipeError"):
            tested.begin(CaseInfo("next", "a.mks"))


def test_after_a_failure_a_healthy_device_goes_on() -> None:
    tested, device = rig()
    with pytest.raises(CaseFailed):
        run(tested, *plain(), transmit(), wire(Literal(b"\0" * 64)))
    assert [type(args[1][0]).__name__ for args in device.named("post")][-2:] == ["Write", "Write"], "the canary"
    device.calls.clear()
    run(tested, *generating())
    posted = [type(args[1][0]).__name__ for args in device.named("post")]
    assert posted == ["Configure", "Send", "Send"], "a marker, and no canary after a pass"


def sick(device: Any) -> None:
    """From now on the canary transfer arrives changed, and nothing else does."""
    device.sick = True
    device.after_post = lambda qp: device.flip(-1, 256) if device.memories[-1].length == 512 else None


def test_a_canary_that_arrives_changed_blocks() -> None:
    tested, device = rig()
    sick(device)
    with pytest.raises(CaseFailed, match=r"device    not healthy after this case: .*arrived changed") as failed:
        run(tested, *plain(), transmit(), wire(Literal(b"\0" * 64)), id="culprit")
    assert [failure.code for failure in failed.value.failures] == ["MKS2101"], "one fault is reported once"
    assert not failed.value.is_judged, "no waiver and no level excuses a device that is broken afterwards"
    with pytest.raises(Blocked, match=r"culprit.*arrived changed"):
        tested.begin(CaseInfo("next", "a.mks"))
    verdict = tested.verdict
    assert (verdict.status, verdict.blocked_by) == ("blocked", "culprit")
    assert "arrived changed" in verdict.reason


def test_a_known_departure_that_breaks_the_device_fails() -> None:
    """MKS2206: a departure that is listed excuses what it says, not a device that is broken afterwards."""
    tested, device = rig(expectations=Expectations({"X-DIFF-08": ("driver.toml", "is too strict")}))
    sick(device)
    other = Expect(at(6), Wire(64), "==", Literal(b"\0" * 64), Known("X-DIFF-08", None, plan.Any()))
    with pytest.raises(CaseFailed) as failed:
        run(tested, *plain(), transmit(), other, id="culprit")
    assert [failure.code for failure in failed.value.failures] == ["MKS2206"]
    assert tested.verdict.known == ["X-DIFF-08"]
    with pytest.raises(Blocked, match="culprit"):
        tested.begin(CaseInfo("next", "a.mks"))


def test_what_the_device_withholds_and_breaks_blocks_what_follows() -> None:
    tested, device = rig()
    sick(device)
    device.post = refusing_raw(device)
    assert codes(tested, Post(at(2), (RawWqe(at(2), Literal(b"\0" * 64), SIGNALED),))) == ["MKS2013"]
    assert tested.blocked is not None


DEAD = """
case ends_at_the_qp
    verifies WRP-01
    qp q { max_send_wr 4096 }
        accepted or rejected at create
"""


def test_a_dead_device_refuses_too() -> None:
    """A case that ends at a refusal that it allows has seen nothing of the device: the canary transfer does."""
    device = Refusing(Profile())
    assert told(DEAD, device) == ["pass"], "a QP that is too large"
    device.dead = True
    assert told(DEAD, device) == ["MKS2206:4"]


ADMITTED = {
    "complete": ("post as t { write m to w; write m to w }", "    accepted or rejected at complete", "expect w == any"),
    "query": ("dek d { key counter(32) }", "query d is state_ready", "    accepted or rejected at query"),
    "destroy": ("mkey j", "destroy j", "    accepted or rejected at destroy"),
}


@pytest.mark.parametrize("phase", ADMITTED)
def test_a_refusal_that_was_only_allowed_shows_nothing_of_the_device(phase: str) -> None:
    assert told(one(*ADMITTED[phase]), Dying(phase, dead=False)) == ["pass"]
    assert told(one(*ADMITTED[phase]), Dying(phase, dead=True)) == ["MKS2206:3"]


class Dying(Model):
    """Refuses one kind of call, and from then on (`dead`) each canary."""

    def __init__(self, phase: str, dead: bool) -> None:
        self.phase, self.dead, self.refused = phase, dead, False
        super().__init__(Profile())

    def _refuse(self, phase: str, call: str) -> None:
        if phase == self.phase:
            self.refused = True
            raise Refused(call, EIO)

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        if self.phase == "complete" and len(requests) == 2:
            self.refused = True
            return EIO
        canary = isinstance(requests[0], protocol.Write) and requests[0].wr_id in (1, 2)
        return EIO if self.dead and self.refused and canary else super().post(qp, requests, abort=abort)

    def query_dek(self, dek: protocol.Dek) -> protocol.DekState:
        self._refuse("query", "mlx5dv_dek_query")
        return super().query_dek(dek)

    def destroy(self, mkey: protocol.Mkey) -> None:
        self._refuse("destroy", "mlx5dv_destroy_mkey")
        super().destroy(mkey)


class Refusing(Model):
    dead = False

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        if self.dead or attributes.max_send_wr == 4096:
            raise Refused("ibv_create_qp", EIO)
        return super().qp_pair(attributes)

    def post(self, qp: Qp, requests: Any, *, abort: bool = False) -> int:
        return 0 if self.dead else super().post(qp, requests, abort=abort)


def test_a_test_function_without_a_step_passes() -> None:
    tested, _ = rig()
    assert run(tested).status == "pass"


def test_a_test_function_that_never_finished_is_cleaned_up() -> None:
    tested, device = rig()
    tested.begin(CaseInfo("left", "a.mks"))
    tested.step(Memory(at(2), "m", 64))
    assert run(tested, *generating()).status == "pass"
    assert device.released[0] is False


def refusing_release(device: Any, times: int) -> None:
    """The first `times` calls of `release` raise."""
    release = device.release

    def refuse(*, healthy: bool) -> None:
        nonlocal times
        times -= 1
        if times >= 0:
            raise OSError(16, "Device or resource busy")
        release(healthy=healthy)

    device.release = refuse


def test_what_can_not_be_given_back_fails_the_case_that_made_it() -> None:
    tested, device = rig()
    refusing_release(device, 1)
    with pytest.raises(CaseFailed, match="Device or resource busy") as failed:
        run(tested, *plain(), id="culprit")
    assert [(failure.code, failure.at) for failure in failed.value.failures] == [("MKS2205", plan.At(1, 1))]
    assert run(tested, *plain()).status == "pass", "the canary gave it back and went through"


def test_a_device_that_gives_nothing_back_is_the_culprits_failure_and_blocks() -> None:
    tested, device = rig()
    refusing_release(device, 100)
    with pytest.raises(CaseFailed, match="MKS2205"):
        run(tested, *plain(), id="culprit")
    with pytest.raises(Blocked, match=r"culprit.*busy"):
        tested.begin(CaseInfo("next", "a.mks"))


def test_a_known_departure_does_not_excuse_a_release_that_fails() -> None:
    tested, device = rig(expectations=Expectations({"X-DIFF-08": ("driver.toml", "is too strict")}))
    refusing_release(device, 1)
    other = Expect(at(6), Wire(64), "==", Literal(b"\0" * 64), Known("X-DIFF-08", None, plan.Any()))
    with pytest.raises(CaseFailed, match="MKS2205"):
        run(tested, *plain(), transmit(), other)


def test_after_a_failure_a_release_that_fails_is_told_too() -> None:
    tested, device = rig()
    refusing_release(device, 1)
    with pytest.raises(CaseFailed) as failed:
        run(tested, *plain(), transmit(), wire(Literal(b"\0" * 64)))
    assert [failure.code for failure in failed.value.failures] == ["MKS2101", "MKS2205"]


def test_records_of_bytes_truth_and_what_was_never_seen() -> None:
    tested, _ = rig()
    verdict = run(
        tested,
        *plain(128),
        Record(at(5), "early", Wire(128)),
        transmit(128),
        wire(Counter(128)),
        Record(at(7), "first", Content((Part("m", 0, 4),), "m")),
        Record(at(7), "long", Content((Part("m", 0, 128),), "m")),
        Record(at(8), "equal", Wire(128), "==", Counter(128)),
        Record(at(9), "other", Wire(128), "!=", Counter(128)),
        Record(at(9), "lost", Live("nobody", "byte_len")),
    )
    assert verdict.records == {
        "first": "00010203",
        "long": bytes(range(64)).hex() + "… (128 bytes)",
        "equal": "yes",
        "other": "no",
    }


def test_a_live_member_that_there_is_not_is_an_error() -> None:
    tested, _ = rig()
    assert codes(tested, *plain(), Expect(at(5), Live("k", "wqe"), "==", 1)) == ["MKS2111"]


def test_a_number_that_the_device_does_not_tell_any_more() -> None:
    tested, _ = rig()
    (failure,) = failures(tested, *plain(), Expect(at(5), Live("device", "crypto_engines"), "==", 1))
    assert (failure.code, failure.message[-32:]) == ("MKS2013", "device.crypto_engines is unknown")


def test_no_step_without_a_case() -> None:
    tested = Rig(Model(), Profile(), Expectations())
    with pytest.raises(RuntimeError):
        tested.step(Memory(at(1), "m", 1))
    with pytest.raises(RuntimeError):
        tested.finish()


def test_the_refusals_that_were_seen_are_kept_for_reports() -> None:
    tested, _ = rig()
    bad = Transmit(at(5), Part("k", 60, 64), "send", claim=(Rejected("completion", "local_protection"),))
    assert run(tested, *plain(), bad).statuses == [(at(5), "completion", "loc_prot_err")]


def test_unsupported_is_not_swallowed_as_a_death() -> None:
    tested, device = rig()
    memory = device.memory

    def lacking(side: Any, length: int, **options: Any) -> Any:
        if length != 512:  # the canary's
            raise Unsupported("nothing works")
        return memory(side, length, **options)

    device.memory = lacking
    (failure,) = failures(tested, *plain())
    assert (failure.code, failure.message) == ("MKS2013", "the device lacks what it offers: nothing works")
    assert ("needs", "nothing that a device may lack") in failure.details


def test_each_step_and_each_wait_tells_that_calls_come_back() -> None:
    """A case may take longer than any of its calls: the watchdog looks at what is between two of these."""
    tested, device = rig(deadline=0.2)
    told: list[int] = []
    tested.alive = lambda: told.append(len(device.calls))
    steps = (*plain(), transmit(), wire(Counter(64)))
    run(tested, *steps)
    at_once = len(told)
    assert at_once >= len(steps)
    device.delay(300e-6)
    run(tested, *steps)
    assert len(told) >= 2 * at_once + 2, "and two waits"
