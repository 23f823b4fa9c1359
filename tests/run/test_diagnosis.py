"""The text of a failure: place, statement, both byte strings, fields, requirement, what was not run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mkeyspec.diagnostics.codes import CODES, explanation
from mkeyspec.plan import At
from mkeyspec.run import difference
from mkeyspec.run.diagnosis import render
from mkeyspec.run.verdict import CaseFailed, CaseInfo, Failure, Verdict
from mkeyspec.value.bytestring import ByteString, Counter, Fill, Framed, Join, Slice
from mkeyspec.value.signature import Crc, Domain, T10Dif
from tests.run.fixtures import generating, rig, run

SOURCE = """mks 1
    memory m = counter(1024)
    mkey k { block_signature }
    configure k { layout list(m) }
    transmit k by send                          # what leaves
    expect wire == framed(counter(1024), d)     # with "fields"
"""


def told(path: Path | None) -> str:
    tested, device = rig()

    def flip(qp: object) -> None:
        if len(device.memories) == 2:
            device.flip(1, 64 + 515)
            device.flip(1, 64 + 1029)

    device.after_post = flip
    with pytest.raises(CaseFailed) as failed:
        run(tested, *generating(), path=path)
    return str(failed.value)


def test_the_whole_text(tmp_path: Path) -> None:
    path = tmp_path / "a.mks"
    path.write_text(SOURCE, encoding="utf-8")
    text = told(path)
    golden = Path(__file__).with_name("diagnosis.out")
    assert text + "\n" == golden.read_text(encoding="utf-8")


def test_without_the_file_only_the_snippet_is_missing(tmp_path: Path) -> None:
    for path in (None, tmp_path / "gone.mks"):
        lines = told(path).split("\n")
        assert lines[0].startswith("a.mks:6:5: error[MKS2101]: 2 of 1032 bytes differ, first at wire[515]")
        assert lines[1].lstrip().startswith("block ")


def test_control_characters_of_a_source_are_not_echoed(tmp_path: Path) -> None:
    path = tmp_path / "a.mks"
    path.write_text("x\x1b[31m\u202ey\n", encoding="utf-8")
    failure = Failure("MKS2001", At(1, 1), "m")
    text = render(CaseInfo("a", "a.mks", path=path), Verdict("fail", [failure]), lambda id: None)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_an_unknown_requirement_is_said() -> None:
    text = render(
        CaseInfo("a", "a.mks", ("X-1",)), Verdict("fail", [Failure("MKS2001", At(1, 1), "m")]), lambda id: None
    )
    assert "X-1: no such entry in the ledger" in text


def test_many_statements_not_run_are_counted() -> None:
    verdict = Verdict("fail", [Failure("MKS2001", At(1, 1), "m")], not_run=[At(line, 5) for line in range(2, 13)])
    text = render(CaseInfo("a", "a.mks"), verdict, lambda id: None)
    assert "11 statements: 2:5, 3:5, 4:5, 5:5, 6:5, 7:5, 8:5, 9:5 and 3 more" in text


# Differences ---------------------------------------------------------------------------------


def array(data: bytes) -> difference.Bytes:
    return np.frombuffer(data, np.uint8)


def describe(want: ByteString, got: bytes) -> tuple[tuple[str, str], ...]:
    where = difference.positions(array(want.data), array(got))
    return difference.describe(array(want.data), array(got), where, reason=want.explain, name_of=lambda i: f"wire[{i}]")


def flipped(data: bytes, *at: int) -> bytes:
    changed = bytearray(data)
    for i in at:
        changed[i] ^= 0xFF
    return bytes(changed)


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ((), ""),
        ((0,), "[0]"),
        ((0, 1, 2), "[0..3]"),
        ((0, 2, 3, 9), "[0], [2..4], [9]"),
        (range(0, 20, 2), "[0], [2], [4], [6], [8], [10], [12], [14] and 2 more"),
    ],
)
def test_ranges(at: tuple[int, ...], text: str) -> None:
    data = bytes(20)
    assert difference.ranges_text(difference.positions(array(data), array(flipped(data, *at)))) == text


def test_ignored_ranges_do_not_differ() -> None:
    data = bytes(8)
    assert difference.positions(array(data), array(flipped(data, 1, 5)), [(0, 2)]).tolist() == [5]


@pytest.mark.parametrize(
    ("domain", "place", "name", "size", "order"),
    [
        (Domain(Crc(0, 0xFFFFFFFF), 512), 512, "CRC32 field", 4, "big"),
        (Domain(Crc(1, 0), 520), 520, "CRC32C field", 4, "little"),
        (Domain(Crc(2, 0), 512), 519, "CRC64_XP10 field", 8, "little"),
        (Domain(T10Dif(0, 0, 0x1234, 0x56789ABC), 512), 513, "guard", 2, "big"),
        (Domain(T10Dif(0, 0, 0x1234, 0x56789ABC), 512), 514, "application tag", 2, "big"),
        (Domain(T10Dif(0, 0, 0x1234, 0x56789ABC), 512), 519, "reference tag", 4, "big"),
    ],
)
def test_every_field_is_named_with_both_numbers(domain: Domain, place: int, name: str, size: int, order: str) -> None:
    want = Framed(Counter(2 * domain.block), domain)
    at = domain.frame + place
    span = difference.field_span(at, want.length, want.explain)
    assert span is not None
    assert span[0] == f"block 1, {name}"
    assert span[2] - span[1] == size
    assert span[3] == order
    details = dict(describe(want, flipped(want.data, at)))
    number = int.from_bytes(want.data[span[1] : span[2]], "big" if order == "big" else "little")
    assert details["field"].startswith(f"block 1, {name}: expected {number:#0{2 * size + 2}x}, got ")


def test_data_bytes_belong_to_no_field() -> None:
    want = Framed(Counter(512), Domain(Crc(0, 0), 512))
    assert difference.field_span(7, want.length, want.explain) is None


def test_a_field_cut_by_a_slice_is_not_made_up() -> None:
    domain = Domain(Crc(0, 0), 512)
    cut = Slice(Framed(Counter(1024), domain), 514, 516)
    assert difference.field_span(0, cut.length, cut.explain) is None, "its first two bytes are not there"
    join = Join((Fill(0, 3), Framed(Counter(512), domain)))
    assert difference.field_span(3 + 512, join.length, join.explain) == ("block 0, CRC32 field", 515, 519, "big")


def test_rows_are_aligned_and_marked() -> None:
    want = Counter(64)
    got = array(flipped(want.data, 17, 40))
    rows = [text for _, text in difference.rows(array(want.data), got, np.array([17, 40]))]
    assert rows[0] == " 0  expected  00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f"
    assert rows[1] == "16  expected  10 11 12 13 14 15 16 17  18 19 1a 1b 1c 1d 1e 1f"
    assert rows[2] == "    got       10 ee 12 13 14 15 16 17  18 19 1a 1b 1c 1d 1e 1f"
    assert rows[3] == "                 ^^"
    assert rows[6] == "                                       ^^"


def test_a_large_difference_stays_small() -> None:
    want = Fill(0, 1 << 20)
    details = describe(want, b"\1" * (1 << 20))
    assert len(details) < 40
    assert any("more rows differ" in text for _, text in details)


# Codes ---------------------------------------------------------------------------------------

RUN_CODES = [
    "MKS2001", "MKS2002", "MKS2003", "MKS2004", "MKS2005", "MKS2006", "MKS2007", "MKS2008", "MKS2009",
    "MKS2013", "MKS2014",
    "MKS2101", "MKS2102", "MKS2103", "MKS2104", "MKS2105", "MKS2106", "MKS2107", "MKS2108", "MKS2109", "MKS2110",
    "MKS2111", "MKS2120",
    "MKS2201", "MKS2202", "MKS2203", "MKS2204", "MKS2205", "MKS2206", "MKS2301", "MKS2302",
]  # fmt: skip


def test_every_code_of_the_rig_has_a_page_and_every_page_a_test() -> None:
    # The plugin tells of lost rows, a test without finish, a device that is not closed or
    # is in quarantine, a leak in a soak, a waiver that no row needed; a device says itself that its peer is lost.
    elsewhere = {"MKS2010", "MKS2011", "MKS2012", "MKS2015", "MKS2016", "MKS2207", "MKS2208", "MKS2303"}
    assert sorted(code for code in CODES if code.startswith("MKS2") and code not in elsewhere) == RUN_CODES
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    for code in RUN_CODES:
        assert f'"{code}"' in tests.replace(f'    "{code}"', "", 1) or f'r"{code}' in tests
        page = explanation(code)
        assert page is not None
        assert [line for line in page.split("\n") if line.startswith("## ")] == [
            "## What it means",
            "## Example",
            "## Fix",
            "## Page",
        ]


def test_every_code_that_the_rig_raises_is_listed() -> None:
    import re

    import mkeyspec.run

    raised: set[str] = set()
    for path in Path(mkeyspec.run.__path__[0]).glob("*.py"):
        raised.update(re.findall(r"MKS2\d{3}", path.read_text(encoding="utf-8")))
    assert raised == set(RUN_CODES)
