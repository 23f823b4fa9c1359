"""What is decided of a point, from sides that agree, disagree, fail, hang or crash."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from mkeyspec.calibrate.bench import Absent, Bench, Strange, Unknown
from mkeyspec.calibrate.engine import all_points, look_at
from mkeyspec.calibrate.point import AtLeast, Found, Point, Side
from mkeyspec.calibrate.worker import Opened, calibrate
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Device, Refused, Unavailable

SHOWS = {"a": "field", "b": "computed"}


def gives(value: object) -> Callable[[Bench], object]:
    return lambda bench: value


def raises(error: Exception) -> Callable[[Bench], object]:
    def look(bench: Bench) -> object:
        raise error

    return look


def sides(*looks: Callable[[Bench], object], shows: dict[Any, Any] | None = SHOWS, **more: Any) -> tuple[Side, ...]:
    return tuple(Side(f"side {number}", look, shows, **more) for number, look in enumerate(looks))


DECIDED = [
    # sides, confidence, value, what the reason says
    (sides(gives("a"), gives("a")), "sure", "field", ""),
    (sides(gives("b")), "single", "computed", ""),
    (sides(gives("a"), raises(Unknown("no completion came"))), "single", "field", ""),
    (sides(gives("a"), gives("b")), "contradicts", None, "sides disagree: side 0: a; side 1: b"),
    (sides(gives("a"), gives("c")), "contradicts", None, "not any choice: side 1: c"),
    (sides(gives("a"), raises(Strange("what is right ends with fatal_err"))), "contradicts", None, "fatal_err"),
    (sides(raises(Unknown("no completion came"))), "undecided", None, "no completion came"),
    (sides(raises(Refused("ibv_reg_mr", 12))), "undecided", None, "what the probe needs is refused: ibv_reg_mr"),
    (sides(raises(IndexError("3"))), "undecided", None, "the probe itself failed: IndexError: 3"),
    (sides(raises(Absent("it is not refused"))), "nothing", None, "it is not refused"),
    (sides(gives("a"), needs=("crypto.wrapped",)), "nothing", None, "the device lacks crypto.wrapped"),
    (sides(gives("a"), told=True), "told", "field", ""),
]


@pytest.mark.parametrize(("given", "confidence", "value", "reason"), DECIDED)
def test_what_is_decided(given: tuple[Side, ...], confidence: str, value: object, reason: str) -> None:
    found = look_at(Model(), Point("err_actual", given), 0.01, 0.0)
    assert (found.confidence, found.value) == (confidence, value)
    assert reason in found.reason
    assert bool(found.reason) == (not found.decided)


NUMBERS = [
    ((16, 16), "sure", 16),
    ((16, AtLeast(12)), "sure", 16),
    ((16, AtLeast(17)), "contradicts", None),
    ((AtLeast(17),), "undecided", None),
    ((16, 20), "contradicts", None),
    ((0, 0), "contradicts", None),  # no profile has it
]


@pytest.mark.parametrize(("seen", "confidence", "value"), NUMBERS)
def test_what_is_decided_of_a_number(seen: tuple[object, ...], confidence: str, value: object) -> None:
    found = look_at(Model(), Point("stride_bits", sides(*map(gives, seen), shows=None)), 0.01, 0.0)
    assert (found.confidence, found.value) == (confidence, value)


def test_each_side_begins_with_an_empty_device() -> None:
    def first(bench: Bench) -> str:
        return "a" if bench.mkey().handle == handle else "c"

    model = Model()
    handle = Bench(model, 0.01, 0.0).mkey().handle
    model.release(healthy=True)
    assert look_at(model, Point("err_actual", sides(first, first)), 0.01, 0.0).confidence == "sure"


# A process of its own ---------------------------------------------------------------------------


def hangs(bench: Bench) -> str:
    time.sleep(600)
    return "a"


def crashes(bench: Bench) -> str:
    os.kill(os.getpid(), 9)
    return "a"


def found_of(points: list[Point], longest: float = 5.0, opened: Callable[[], Device] = Model) -> list[Found]:
    told = list(calibrate(opened, 0.01, 0.0, longest, points))
    assert isinstance(told[0], Opened)
    assert not [one for one in told[1:] if isinstance(one, Opened)]
    return [one for one in told if isinstance(one, Found)]


def test_a_crash_costs_its_point_alone() -> None:
    bad, good = Point("err_actual", sides(gives("a"), crashes)), Point("err_actual", sides(gives("a")))
    assert [(one.confidence, one.reason) for one in found_of([good, bad, good])] == [
        ("single", ""),
        ("undecided", "side 1: its process ended with SIGKILL"),
        ("single", ""),
    ]


def test_a_call_that_does_not_return_costs_its_point_alone() -> None:
    bad, good = Point("err_actual", sides(hangs)), Point("err_actual", sides(gives("a")))
    began = time.monotonic()
    found = found_of([bad, good], 0.5)
    assert [(one.confidence, one.reason) for one in found] == [
        ("undecided", "side 0: no call returned within 0.5 s"),
        ("single", ""),
    ]
    assert time.monotonic() - began < 30


def test_after_three_ends_the_rest_is_not_looked_at() -> None:
    bad = Point("err_actual", sides(crashes))
    found = found_of([bad] * 5)
    assert [one.confidence for one in found] == ["undecided"] * 5
    assert found[4].reason == "not looked at: 3 processes had ended before it"


def ends() -> Device:
    os._exit(3)


def sleeps() -> Device:
    time.sleep(600)
    return Model()


def not_there() -> Device:
    raise Unavailable("MKS0919", "no pair")


def test_a_device_that_is_not_opened() -> None:
    good = [Point("err_actual", sides(gives("a")))]
    with pytest.raises(Unavailable, match=r"MKS0919.*no pair"):
        found_of(good, opened=not_there)
    with pytest.raises(Unavailable, match=r"MKS2012.*exit code 3"):
        found_of(good, opened=ends)
    with pytest.raises(Unavailable, match=r"MKS2010.*no call returned"):
        found_of(good, 0.3, opened=sleeps)


class Silent(Model):
    """No completion comes."""

    def poll(self, qp: Any) -> list[Any]:
        super().poll(qp)
        return []


def test_a_device_that_completes_nothing_decides_nothing_by_completions() -> None:
    """Nothing is found wrongly; what needs no completion is found."""
    default = Profile()
    found = list(all_points(Silent(), 0.002, 0.0))
    members = {one.key: one for one in found if hasattr(default, one.key)}
    assert all(one.value == getattr(default, one.key) for one in members.values() if one.decided)
    assert {"err_actual", "status_local", "recv_byte_len", "stride_bits"} <= {
        one.key for one in found if one.confidence == "undecided"
    }
    assert members["entries_rounding"].decided
    assert members["dci_mkey_operations"].decided
