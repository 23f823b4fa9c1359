"""A `let` of a place is its bytes at that moment where bytes are wanted, and the place where a place is."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec import plan
from mkeyspec.run.verdict import CaseFailed
from mkeyspec.value.bytestring import Counter, Fill
from mkeyspec.value.layout import List, Part
from mkeyspec.value.live import LiveContent
from tests.compiler.statements.lower_text import compiled, rows, steps
from tests.run.fixtures import rig, run

BACK = """
    memory m = counter(64)
    mkey k
    configure k { access local_write; layout list(m) }
    let o = m
    store m = fill(0x11, 64)
    receive o into k by recv
    expect m == o
"""


def last_expect(body: str) -> plan.Expect:
    return [step for step in steps(body) if isinstance(step, plan.Expect)][-1]


def test_the_bytes_are_those_at_the_let() -> None:
    found = steps(BACK)
    assert [step.data for step in found if isinstance(step, plan.Receive)] == [Counter(64)]
    assert last_expect(BACK).expected == Counter(64)
    assert not any(isinstance(step, plan.Snapshot) for step in found)


def test_a_device_that_moves_nothing_is_seen() -> None:
    tested, device = rig()
    assert run(tested, *rows(BACK)[0].steps).status == "pass"

    def put_back(_: Any) -> None:
        for memory, start, data in device.named("write"):
            if data == bytes([0x11]) * 64:  # `store` has happened: what was there before the transfer
                device.device.write(memory, start, data)

    device.after_post = put_back
    with pytest.raises(CaseFailed):
        run(tested, *rows(BACK)[0].steps)


def test_the_place_is_still_the_place() -> None:
    found = steps(
        """
        memory m = counter(64)
        let o = m
        let tail = o[32..]
        mkey k
        configure k { access local_write; layout list(o, tail) }
        store o = fill(1, 64)
        transmit k by send
        expect wire == m ++ m[32..]
        expect o == m
        expect tail == fill(1, 32)
        """
    )
    assert [step.setters[1] for post in found if isinstance(post, plan.Post) for step in post.requests] == [  # type: ignore[union-attr]
        plan.SetLayout(List((Part("m", 0, 64), Part("m", 32, 32))))
    ]
    assert [step.to for step in found if isinstance(step, plan.Store)] == [Part("m", 0, 64)]
    observed = [step.observed for step in found if isinstance(step, plan.Expect)]
    assert observed[1:] == [plan.Content((Part("m", 0, 64),), "o"), plan.Content((Part("m", 32, 32),), "tail")]


def test_parts_and_lists_and_other_lets_keep_the_moment() -> None:
    body = """
        memory m = counter(64)
        memory n = fill(7, 4)
        let o = m[8 +: 16]
        let halves = [o, n]
        store m = fill(1, 64)
        store n = fill(2, 4)
        let p = halves[0][4 +: 4] ++ halves[1]
        let q = o
        expect m[0 +: 8] == p
        expect m[0 +: 16] == q
    """
    first, second = [step.expected for step in steps(body) if isinstance(step, plan.Expect)]
    assert first.data == Counter(64).data[12:16] + bytes([7]) * 4  # type: ignore[union-attr]
    assert second.data == Counter(64).data[8:24]  # type: ignore[union-attr]


WIRES = """
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    let first = wire
    store m = fill(1, 64)
    transmit k by send
    expect first == counter(64)
    expect wire == fill(1, 64)
"""


def test_wire_is_the_wire_of_that_moment() -> None:
    found = steps(WIRES)
    assert [step.label for step in found if isinstance(step, plan.Transmit)] == ["first", None]
    observed = [step.observed for step in found if isinstance(step, plan.Expect)]
    assert observed == [plan.Wire(64, 0, "first"), plan.Wire(64)]
    assert run(rig()[0], *found).status == "pass"


def test_bytes_that_the_rig_alone_knows_are_taken_when_the_case_runs() -> None:
    body = """
        memory m = counter(64)
        mkey k
        configure k { access local_write | remote_read; layout list(m) }
        transmit k by send
        let first = wire
        let rest = wire[8..]
        transmit k by write
        expect wire == first
        expect wire[8..] == rest
        expect wire[16 +: 8] == rest[8 +: 8]
        expect wire[0 +: 4] == any
    """
    found = steps(body)
    snapshots = [step for step in found if isinstance(step, plan.Snapshot)]
    assert [(one.name, one.observed) for one in snapshots] == [
        ("first", plan.Wire(64, 0, "first")),
        ("rest", plan.Wire(56, 8, "first")),
    ]
    order = [type(step).__name__ for step in found]
    assert order[order.index("Transmit") :] == ["Transmit", "Snapshot", "Snapshot", "Transmit"] + 4 * ["Expect"]
    expected = [step.expected for step in found if isinstance(step, plan.Expect)]
    assert expected[:3] == [LiveContent("first", 64), LiveContent("rest", 56), LiveContent("rest", 8, 8)]
    assert run(rig()[0], *found).status == "pass"


def test_a_canary_can_be_kept_and_found_again() -> None:
    body = """
        memory m[8]
        let before = m
        store m = fill(0, 8)
        store m = before
        expect m == before
    """
    found = steps(body)
    assert [type(step).__name__ for step in found] == ["Memory", "Snapshot", "Store", "Store", "Expect"]
    assert run(rig()[0], *found).status == "pass"
    wrong = [step for step in found if step != plan.Store(found[3].at, Part("m", 0, 8), LiveContent("before", 8))]
    with pytest.raises(CaseFailed):
        run(rig()[0], *wrong)


def test_what_must_be_known_before_it_runs_is_refused() -> None:
    _, found = compiled(
        """
        memory m[64]
        mkey k
        configure k { access local_write; layout list(m) }
        let o = m
        receive o into k by recv
        expect m == any
        """
    )
    assert [d.code for d in found if d.severity == "error"] == ["MKS0320"]


def test_a_let_in_a_branch_is_taken_there() -> None:
    both = rows(
        """
        for late in yes, no
        memory m = counter(8)
        let o = m
        if late { store m = fill(5, 8) }
        let p = m
        store m = hex"0102030405060708"
        expect m[0 +: 8] != p
        expect m[0 +: 8] != o
        """
    )
    expected = [[step.expected for step in row.steps if isinstance(step, plan.Expect)] for row in both]
    assert expected == [[Fill(5, 8), Counter(8)], [Counter(8), Counter(8)]]


def test_what_a_request_has_written_is_taken_when_the_case_runs() -> None:
    body = """
        memory m = counter(64)
        mkey k
        configure k { access local_write; layout list(m) }
        receive fill(7, 64) into k by recv
        let o = m
        transmit k by send
        expect wire == o
        expect m == fill(7, 64)
    """
    found = steps(body)
    assert [step.expected for step in found if isinstance(step, plan.Expect)] == [LiveContent("o", 64), Fill(7, 64)]
    assert run(rig()[0], *found).status == "pass"


def test_a_for_that_uses_such_bytes_does_so_in_each_row() -> None:
    """The values of a `for` are evaluated once, in its first row; all of its rows take the bytes."""
    body = """
        memory m = counter(64)
        mkey k
        configure k { access remote_write | local_write; layout list(m) }
        transmit k by send
        let first = wire
        for there in a: first ++ fill(0, 8), b: first ++ fill(1, 8)
        memory n[72]
        store n = there
        expect n == there
    """
    found = rows(body)
    assert len(found) == 2
    for row in found:
        assert [step.name for step in row.steps if isinstance(step, plan.Snapshot)] == ["first"]
        tested, _ = rig()
        assert run(tested, *row.steps).status == "pass"
