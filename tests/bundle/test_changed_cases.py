"""A case that has changed since the run: other expectations are judged, other steps are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.profile.profile import Profile
from mkeyspec.run.departures import Expectations
from mkeyspec.sabotage.model import faulty_model
from mkeyspec.sabotage.suite import Item, load
from mkeyspec.store import Store
from tests.bundle.recorded import Recording, judge_of, told

CASE = """\
mks 1
suite "a"

case a
    verifies SIG-07
    let d = crc32c(ones) every 512
    memory src = framed(counter(1024), d)
    memory other = fill(0x5a, 64)
    mkey k { block_signature }
    configure k { layout list(src); signature { mem d } }
    transmit k by send
    expect wire == counter(1024)
    expect other == fill(0x5a, 64)
"""

ERROR = "check k is bad_guard, block 0"
CLAIMED = f"{CASE}    {ERROR}\n"


def items_of(folder: Path, text: str) -> Item:
    path = folder / "cases" / "a.mks"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    (item,) = load([path], Store(folder, folder / "generated"))
    return item


def judged(folder: Path, before: str, after: str, fault: str | None) -> tuple[Any, ...]:
    """What is said of the row `after` by the recording of the row `before`."""
    recording = Recording(folder)
    device = faulty_model(fault, Profile()) if fault is not None else faulty_model("crc32_polynomial", Profile())
    told(recording.rig(device, 0.02, Expectations()), items_of(folder, before))
    return told(judge_of(recording.bundle(), Expectations()), items_of(folder, after))


CODES: list[tuple[str, str, str, str | None, str]] = [
    ("other bytes of the wire", "wire == counter(1024)", "wire == fill(0, 1024)", None, "MKS2101"),
    ("a part of the wire", "wire == counter(1024)", "wire[512 +: 4] == fill(0, 4)", None, "MKS2101"),
    ("a part of a buffer", "other == fill(0x5a, 64)", "other[8 +: 8] == fill(0, 8)", None, "MKS2102"),
    ("an error that the device does not report", "    expect other", f"    {ERROR}\n    expect other", None, "MKS2106"),
    ("no error any more", "    expect other == fill(0x5a, 64)\n", "", "crc32c_polynomial", "MKS2202"),
    ("an outcome that did not come", "by send", "by send rejected at completion with loc_prot_err", None, "MKS2002"),
]  # fmt: skip


@pytest.mark.parametrize(("was", "now", "fault", "code"), [one[1:] for one in CODES], ids=[one[0] for one in CODES])
def test_other_expectations_are_judged(tmp_path: Path, was: str, now: str, fault: str | None, code: str) -> None:
    assert was in CASE
    found = judged(tmp_path, CASE, CASE.replace(was, now), fault)
    assert found[0] == "fail", found
    assert found[1][0][0] == code


RIGHT: list[tuple[str, str, str, str | None]] = [
    ("bytes that were expected wrong", CASE.replace("wire == counter(1024)", "wire == fill(0, 1024)"), CASE, None),
    ("no expectation", CASE, CASE.replace("    expect wire == counter(1024)\n", "    expect wire == any\n"), None),
    ("an error that was not expected", CASE, CLAIMED, "crc32c_polynomial"),
    ("an error that was not expected before", CASE, CASE.replace("    expect wire", f"    {ERROR}\n    expect wire"),
     "crc32c_polynomial"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "fault"), [one[1:] for one in RIGHT], ids=[one[0] for one in RIGHT])
def test_what_is_right_today_passes(tmp_path: Path, before: str, after: str, fault: str | None) -> None:
    assert judged(tmp_path, before, after, fault)[0] == "pass"


STEPS: list[tuple[str, str, str, str]] = [
    ("another request", "by send", "by write", "`post` of Write"),
    ("other data", "fill(0x5a, 64)\n    mkey", "fill(0x5b, 64)\n    mkey", "`write`"),
    ("another size", "memory other = fill(0x5a, 64)", "memory other = fill(0x5a, 65)", "`memory`"),
    ("a further buffer", "    mkey k", "    memory more = fill(1, 64)\n    mkey k", "`memory`"),
    ("one buffer less", "    memory other = fill(0x5a, 64)\n", "", "`mkey`"),
    ("a further transfer", "    expect other", "    transmit k by send\n    expect other", "`memory`"),
    ("no transfer", "    transmit k by send\n    expect wire == counter(1024)\n", "", "`memory`"),
    ("another layout", "list(src);", "list(src[0 +: 516], src[516 +: 516]);", "`post` of Configure"),
]


@pytest.mark.parametrize(("was", "now", "where"), [one[1:] for one in STEPS], ids=[one[0] for one in STEPS])
def test_other_steps_are_not_judged(tmp_path: Path, was: str, now: str, where: str) -> None:
    assert was in CASE
    found = judged(tmp_path, CASE, CASE.replace(was, now).replace("expect other == fill(0x5a, 64)\n", ""), None)
    assert found[0] == "not judged", found
    assert where in found[1]


BETWEEN = """\
mks 1
suite "a"

case a
    memory first = random(4096, seed=1)
    memory m = fill(0, 4096)
    mkey k
    configure k { access remote_write; layout list(m) }
    receive first into k by peer_write
    receive fill(0, 4096) into k by peer_write
    expect m == fill(0, 4096)
"""

LOOKS: list[tuple[str, str]] = [
    ("zeros, as before and after", "m == fill(0, 4096)"),
    ("what the first transfer gave", "m == first"),
    ("other bytes", "m == fill(7, 4096)"),
    ("a part", "m[8 +: 8] == fill(0, 8)"),
]


@pytest.mark.parametrize("asked", [one[1] for one in LOOKS], ids=[one[0] for one in LOOKS])
def test_bytes_that_the_run_did_not_look_at_between_two_transfers_are_not_judged(tmp_path: Path, asked: str) -> None:
    after = BETWEEN.replace("    receive fill", f"    expect {asked}\n    receive fill")
    found = judged(tmp_path, BETWEEN, after, None)
    assert found[0] == "not judged", found
    assert "did not look at them there" in found[1]
