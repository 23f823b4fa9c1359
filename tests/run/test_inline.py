"""Inline data are the bytes at posting, whatever becomes of the buffer, and no lkey is looked at."""

from __future__ import annotations

from dataclasses import replace

from mkeyspec.device.model.device import Model
from mkeyspec.device.model.late import Late
from mkeyspec.device.model.section import DriverSection
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Sge
from tests.run.text import one, told
from tests.shipped import ROOT

CASES = (ROOT / "cases/posting/inline.mks").read_text().split("\n", 2)[2].split("\ncase ")[1:]


class ByReference(DriverSection):
    """An SGE in the place of the bytes."""

    def taken(self, sge: Sge) -> Sge:
        return sge


class Shorter(DriverSection):
    def taken(self, sge: Sge) -> Sge:
        found = super().taken(sge)
        return replace(found, length=max(0, found.length - 8))


def red(device: type[Model], section: type[DriverSection]) -> set[str]:
    found = set()
    for case in CASES:
        model = device(Profile())
        model.parts = replace(model.parts, section=section)
        if set(told(f"case {case}", model)) != {"pass"}:
            found.add(case.split("\n")[0])
    return found


def test_the_shipped_cases() -> None:
    assert red(Model, DriverSection) == red(Late, DriverSection) == set()
    assert red(Model, ByReference) == {"no_lkey_is_looked_at"}
    assert red(Late, ByReference) == {"no_lkey_is_looked_at", "taken_at_posting"}
    assert len(red(Model, Shorter)) == len(CASES)


def test_the_rig_waits_for_what_brings_the_bytes() -> None:
    """A READ of the same queue, one of another queue, and a message of the peer."""
    for lines in (
        ("post { read m from w }",),
        ("qp q", "post { read m from w on q }".replace(" on q }", " }").replace("post {", "post on q {")),
        ("recv m", "peer post { send w }"),
    ):
        text = one(
            "store m = fill(5, 64)", "peer memory v[64]", "store w = fill(2, 64)", *lines,
            "write m to v, inline", "expect v == fill(2, 64)", "expect m == w",
        )  # fmt: skip
        assert told(text) == told(text, Late(Profile())) == ["pass"]


def test_a_store_behind_it_does_not_wait() -> None:
    text = one("post { write m to w, inline }", "store m = fill(7, 64)", "expect w == fill(1, 64)")
    assert told(text) == told(text, Late(Profile())) == ["pass"]
