"""Devices that answer what the pages leave open in another way than the model does: no shipped row is red on one.

What a profile can say of a device is said to the judge as well; what it can't say, every row takes either way.
A run takes a sample of fixed seed, of which each device gets a part (`MKEYSPEC_TESTS_WHOLE=1`: all of it);
`python -m tests.quality.test_open` takes all rows.
"""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import fields, replace
from functools import cache
from itertools import groupby, zip_longest
from typing import Any

import numpy as np
import pytest

from mkeyspec.calibrate.pages import OPEN as MAY_SHOW
from mkeyspec.calibrate.pages import STATED
from mkeyspec.device.model.access_error import Bytes, Violation
from mkeyspec.device.model.components import PARTS
from mkeyspec.device.model.data_path import Movement, TranslatedSge
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.key import gather, scatter
from mkeyspec.device.model.queue import Notice, Queue
from mkeyspec.device.model.signature import Arithmetic, SigDomain
from mkeyspec.device.profile.errno import ERRNO
from mkeyspec.device.profile.profile import DRIVER_ERRNO, Profile
from mkeyspec.requirements import ledger
from mkeyspec.run.departures import Expectations
from tests.quality.subject import PROFILE, Bench, Row, match, rows
from tests.shipped import WHOLE

NAMED = {"qp_streams", *(key.removeprefix("errno.") for key in STATED)}
"""Rules whose cases name the errno themselves, as the page does; and that of too many streams."""
RULES = sorted((ERRNO | DRIVER_ERRNO).keys() - NAMED)
ERRNOS = [name for name in sorted(errno.errorcode.values()) if name not in ("ENOTSUP", "EWOULDBLOCK")]
"""An errno for each rule, so that a row that is judged by the errno of another rule is red."""
OTHERWISE: dict[str, tuple[Any, ...]] = {
    "csum_seed_ffff": ("same-as-0",),
    "mask_le_fields": ("value-order",),
    "escape_scope": ("guard",),
    "copy_compares_flags": (True,),
    "ref_tag_restart": ("configuration",),
    "mixed_block_sizes": (False,),
    "err_actual": ("computed",),
    "err_value_order_crc32c": ("value",),
    "err_value_order_crc64": ("value",),
    "err_offset": ("block-start", "data-start"),
    "wqe_overhead": (64, 256),
    "wqe_unit": (128,),
    "wqe_max": (768, 2048),
    "bsf_bytes": (128, 0),
    "max_wr_memcpy_length": (4096, 1 << 20),
    "entries_rounding": (1, 16),
    "few_setters": ("dropped",),
    "strided_entry": ("completion",),
    "failed_configuration": ("kept",),
    "invalidate_clears": (False,),
    "initial_access": (15, 1),
    "max_message": (1 << 22,),
    "recv_byte_len": ("memory",),
    "errno": (tuple((rule, "EPERM") for rule in RULES), tuple(zip(RULES, ERRNOS, strict=False))),
    "status_raw": ("loc_access_err", "fatal_err"),
    "status_stream": ("loc_access_err", "fatal_err"),
    "status_configure": ("mw_bind_err", "loc_access_err"),
    "status_invalidate": ("mw_bind_err", "loc_qp_op_err"),
    "status_invalidate_unknown": ("mw_bind_err", "loc_qp_op_err"),
    "status_invalidate_receive": ("loc_access_err", "loc_qp_op_err"),
    "status_invalidate_sender": ("rem_op_err", "rem_access_err"),
}
"""The other values of open points; a status that has a class of the pages takes all of that class."""
DEPARTURES: dict[str, tuple[Any, str]] = {
    "copy_compares_seed": (False, "X-DIFF-10"),
    "err_priority": (("ref", "app", "guard"), "X-DIFF-22"),
    "err_unread": ("last", "X-DIFF-23"),
    "dci_mkey_operations": (False, "X-DIFF-14"),
    "stride_bits": (16, "X-DIFF-07"),
    "access_supported": (15, "X-DIFF-01"),
}
"""Members by which a device parts from a page; the rows that see it name the departure."""
OFFERS = {"name", "without", "require"}


def others(name: str) -> tuple[Any, ...]:
    member = next(one for one in fields(Profile) if one.name == name)
    given = OTHERWISE.get(name)
    return given or tuple(one for one in member.metadata["choices"] if one != member.default)


OPEN = [one.name for one in fields(Profile) if one.name not in DEPARTURES and one.name not in OFFERS]
TURNS = [
    Profile(name=f"turn{turn}", **{name: value for name, value in zip(OPEN, values, strict=True) if value is not None})
    for turn, values in enumerate(zip_longest(*(others(name) for name in OPEN)))
]
"""Each value of each open member is in one of them."""


SEED, MOST = 2, 12
"""Rows that have each value of each `for` of a case, this many at most. Of the shipped rows that were red on these
devices until 2026 the sample has one of each case."""
RED_ONCE = ("what_waits_is_cancelled_or_goes_on[a=5", "memcpy_copies[n=4097]", "many_pieces[*n=31]")
PART = 4
"""A device gets every fourth of these rows of a case, and those that were red once; the next device begins at the next
row. So each has a row of each case, and each row is run on one of them."""


@cache
def sample() -> list[list[Row]]:
    """By case."""
    found = rows(most=MOST, seed=SEED, each=True)
    return [list(group) for _, group in groupby(found, key=lambda row: (row.source, row.case.name))]


def part(device: int) -> list[Row]:
    """The rows for one device; `device`: its number among those of this module."""
    if WHOLE in os.environ:
        return [row for case in sample() for row in case]
    found = []
    for case in sample():
        turn = range(device % len(case), len(case), PART)
        found += [
            row for at, row in enumerate(case) if at in turn or any(match(f"*{one}*", row.id) for one in RED_ONCE)
        ]
    return found


def red(bench: Bench, items: list[Row]) -> list[tuple[str, int, str]]:
    found = [(row.id, bench.run(row)) for row in items]
    return [(id, out.line, out.text) for id, out in found if not out.green and out.status != "skip"]


@pytest.mark.parametrize("profile", TURNS, ids=lambda profile: profile.name)
def test_no_row_is_red_on_a_device_whose_profile_says_otherwise(profile: Profile) -> None:
    assert red(Bench(lambda: Model(profile), profile=profile), part(TURNS.index(profile))) == []


def test_no_row_is_red_on_a_device_whose_departures_are_listed() -> None:
    profile = Profile(**{name: value for name, (value, _) in DEPARTURES.items()})
    listed = Expectations({id: ("lab.toml", "") for _, id in DEPARTURES.values()}, MAY_SHOW)
    assert red(Bench(lambda: Model(profile), profile=profile, expectations=listed), part(len(TURNS))) == []
    assert {id for _, id in DEPARTURES.values()} <= ledger.departure_ids()


class ScattersNothing(Movement):
    """Of a message with a bad block nothing is laid down (X-OPEN-10)."""

    kept = 0.0

    def absorb(self, queue: Queue, places: list[TranslatedSge], wire: Bytes) -> None:
        before = [gather(place.pieces, place.memory).copy() for place in places]
        told = sum(isinstance(entry, Notice) for entry in queue.entries)
        super().absorb(queue, places, wire)
        if sum(isinstance(entry, Notice) for entry in queue.entries) == told:
            return
        for place, old in zip(places, before, strict=True):
            now = gather(place.pieces, place.memory).copy()
            first = int(len(now) * self.kept)
            scatter(place.pieces, np.concatenate((now[:first], old[first:])))


class ScattersHalf(ScattersNothing):
    kept = 0.5


class OneSignedSge(Movement):
    """A signature key goes alone (X-OPEN-24)."""

    def local(self, queue: Queue, sges: Any, right: int, limit: int | None = None) -> list[TranslatedSge]:
        places = super().local(queue, sges, right, limit)
        if len(places) > 1 and any(place.signature is not None for place in places):
            raise Violation("access")
        return places


class WholeBlocks(Movement):
    """A transfer ends with a block and its field, on both sides (X-OPEN-03)."""

    def place(self, queue: Queue, key: int, addr: int, length: int, right: int, write: bool) -> TranslatedSge:
        place = super().place(queue, key, addr, length, right, write)
        signature = place.signature
        if signature is not None:
            wire, mem = signature.wire, signature.mem
            if (wire is not None and length % wire.frame) or (wire is None and mem is not None and length % mem.block):
                raise Violation("access")
        return place


class FromTheBeginning(Movement):
    """A key with a signature or with crypto is used from its beginning (X-OPEN-02, X-OPEN-25)."""

    def place(self, queue: Queue, key: int, addr: int, length: int, right: int, write: bool) -> TranslatedSge:
        place = super().place(queue, key, addr, length, right, write)
        if addr and (place.signature is not None or place.crypto is not None):
            raise Violation("access")
        return place


class StaysAtTheEnd(Arithmetic):
    """A reference tag stays at 0xffffffff (X-OPEN-20)."""

    def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
        made: Bytes = super().calculate(domain, data, before).copy()
        if domain.crc is None and domain.flags & 1:
            numbers = domain.ref_tag + before // domain.block + np.arange(len(made))
            made[numbers > 0xFFFFFFFF, 4:8] = 0xFF
        return made


OTHER_PARTS: list[dict[str, Any]] = [
    {"movement": part} for part in (ScattersNothing, ScattersHalf, OneSignedSge, WholeBlocks, FromTheBeginning)
] + [{"arithmetic": StaysAtTheEnd}]


@pytest.mark.parametrize("other", OTHER_PARTS, ids=lambda other: next(iter(other.values())).__name__)
def test_no_row_is_red_on_a_device_that_answers_an_open_point_otherwise(other: dict[str, Any]) -> None:
    parts = replace(PARTS, **other)
    assert red(Bench(lambda: Model(PROFILE, parts)), part(len(TURNS) + 1 + OTHER_PARTS.index(other))) == []


@pytest.mark.parametrize("row", RED_ONCE)
def test_the_sample_has_rows_that_were_red_once(row: str) -> None:
    assert [one.id for one in rows(most=MOST, seed=SEED, each=True) if match(f"*{row}*", one.id)]


def test_each_device_has_each_case_and_all_together_the_sample() -> None:
    parts = [part(device) for device in range(len(TURNS) + 1 + len(OTHER_PARTS))]
    for rows_of_one in parts:
        assert {(row.source, row.case.name) for row in rows_of_one} == {
            (case[0].source, case[0].case.name) for case in sample()
        }
        assert all(any(match(f"*{one}*", row.id) for row in rows_of_one) for one in RED_ONCE)
    assert {row.id for rows_of_one in parts for row in rows_of_one} == {row.id for case in sample() for row in case}


def main() -> int:
    """All rows on all of these devices: prints those that are red."""
    benches = [(one.name, Bench(lambda one=one: Model(one), profile=one)) for one in TURNS]  # type: ignore[misc]
    for other in OTHER_PARTS:
        parts = replace(PARTS, **other)
        name = next(iter(other.values())).__name__
        benches.append((name, Bench(lambda parts=parts: Model(PROFILE, parts))))  # type: ignore[misc]
    count = 0
    for name, bench in benches:
        for id, line, text in red(bench, rows()):
            count += 1
            print(f"{name}: {id}, line {line}: {text}")
    print(f"open: {len(rows())} rows on {len(benches)} devices, {count} red")
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
