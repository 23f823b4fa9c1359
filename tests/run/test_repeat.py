"""A `repeat`: a failure says its turn, a turn has labels of its own, none comes after a failure that ends the case."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec import plan
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Mkey, Refused
from mkeyspec.run.diagnosis import render
from mkeyspec.run.verdict import CaseFailed, CaseInfo, Failure, Verdict
from mkeyspec.value.bytestring import Fill
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Live
from tests.run.fixtures import failures, rig, run
from tests.run.text import compiled, one, told, verdicts


def steps(*lines: str) -> tuple[plan.Step, ...]:
    return compiled(one(*lines))[0].rows[0].steps


TRANSFERS = (
    "repeat 100 as i {",
    "    store m[0 +: 8] = fill(i, 8)",
    "    transmit k by send as t",
    "    expect wire == m",
    "    expect t.status == success",
    "}",
)


class WrongOnce(Model):
    """Data of one of its transfers are wrong in the first byte that the peer gets."""

    def __init__(self, wrong: int) -> None:
        super().__init__(Profile())
        self.left = wrong

    def poll(self, qp: Any) -> Any:
        found = super().poll(qp)
        for completion in found:
            if completion.queue == "recv":
                self.left -= 1
                if self.left == 0:
                    memory = self.last
                    self.write(memory, 64, bytes([255]))
        return found

    def memory(self, *arguments: Any, **options: Any) -> Any:
        self.last = super().memory(*arguments, **options)
        return self.last


def test_all_turns_are_carried_out() -> None:
    posted = [step for step in steps(*TRANSFERS) if isinstance(step, plan.Transmit)]
    assert [step.at.turn.number for step in posted if step.at.turn is not None] == list(range(1, 101))
    assert told(one(*TRANSFERS, "expect m[0 +: 8] == fill(100, 8)")) == ["pass"]


@pytest.mark.parametrize("turn", [1, 37, 100])
def test_a_failure_says_its_turn(turn: int) -> None:
    [found] = verdicts(one(*TRANSFERS), WrongOnce(turn))
    assert not isinstance(found, Verdict)
    assert [(failure.code, failure.at.line) for failure in found] == [("MKS2101", 12)]
    assert found[0].message.endswith(f" (in turn {turn} of 100)")
    text = render(CaseInfo("a.mks::a", "a.mks"), Verdict("fail", list(found)), lambda id: None)
    assert text.startswith(f"a.mks:12:9: error[MKS2101]: {found[0].message}\n")


def test_a_failed_expectation_does_not_end_the_turns() -> None:
    lines = ("repeat 5 as i {", "    transmit k by send", "    expect wire == pick(i % 2 == 0, fill(9, 64), m)", "}")
    [found] = verdicts(one(*lines))
    assert not isinstance(found, Verdict)
    assert [failure.message[-16:] for failure in found] == [" (in turn 2 of 5)"[1:], "(in turn 4 of 5)"]


LEAK = (
    "repeat 100 {",
    "    mkey o",
    "    configure o { access local_write; layout list(m) }",
    "    transmit o by send",
    "    expect wire == m",
    "    destroy o",
    "}",
    "expect m == fill(1, 64)",
)


def test_what_a_device_never_gives_back_is_found_in_the_turn_that_lacks_it() -> None:
    tested, device = rig()
    made: list[Mkey] = []
    straight = device.mkey

    def mkey(*arguments: Any, **options: Any) -> Mkey:
        if len(made) > 20:
            raise Refused("mlx5dv_create_mkey", 12)
        made.append(straight(*arguments, **options))
        return made[-1]

    device.mkey = mkey
    with pytest.raises(CaseFailed) as failed:
        run(tested, *steps(*LEAK))
    assert [(one.code, one.at.line, one.hard) for one in failed.value.failures] == [("MKS2001", 10, True)]
    assert "(in turn 21 of 100)" in failed.value.text


def test_after_a_failure_that_ends_the_case_there_is_no_turn() -> None:
    """The rest of the turn is not run, then the `repeat`, then what is below it."""
    tested, _ = rig()
    numbers: list[int] = []
    assert tested.begin(CaseInfo("a.mks::a", "a.mks")) == []
    for turn in tested.repeat(plan.At(9, 5), 100, wanted=(64, 65)):
        numbers.append(turn.number)
        tested.step(plan.Memory(turn.at(10, 9), f"m{turn.number}", 64))
        if turn.number == 3:
            tested.step(plan.Destroy(turn.at(11, 9), "none"))
            tested.step(plan.Store(turn.at(12, 9), Part("m1", 0, 4), Fill(1, 4)))
    tested.step(plan.Store(plan.At(14, 5), Part("m1", 0, 4), Fill(1, 4)))
    with pytest.raises(CaseFailed):
        tested.finish()
    assert numbers == [1, 2, 3]
    assert list(map(str, tested.verdict.not_run)) == ["12:9 in turn 3", "9:5", "14:5"]


def test_a_column_goes_on_with_its_last_value() -> None:
    tested, _ = rig()
    assert tested.begin(CaseInfo("a.mks::a", "a.mks")) == []
    seen = [
        (turn.number, turn.size, turn.step)
        for turn in tested.repeat(plan.At(1, 1), 4, size=(8, 9), step=range(0, 12, 3))
    ]
    assert seen == [(1, 8, 0), (2, 9, 3), (3, 9, 6), (4, 9, 9)]
    with pytest.raises(AttributeError, match="turn 1 has no column 'other'"):
        next(tested.repeat(plan.At(1, 1), 1)).other  # noqa: B018


def test_a_label_is_of_its_turn() -> None:
    """In the second turn the status is that of its own request; nothing of the first is left in the label."""
    lines = (
        "repeat 2 as i {",
        "    if i == 1 {",
        "        post as t { write k[0 +: 8] to w, signaled }",
        "        expect t.status == success",
        "    } else {",
        "        post as u { write k[0 +: 8] to w, signaled, but rkey 5 }",
        "            rejected at completion with remote_access",
        "        expect u.status == remote_access",
        "        expect w[0 +: 8] == any",
        "    }",
        "}",
    )
    assert told(one(*lines)) == ["pass"]
    tested, _ = rig()
    found: list[Failure] = failures(tested, *steps(*lines)[:-1], *unlabelled(steps(*lines)[-2]))
    assert [failure.code for failure in found] == ["MKS2105"]


def unlabelled(step: plan.Step) -> tuple[plan.Step, ...]:
    """An expectation of the second turn that looks at the label of the first."""
    assert isinstance(step, plan.Expect)
    return (plan.Expect(step.at, Live("t", "status"), "==", "success"),)


def test_the_same_wr_id_in_each_turn() -> None:
    lines = (
        "repeat 3 {",
        "    post, nowait { write m[0 +: 8] to w, signaled, id 7 }",
        "}",
        "poll completes { rdma_write, id 7; rdma_write, id 7; rdma_write, id 7 }",
        "expect w[0 +: 8] == m[0 +: 8]",
    )
    assert told(one(*lines)) == ["pass"]
    fewer = [line.replace("; rdma_write, id 7 }", " }") for line in lines]
    assert told(one(*fewer)) == ["MKS2005:12"]


def test_a_record_keeps_the_last_turn() -> None:
    lines = (
        "repeat 3 as i {",
        "    store m[0 +: 4] = be32(i)",
        "    record n = be32_at(m, 0)",
        "}",
        "expect m == unchanged",
    )
    [found] = verdicts(one(*lines))
    assert isinstance(found, Verdict)
    assert list(found.records) == ["n"]
    assert found.records["n"].startswith("3")
