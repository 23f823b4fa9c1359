"""The catalogue of faults, and that the model can have each of them."""

from __future__ import annotations

import re

import pytest

from mkeyspec.device.model.components import PARTS
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.requirements.ledger import ids
from mkeyspec.sabotage.catalogue import PARTS as OF
from mkeyspec.sabotage.catalogue import Fault, UnknownFaultError, faults, named, of_device
from mkeyspec.sabotage.fault import FAULTY
from mkeyspec.sabotage.model import faulty_model

ALL = faults()


def test_there_are_enough_of_a_nic_alone() -> None:
    assert len(of_device("soft")) >= 120
    assert set(of_device("soft")) < set(of_device("model")) == set(ALL)


def test_the_model_has_each_and_no_other() -> None:
    assert set(FAULTY) == set(ALL)


@pytest.mark.parametrize("one", ALL.values(), ids=ALL)
def test_an_entry_is_whole(one: Fault) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", one.name)
    assert one.part in OF
    assert one.what
    assert one.what[-1] != "."
    assert one.violates
    assert set(one.violates) <= ids()


def test_each_says_something_of_its_own() -> None:
    assert len({one.what for one in ALL.values()}) == len(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_bent_model_is_bent(name: str) -> None:
    model = faulty_model(name, Profile())
    assert (type(model), model.parts, model.profile) != (Model, PARTS, Profile())


def test_a_straight_model_has_no_bent_part() -> None:
    assert Model().parts is PARTS
    for room in PARTS.__slots__:
        assert getattr(PARTS, room).__module__.startswith("mkeyspec.device.")


def test_a_name_that_is_none_is_met_with_a_near_one() -> None:
    with pytest.raises(UnknownFaultError, match="did you mean crc32_polynomial"):
        named("crc32_polynom")
