"""Conditional faults: the observers change nothing, and a fault acts where its condition holds and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.model.key import ListLayout, StridedLayout
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import SigBlockAttr, SigBlockDomain, SigCrc
from mkeyspec.reference.crc import CRC32, crc_blocks
from mkeyspec.requirements.space import dimensions, spaces
from mkeyspec.sabotage.catalogue import UnknownFaultError, faults
from mkeyspec.sabotage.conditions import catalogue, parts
from mkeyspec.sabotage.conditions.condition import Condition, UnknownConditionError, parse
from mkeyspec.sabotage.conditions.facts import FACTS, Facts, fact
from mkeyspec.sabotage.conditions.moment import Moment
from mkeyspec.sabotage.conditions.parts import LEFT_OUT, conditional, faulty_parts, hooks, observed
from mkeyspec.sabotage.conditions.sample import drawn, wilson
from mkeyspec.sabotage.fault import FAULTY
from tests.quality import witnesses
from tests.quality.scenario import Scenario

BASES = [name for name in faults() if name not in LEFT_OUT]
NEVER = Condition("size", ">=", 1 << 60)


@dataclass(frozen=True, slots=True)
class Always(Condition):
    """Holds whatever the facts are."""

    def holds_for(self, fact: int | str) -> bool:
        return True

    def holds(self, facts: Facts) -> bool:
        return True


def test_every_dimension_is_a_fact() -> None:
    assert set(FACTS) == set(dimensions())


def test_every_fault_has_a_place_where_its_condition_is_looked_at() -> None:
    watched = {f"{place}.{name}" for place, one in parts.OBSERVERS.items() for name in vars(one)}
    for name in BASES:
        assert hooks(name), name
        assert hooks(name) <= watched, name
    assert set(LEFT_OUT) <= set(faults())


def test_observers_change_nothing() -> None:
    for seed in range(24):
        assert Scenario(observed(Profile(), Moment()), seed).run() == witnesses.right(seed)


@pytest.mark.parametrize("name", BASES[::7])
def test_a_fault_whose_condition_never_holds_is_none(name: str) -> None:
    assert Scenario(conditional(name, NEVER, Profile()), 3).run() == witnesses.right(3)


@pytest.mark.parametrize("name", [name for name in BASES[::7] if name in FAULTY and not FAULTY[name].profile])
def test_a_fault_whose_condition_always_holds_is_the_plain_one(name: str) -> None:
    plain = Scenario(FAULTY[name].make(Profile()), 3).run()
    assert Scenario(conditional(name, Always("service", "=", "rc"), Profile()), 3).run() == plain


# Blocks, entries -------------------------------------------------------------------------------


def _signed(model: Model, blocks: int) -> tuple[bytes, bytes]:
    """Data of some blocks of 512 bytes, and the wire bytes of a CRC32 of ones behind each."""
    domain = SigBlockDomain(1, SigCrc(0, 0xFFFFFFFF), 0)
    signature = model.arithmetic.signature(SigBlockAttr(None, domain, 0, 0xFF))
    data = np.arange(512 * blocks, dtype=np.uint32).astype(np.uint8)
    wire, _ = model.arithmetic.transmit(signature, data, 516 * blocks, 0)
    return data.tobytes(), wire.tobytes()


@pytest.mark.parametrize(
    ("condition", "wrong"), [("block>=2", {2, 3, 4}), ("block=0", {0}), ("kind=crc32", {0, 1, 2, 3, 4})]
)
def test_each_block_goes_by_its_own_number(condition: str, wrong: set[int]) -> None:
    data, wire = _signed(conditional("crc32_not_inverted", parse(condition), Profile()), 5)
    right = crc_blocks(CRC32, np.frombuffer(data, np.uint8), 512, 0xFFFFFFFF)
    found = {block for block in range(5) if wire[block * 516 + 512 : block * 516 + 516] != right[block].tobytes()}
    assert found == wrong


def test_a_condition_on_another_kind_leaves_a_kind_alone() -> None:
    _, wire = _signed(conditional("field_misses_last_byte", parse("kind=crc32c"), Profile()), 2)
    assert wire == _signed(Model(Profile()), 2)[1]


@pytest.mark.parametrize(("block", "seen"), [(0, True), (1, True), (2, False), (3, False)])
def test_a_check_goes_by_the_number_of_the_bad_block(block: int, seen: bool) -> None:
    model = conditional("check_never", parse("block>=2"), Profile())
    domain = SigBlockDomain(1, SigCrc(0, 0), 0)
    signature = model.arithmetic.signature(SigBlockAttr(domain, None, 0, 0xFF))
    data = np.zeros((4, 516), np.uint8)
    data[:, 512:] = crc_blocks(CRC32, np.zeros(2048, np.uint8), 512, 0)
    data[block, 515] ^= 1
    _, bad = model.arithmetic.transmit(signature, data.reshape(-1), 2048, 0)
    assert (bad is not None) is seen
    assert bad is None or bad.block == block


def test_the_facts_of_a_layout() -> None:
    moment = Moment(layout=StridedLayout(((7, 0, 8, 10), (9, 64, 16, 16)), 3, 24, 72))
    found = {
        name: fact(moment, name) for name in ("layout", "entries", "entry", "entry_size", "skip", "repeat", "regions")
    }
    assert found == {
        "layout": "interleaved", "entries": 2, "entry": [0, 1], "entry_size": [8, 16], "skip": [2, 0], "repeat": 3,
        "regions": 2,
    }  # fmt: skip
    moment.layout = ListLayout(((7, 0, 8),), 8)
    assert (fact(moment, "layout"), fact(moment, "repeat"), fact(moment, "skip")) == ("list", 1, [0])


@pytest.mark.parametrize("text", ["kind=md5", "block>5", "block>=many", "colour=red", "kind>=crc32", ""])
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(UnknownConditionError):
        parse(text)


# The catalogue ---------------------------------------------------------------------------------


def test_a_fault_says_what_it_breaks_and_when() -> None:
    for key, one in catalogue.candidates().items():
        assert key == f"{one.base.name}@{one.condition}"
        assert one.requirement in one.base.violates
        assert one.condition.dimension in spaces()[one.requirement].classes


def test_what_has_no_witness_is_not_in_the_catalogue() -> None:
    known = {f"{name}@{text}" for name, found in catalogue.witnesses().items() for text in found}
    assert set(catalogue.faults()) == known & set(catalogue.candidates())
    assert len(catalogue.faults()) > 3000


@pytest.mark.parametrize("key", list(drawn(catalogue.faults(), 40, 7)))
def test_a_witness_shows_the_fault(key: str) -> None:
    one = catalogue.faults()[key]
    assert witnesses.shows(one, catalogue.witnesses()[one.base.name][str(one.condition)])


def test_a_name_that_nothing_has() -> None:
    with pytest.raises(UnknownFaultError, match="did you mean"):
        catalogue.named("crc_runs_on@block>=7")


def test_faulty_parts_are_those_of_the_catalogue() -> None:
    assert faulty_parts("crc_runs_on") == FAULTY["crc_runs_on"].parts


# The sample ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval(successes: int, trials: int, low: float, high: float) -> None:
    """R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3."""
    found = wilson(successes, trials)
    assert found == pytest.approx((low, high), abs=5e-5)


def test_a_sample_is_of_its_seed_and_of_every_large_requirement() -> None:
    everything = catalogue.faults()
    one, same, other = drawn(everything, 300, 1), drawn(everything, 300, 1), drawn(everything, 300, 2)
    assert list(one) == list(same)
    assert set(one) != set(other)
    assert len(one) == len(other) == 300
    step = len(everything) / 300
    for requirement in {fault.requirement for fault in everything.values()}:
        there = sum(fault.requirement == requirement for fault in everything.values())
        taken = sum(fault.requirement == requirement for fault in one.values())
        assert abs(taken - there / step) < 1 + 1e-9, requirement
    assert drawn(everything, len(everything) + 1, 1) == everything
