"""Bundles of somebody else: damaged, foreign, hostile. Each is refused with a code, or judged as far as it goes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from mkeyspec.bundle import lines as bounds
from mkeyspec.bundle.frames import Written
from mkeyspec.bundle.part import SCHEMA
from mkeyspec.bundle.reader import Bundle, Unusable, read
from mkeyspec.device.profile.profile import Profile
from mkeyspec.run.departures import Expectations
from mkeyspec.sabotage.model import faulty_model
from mkeyspec.sabotage.suite import Item
from tests.bundle.recorded import Recording, judge_of, told
from tests.bundle.test_changed_cases import CASE, items_of

Line = dict[str, Any]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Item]:
    """A bundle of one row that fails, and its row."""
    folder = tmp_path_factory.mktemp("kept")
    item = items_of(folder, CASE)
    recording = Recording(folder)
    told(recording.rig(faulty_model("crc32c_polynomial", Profile()), 0.02, Expectations()), item)
    recording.part.source("cases/a.mks", CASE)
    recording.bundle()
    return folder / "a.bundle", item


def lines_of(path: Path) -> list[Line]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def put(path: Path, lines: list[Line]) -> Path:
    path.write_bytes(gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
    return path


def read_or_code(path: Path) -> Bundle | str:
    try:
        return read(path)
    except Unusable as error:
        return error.code


def source(path: str, text: str = CASE) -> Line:
    return {"kind": "source", "path": path, "sha256": hashlib.sha256(text.encode()).hexdigest(), "text": text}


def of(lines: list[Line], kind: str) -> Line:
    return next(line for line in lines if line["kind"] == kind)


def call(lines: list[Line], name: str) -> Line:
    found: Line = next(entry for entry in of(lines, "row")["calls"] if entry["call"] == name)
    return found


def read_of(lines: list[Line]) -> Line:
    """What a read gave that saw something new."""
    found: Line = next(
        entry["gave"] for entry in of(lines, "row")["calls"] if entry["call"] == "read" and "gave" in entry
    )
    return found


def _frame(lines: list[Line], frame: bytes) -> None:
    """Other bytes for what a read gave."""
    digest = hashlib.sha256(frame).hexdigest()
    lines.insert(1, {"kind": "blob", "sha256": digest, "data": base64.b64encode(frame).decode()})
    read_of(lines).update(frame=digest)


def _two_sources(lines: list[Line]) -> None:
    lines.insert(1, source("cases/a.mks", "mks 1\n"))


def _two_devices(lines: list[Line]) -> None:
    lines.insert(2, {"kind": "device", "device": "another"})


CHANGES: dict[str, tuple[str, Callable[[list[Line]], object]]] = {
    "a newer schema": ("MKS0951", lambda lines: lines[0].update(schema=SCHEMA + 1)),
    "no schema": ("MKS0950", lambda lines: lines[0].pop("schema")),
    "schema zero": ("MKS0950", lambda lines: lines[0].update(schema=0)),
    "another file": ("MKS0950", lambda lines: lines[0].update(kind="run")),
    "no run": ("MKS0950", lambda lines: lines[0].update(run=3)),
    "an absolute path": ("MKS0950", lambda lines: lines.insert(1, source("/etc/a.mks"))),
    "a path upwards": ("MKS0950", lambda lines: lines.insert(1, source("cases/../../a.mks"))),
    "a path upwards in a package": ("MKS0950", lambda lines: lines.insert(1, source("pkg:vendor_suite/../../a.mks"))),
    "an absolute path in a package": ("MKS0950", lambda lines: lines.insert(1, source("pkg:/a.mks"))),
    "a package without a name": ("MKS0950", lambda lines: lines.insert(1, source("pkg:"))),
    "a package in a package": ("MKS0950", lambda lines: lines.insert(1, source("pkg:pkg:a/b.mks"))),
    "a drive": ("MKS0950", lambda lines: lines.insert(1, source("C:a.mks"))),
    "a backslash": ("MKS0950", lambda lines: lines.insert(1, source("..\\a.mks"))),
    "a name with a control character": ("MKS0950", lambda lines: lines.insert(1, source("a\x1b[2J.mks"))),
    "no path": ("MKS0950", lambda lines: lines.insert(1, source(""))),
    "two sources of one name": ("MKS0950", _two_sources),
    "two devices": ("MKS0950", _two_devices),
    "a source with another checksum": ("MKS0950", lambda lines: of(lines, "source").update(text="mks 1\n")),
    "bytes with another checksum": ("MKS0950", lambda lines: of(lines, "blob").update(data="eA==")),
    "bytes that are none": ("MKS0950", lambda lines: of(lines, "blob").update(data="!")),
    "bytes that are not there": ("MKS0950", lambda lines: lines.remove(of(lines, "blob"))),
    "a row without an id": ("MKS0950", lambda lines: of(lines, "row").pop("id")),
    "a row without calls": ("MKS0950", lambda lines: of(lines, "row").pop("calls")),
    "a call that no device has": ("MKS0950", lambda lines: call(lines, "mkey").update(call="system")),
    "a call that is none": ("MKS0950", lambda lines: of(lines, "row")["calls"].append([])),
    "an object of another class": ("MKS0950", lambda lines: call(lines, "mkey").update(gave={"Path": ["/etc"]})),
    "an object that lacks members": ("MKS0950", lambda lines: call(lines, "mkey").update(gave={"Mkey": [1]})),
    "a member of another class": ("MKS0950", lambda lines: call(lines, "mkey")["gave"]["Mkey"].__setitem__(0, "1")),
    "a number that is none": ("MKS0950", lambda lines: call(lines, "post").update(gave="0")),
    "requests that are none": ("MKS0950", lambda lines: call(lines, "post").update(args=[1, 2, 3])),
    "what is no exception": ("MKS0950", lambda lines: call(lines, "post").update(raised=["os.system", "x"])),
    "a negative count": ("MKS0950", lambda lines: call(lines, "poll").update(after=-1)),
    "bytes elsewhere": ("MKS0950", lambda lines: read_of(lines).update(at=1 << 60)),
    "more bytes than a frame has": ("MKS0950", lambda lines: read_of(lines).update(length=8)),
    "a frame that is none": ("MKS0950", lambda lines: _frame(lines, b"no frame")),
    "a frame of 64 MiB": ("MKS0950", lambda lines: _frame(lines, zstandard.compress(bytes(1 << 26)))),
    "a frame without its length": ("MKS0950", lambda lines: _frame(lines, zstandard.ZstdCompressor(
        write_content_size=False).compress(bytes(100)))),
    "a device that was not closed, without a word": (
        "MKS0950", lambda lines: lines.insert(1, {"kind": "not_closed", "text": 3})
    ),
    "a kind that is none": ("MKS0950", lambda lines: lines.insert(1, {"kind": 3})),
}  # fmt: skip


@pytest.mark.parametrize(("code", "change"), CHANGES.values(), ids=list(CHANGES))
def test_a_changed_bundle_is_refused(
    kept: tuple[Path, Item], tmp_path: Path, code: str, change: Callable[[list[Line]], object]
) -> None:
    lines = lines_of(kept[0])
    read(put(tmp_path / "same.bundle", lines))
    change(lines)
    with pytest.raises(Unusable) as raised:
        read(put(tmp_path / "b.bundle", lines))
    assert raised.value.code == code
    assert "b.bundle" in str(raised.value)
    assert str(raised.value).isprintable()


FOREIGN = {
    "nothing": b"",
    "a text": b"no",
    "a zip": b"PK\x03\x04" + bytes(100),
    "not packed": b'{"kind":"bundle"}\n',
    "no JSON": gzip.compress(b"\x80x\n", mtime=0),
}


@pytest.mark.parametrize("data", FOREIGN.values(), ids=list(FOREIGN))
def test_a_foreign_file_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "b.bundle").write_bytes(data)
    with pytest.raises(Unusable, match="MKS0950"):
        read(tmp_path / "b.bundle")


def test_a_bomb_is_refused(kept: tuple[Path, Item], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = json.dumps(lines_of(kept[0])[0]).encode() + b"\n"
    for name, value, data in (
        ("LONGEST_LINE", 1 << 20, b"0" * (5 << 20)),
        ("MOST_BYTES", 1 << 20, b'{"kind":""}\n' * (1 << 17)),
    ):
        bomb = tmp_path / "b.bundle"
        bomb.write_bytes(gzip.compress(head + data))
        with monkeypatch.context() as patch:
            patch.setattr(bounds, name, value)
            with pytest.raises(Unusable, match="MKS0952"):
                read(bomb)


def test_a_bundle_that_is_cut_has_the_rows_before(kept: tuple[Path, Item], tmp_path: Path) -> None:
    whole = kept[0].read_bytes()
    assert not read(kept[0]).cut
    cut = tmp_path / "b.bundle"
    judged = 0
    for length in range(30, len(whole), 37):
        cut.write_bytes(whole[:length])
        found = read_or_code(cut)
        if found == "MKS0953":
            continue
        assert isinstance(found, Bundle)
        assert found.cut
        assert list(found.ids) == [kept[1].id]
        judged += 1
    assert judged > 0


def test_a_process_that_was_killed_makes_a_cut_bundle(kept: tuple[Path, Item], tmp_path: Path) -> None:
    """The last line of the file is there, and the end of a part is not."""
    lines = lines_of(kept[0])
    part = [line for line in lines if line["kind"] != "whole"]
    killed = [*part, *(line for line in part if line["kind"] in ("bundle", "device")), {"kind": "whole"}]
    found = read(put(tmp_path / "b.bundle", killed))
    assert found.cut
    assert list(found.ids) == [kept[1].id]


def test_rows_that_were_taken_out(kept: tuple[Path, Item], tmp_path: Path) -> None:
    lines = [line for line in lines_of(kept[0]) if line["kind"] != "row"]
    with pytest.raises(Unusable, match=r"MKS0950.*it ends a part of 1 rows, and 0 are there"):
        read(put(tmp_path / "b.bundle", lines))


def test_no_damage_gives_a_wrong_verdict(kept: tuple[Path, Item], tmp_path: Path) -> None:
    """Bytes of the file are changed: then it is refused, or judged as before."""
    rng = random.Random(950)
    whole = kept[0].read_bytes()
    right = told(judge_of(read(kept[0]), Expectations()), kept[1])
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 1, 3))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        (tmp_path / "b.bundle").write_bytes(data)
        found = read_or_code(tmp_path / "b.bundle")
        if isinstance(found, Bundle):
            assert told(judge_of(found, Expectations()), kept[1]) == right
        else:
            assert found in ("MKS0950", "MKS0951", "MKS0952", "MKS0953")


def test_no_value_makes_it_raise(kept: tuple[Path, Item], tmp_path: Path) -> None:
    """Values of a row are changed, and packed anew so that every checksum fits: it is refused, or comes to an end."""
    rng = random.Random(954)
    outcomes = set()
    for _ in range(400):
        lines = lines_of(kept[0])
        row = of(lines, "row")
        for _ in range(rng.choice((1, 2))):
            _spoil(row, rng)
        found = read_or_code(put(tmp_path / "b.bundle", lines))
        if isinstance(found, str):
            outcomes.add(found)
        elif kept[1].id in found.ids:
            outcomes.add(str(told(judge_of(found, Expectations()), kept[1])[0]))
    assert {"MKS0950", "not judged", "fail"} <= outcomes


VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1 << 70,
    0.5,
    "",
    "\ud800",
    [],
    {},
    [[]],
    {"hex": "zz"},
    {"Qp": []},
    "read",
    "poll",
    "end",
)


def _spoil(value: Any, rng: random.Random) -> None:
    """Change, remove or double one value, somewhere inside."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = rng.choice(keys)
        inner = value[key]
        if isinstance(inner, (dict, list)) and inner and rng.random() < 0.8:
            value = inner
            continue
        kind = rng.randrange(4)
        if kind == 0:
            del value[key]
        elif kind == 1 and isinstance(value, list):
            value.insert(key, inner)
        elif kind == 2 and type(inner) is int:
            value[key] = inner + rng.choice((-1, 1, 1 << 32))
        else:
            value[key] = rng.choice(VALUES)
        return


def test_a_frame_with_another_dictionary_is_not_judged(kept: tuple[Path, Item], tmp_path: Path) -> None:
    path, item = kept
    lines = lines_of(path)
    others = Written()
    others.add(bytes(range(255, -1, -1)) * 64)
    _frame(lines, others.pack(bytes(range(255, -1, -1)) * (read_of(lines)["length"] // 256)))
    read_of(lines)["length"] = read_of(lines)["length"] // 256 * 256
    status, why = told(judge_of(read(put(tmp_path / "b.bundle", lines)), Expectations()), item)[:2]
    assert status == "not judged"
    assert "other bytes of the host" in why
