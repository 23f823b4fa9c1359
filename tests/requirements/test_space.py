"""The dimensions of the requirements: which entry has which, their classes, and what can't be combined."""

from __future__ import annotations

import re

import pytest

from mkeyspec.requirements import space
from mkeyspec.requirements.ledger import requirements
from mkeyspec.requirements.space import Dimension, can_be, conflicts, dimensions, spaces

TESTABLE = {one.id for one in requirements().values() if one.treatment != "untestable"}
ALL = [pytest.param(one, id=one.name) for one in dimensions().values()]
NUMBERS = [pytest.param(one, id=one.name) for one in dimensions().values() if one.bounds]


def test_every_testable_entry_has_its_dimensions_and_no_other() -> None:
    assert set(spaces()) == TESTABLE
    assert all(len(one.classes) >= 2 for one in spaces().values())


def test_every_dimension_is_somebodys() -> None:
    assert set(dimensions()) == {name for one in spaces().values() for name in one.classes}


@pytest.mark.parametrize("one", ALL)
def test_a_dimension_is_well_formed(one: Dimension) -> None:
    assert re.fullmatch(r"[a-z_]+", one.name)
    assert one.what
    assert one.source, "where its values are documented"
    assert bool(one.values) != bool(one.bounds)
    assert len(set(one.classes)) == len(one.classes) >= 2
    assert list(one.bounds) == sorted(set(one.bounds))
    assert bool(one.draw) == bool(one.bounds), "of a number the conditions are named, of values each is one"


@pytest.mark.parametrize("one", NUMBERS)
def test_a_condition_of_a_number_is_at_one_of_its_bounds_and_excludes_something(one: Dimension) -> None:
    for text in one.draw:
        found = re.fullmatch(r"(=|>=)(\d+)", text)
        assert found, text
        assert int(found[2]) in one.bounds, text
        assert text != f">={one.bounds[0]}", "holds always"


@pytest.mark.parametrize("one", NUMBERS)
def test_the_classes_of_a_number_begin_at_its_bounds(one: Dimension) -> None:
    assert one.class_of(one.bounds[0] - 1) is None
    for place, bound in enumerate(one.bounds):
        assert one.class_of(bound) == one.classes[place]
        if place:
            assert one.class_of(bound - 1) == one.classes[place - 1]
    assert one.class_of(one.bounds[-1] + 10**9) == one.classes[-1] == f"{one.bounds[-1]}.."


@pytest.mark.parametrize(
    ("one", "other", "can"),
    [
        (("service", "uc"), ("operation", "read"), False),  # ibv_wr_post(3): UC has no RDMA READ
        (("service", "uc"), ("operation", "write"), True),
        (("operation", "send"), ("role", "remote"), False),
        (("operation", "read"), ("role", "remote"), True),
        (("kind", "crc64_xp10"), ("remap", "yes"), False),
        (("kind", "t10dif_csum"), ("remap", "yes"), True),
        (("block", "8"), ("blocks", "8"), False),  # block 8 is the ninth
        (("block", "8"), ("blocks", "9..30"), True),
        (("block", "65536.."), ("blocks", "65536"), False),
        (("block", "65536.."), ("blocks", "65537.."), True),
        (("configuration", "1"), ("signature_before", "equal"), False),
        (("configured_by", "mr_list"), ("setters", "access+layout"), True),
        (("configured_by", "mr_list"), ("setters", "layout"), False),
        (("layout", "list"), ("repeat", "2"), False),
        (("layout", "interleaved"), ("entries", "52.."), False),  # the strided header takes one of 52
        (("layout", "interleaved"), ("entries", "51"), True),
        (("layout", "list"), ("entries", "52.."), True),
        (("entries", "5..6"), ("max_entries", "4"), False),  # create_mkey(3): no more than the key has
        (("entries", "4"), ("max_entries", "4"), True),
        (("entry", "4..6"), ("max_entries", "4"), False),  # entry 4 is the fifth
        (("entry", "3"), ("max_entries", "4"), True),
        (("role", "remote"), ("sges", "2"), False),
        (("role", "receive"), ("sges", "2"), True),
        (("create_flags", "plain"), ("setters", "access+signature"), False),
        (("create_flags", "signature"), ("setters", "access+signature"), True),
        (("create_flags", "signature"), ("setters", "crypto"), False),
        (("create_flags", "crypto"), ("operation", "memcpy"), False),
        (("create_flags", "signature"), ("operation", "memcpy"), True),  # created for signatures, and has none
        (("room", "default"), ("setters", "layout+signature"), False),
        (("setters", "access"), ("setter", "1"), True),  # called twice, and refused
        (("setters", "access"), ("setter", "2"), False),
        (("service", "dci"), ("operation", "send_inv"), False),
        (("layout", "interleaved"), ("repeat", "2"), True),
    ],
)
def test_what_can_be_combined(one: space.Class, other: space.Class, can: bool) -> None:
    assert can_be(one, other) is can
    assert can_be(other, one) is can


def test_every_conflict_takes_something_away() -> None:
    asked = {
        (one, other) for entry in spaces().values() for one in entry.classes for other in entry.classes if one != other
    }
    for conflict in conflicts():
        assert conflict.why
        names = {(one[0], other[0]) for one in conflict.these for other in conflict.those}
        assert names & asked, f"no entry has these dimensions: {conflict.why}"


def test_no_entry_asks_for_what_can_not_be() -> None:
    for entry in spaces().values():
        for one, other in entry.pairs():
            assert can_be(one, other)
        for name, labels in entry.classes.items():
            assert labels, f"{entry.requirement}: {name} has no class left"


def test_what_the_pages_leave_open_is_not_asked_for() -> None:
    """A memcpy through a key with a signature, a message from inside of it: X-OPEN-15, X-OPEN-02, X-OPEN-25."""
    for key, entry in spaces().items():
        if key.split("-")[0] in ("SIG", "MSK", "CRC", "DIF", "XCHK", "XCRY", "CRY"):
            assert "memcpy" not in entry.classes.get("operation", ()), key
            assert "offset" not in entry.classes, key
    assert "memcpy" in spaces()["LAY-01"].classes["operation"]
    assert "offset" in spaces()["LAY-05"].classes


def test_an_entry_of_one_signature_type_has_its_kinds_only() -> None:
    """DIF: T10-DIF; CRC and the maps of 4- and 8-byte fields: CRCs (mlx5dv_wr_set_mkey_sig_block(3))."""
    for key, entry in spaces().items():
        kinds = set(entry.classes.get("kind", ()))
        if kinds and key.startswith("DIF"):
            assert kinds <= {"t10dif_crc", "t10dif_csum"}, key
        if kinds and key.startswith("CRC"):
            assert kinds <= {"crc32", "crc32c", "crc64_xp10"}, key
