"""Numbers in the pages of failures are what a run of their example prints."""

from __future__ import annotations

import re
from pathlib import Path

from mkeyspec.diagnostics.codes import explanation
from tests.plugin.project import Project

CASES = """\
mks 1
suite "a"
let d = crc32(ones) every 512

case mks2106
    verifies XCHK-08
    memory src = flip(framed(counter(2048), d), 2 * 516)
    mkey k { block_signature }
    configure k { layout list(src); signature { mem d } }
    transmit k by send
    expect wire == flip(counter(2048), 1024)
    check k is bad_guard, block 3

case mks2101
    verifies CRC-01
    memory src = counter(1024)
    mkey k { block_signature }
    configure k { layout list(src); signature { wire d } }
    transmit k by send
    expect wire == flip(framed(counter(1024), d), 515)
"""


def test_offsets_and_crcs(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES)
    out = project.mkeyspec("run", "cases", "-q").out
    offsets = re.findall(r"offset 0x\w+ \(\d+: block \d\)", explanation("MKS2106") or "")
    assert len(offsets) == 2
    for offset in offsets:
        assert offset in out, out
    [crc] = re.findall(r"CRC32 field: expected (0x\w+), got", explanation("MKS2101") or "")
    assert f"got {crc}\n" in out, out
