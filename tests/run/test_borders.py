"""Small functions of the rig at the borders of what they decide."""

from __future__ import annotations

import errno
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.protocol import Qp, Refused
from mkeyspec.run import distinct, surroundings
from mkeyspec.run.buffer import Beyond, inside
from mkeyspec.run.drawing import WIDEST, Cell, Drawing
from mkeyspec.run.endpoint import other_qp
from mkeyspec.run.expectations import compare_scalars
from mkeyspec.run.granted import Less
from mkeyspec.run.surroundings import Surroundings
from mkeyspec.run.verdict import CaseFailed
from mkeyspec.value.bytestring import Counter, Literal
from tests.run.fixtures import plain, rig, run, transmit, wire

BUFFER: Any = SimpleNamespace(name="m", addr=1000, length=64)
STATE: Any = None


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
@pytest.mark.parametrize(("value", "wanted"), [("a", 3), (3, "a"), ("a", "b")])
def test_words_have_no_order(value: Any, operator: str, wanted: Any) -> None:
    assert not compare_scalars(STATE, value, operator, wanted)


@pytest.mark.parametrize(
    ("addr", "length", "meant", "text"),
    [
        (1000, 64, False, None),
        (1000, 65, False, "ends 1 bytes after the end of `m`, which has 64"),
        (1060, 24, False, "ends 20 bytes after the end of `m`, which has 64"),
        (999, 1, False, "begins 1 bytes before `m`"),
        (900, 0, False, None),
    ],
)
def test_where_bytes_are_outside_of_a_buffer(addr: int, length: int, meant: bool, text: str | None) -> None:
    if text is None:
        inside(BUFFER, addr, length, meant=meant)
    else:
        with pytest.raises(Beyond, match=text):
            inside(BUFFER, addr, length, meant=meant)


def memory(handle: int, lkey: int, rkey: int) -> Any:
    return SimpleNamespace(handle=handle, lkey=lkey, rkey=rkey, side="owner")


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (memory(1, 0x300, 0x300), "`n` is `m`: the device gave one object twice"),
        (memory(2, 0x100, 0x100), "`n` has the index of the key of `m`, 0x1 in its lkey"),
        (memory(2, 0x300, 0x142), "`n` has the index of the key of `m`, 0x1 in its rkey"),
        (memory(2, 0x2FF, 0x2FF), None),
    ],
)
def test_a_buffer_that_the_case_has_already(made: Any, text: str | None) -> None:
    buffer = SimpleNamespace(name="m", memory=memory(1, 0x100, 0x100))
    state: Any = SimpleNamespace(all_buffers=lambda: [buffer], mkeys={})
    if text is None:
        distinct.new_memory(state, "n", made)
    else:
        with pytest.raises(Less, match=text):
            distinct.new_memory(state, "n", made)


@pytest.mark.parametrize(
    ("named", "text"),
    [
        (Qp(1, "owner", 0x111, 0), ""),
        (Qp(1, "owner", 0x112, 64), "names QP 0x112 and came from 0x111"),
        (Qp(1, "peer", 0x111, 64), "names QP 0x111 of the peer and came from that of the owner"),
        (Qp(2, "owner", 0x111, 64), "names a QP with the handle 2 and came from 1, both of number 0x111"),
    ],
)
def test_what_tells_a_qp_from_another(named: Qp, text: str) -> None:
    assert other_qp(named, Qp(1, "owner", 0x111, 64)) == text


def test_memory_that_only_others_may_write() -> None:
    """ibv_reg_mr(3): remote_write and remote_atomic need local_write."""
    device = Model()
    for access in (2, 8, 14):
        with pytest.raises(Refused) as refused:
            device.memory("peer", 64, access=access)
        assert refused.value.errno == errno.EINVAL
        device.memory("peer", 64, access=access | 1)
    device.memory("peer", 64, access=4)


def test_a_rest_takes_its_time() -> None:
    for wait in (Surroundings().rest, Surroundings().pause):
        began = monotonic()
        wait(0.01)
        assert monotonic() - began >= 0.01


def test_nothing_is_waited_for_on_a_device_that_is_immediate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "sleep", lambda seconds: pytest.fail(f"slept for {seconds} s"))
    around = Surroundings(Model())
    began = around.now()
    around.rest(5.0)
    around.pause(5.0)
    assert around.now() - began >= 10


def test_a_changed_model_may_be_late() -> None:
    """A class of devices that inherits from the model says nothing of itself."""
    assert not Surroundings(type("Late", (Model,), {})()).immediate
    assert not Surroundings(object()).immediate


@pytest.mark.parametrize("size", range(2, 40, 3))
@pytest.mark.parametrize("after", [True, False])
def test_a_drawing_is_never_wider_than_a_page(size: int, after: bool) -> None:
    cells = tuple(Cell("m" * size, "k" * (size % 7), "w" * (size // 2), number == 1) for number in range(40))
    lines = Drawing("k", "mem", cells, False, after).lines()
    assert max(map(len, lines)) <= WIDEST
    shown = lines[0].count("m" * size)
    assert 1 <= shown < len(cells)
    assert max(map(len, lines)) + size + 3 > WIDEST - 3, "one more would have had room"


def test_the_size_of_a_row_counts_each_request() -> None:
    tested, _ = rig()
    with pytest.raises(CaseFailed):
        run(tested, *plain(), transmit(), wire(Counter(64)), transmit(line=8), wire(Literal(bytes(64)), 9))
    assert tested.verdict is not None
    assert tested.verdict.size == {"requests": 3, "entries": 1, "bytes": 3 * 64}  # m, and a wire of each
