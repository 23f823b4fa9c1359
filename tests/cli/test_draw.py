"""`mkeyspec draw`: the messages of a case, drawn."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.plugin.project import Project

CASES = """\
mks 1
suite "drawn"
let key = hex"2718281828459045235360287471352631415926535897932384626433832795"

case signed
    verifies SIG-07
    for n in 2, 5
    memory src = counter(n * 512)
    mkey k { block_signature }
    let d = t10dif(ref_tag=7) every 512
    configure k { layout list(src[0 +: 100], src[100 +: n * 512 - 100]); signature { wire d } }
    transmit k by send
    expect wire == framed(counter(n * 512), d)

case encrypted
    verifies XCRY-07
    memory src = counter(1024)
    dek e { key key }
    mkey k { crypto }
    configure k { layout list(src); crypto { dek e; tweak 255; data_unit 512 } }
    transmit k by send
    expect wire == xts_encrypt(counter(1024), key, tweak=255, unit=512)

case turns
    verifies LAY-02
    memory a = counter(64)
    memory b = counter(64)
    mkey inner
    configure inner { layout list(b[16 +: 32]) }
    mkey k
    configure k { layout interleaved(2, a count 8 skip 8, inner count 4) }
    transmit k by send
    expect wire == a[0 +: 8] ++ b[16 +: 4] ++ a[16 +: 8] ++ b[20 +: 4]
    transmit k by write
    expect wire == a[0 +: 8] ++ b[16 +: 4] ++ a[16 +: 8] ++ b[20 +: 4]

case many
    verifies SIG-07
    let d = crc32c(ones) every 512
    memory src = counter(512 * 1024)
    mkey k { entries 32; block_signature }
    configure k { layout list([src[e * 16384 +: 16384] for e in 0..32]); signature { wire d } }
    transmit k by send
    expect wire == framed(counter(512 * 1024), d)

case refused
    verifies CFG-07, LAY-02
    memory m = counter(64)
    peer memory w[128]
    mkey k
    configure k { layout list(m) }
    post {
        configure k { access local_write; layout list(m); layout list(m) }
        write m to w, signaled
    }
        rejected at complete
    abort { write m to w, signaled }
    configure k { access local_write; layout list(m) }
    post {
        write m to w, signaled
        write m to w, but lkey 1
        write m to w[64 +: 64], signaled
    }
        rejected at completion
    expect w == any
    mkey o
    configure o { layout list(m) }
    transmit o[0 +: 65] by send
        rejected at completion
    expect wire == any

case silent
    verifies LAY-02
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    expect m == counter(64)
"""

SIGNED = """\
cases/a.mks::signed[n=2], one of 2 rows

12:5  transmit k by send
  mkey k: 2 entries, 1,024 bytes
    entry 0 + 0    src[0 +: 100]
    entry 1 + 0    src[100 +: 924]
    signature in memory: none
    signature on the wire: t10dif(ref_tag=0x7) every 512 bytes
      guard [512 +: 2], application tag [514 +: 2], reference tag [516 +: 4] of each 520 bytes
  from k[0 +: 1040]
    memory │ src[0 +: 100]       │ src[100 +: 412]       │                   │ src[512 +: 512]       │ …
    k      │ entry 0 + 0         │ entry 1 + 0           │ computed          │ entry 1 + 412         │ …
    wire   │ block 0: [0 +: 100] │ block 0: [100 +: 412] │ t10dif [512 +: 8] │ block 1: [520 +: 512] │ …

    memory … │                    │
    k      … │ computed           │
    wire   … │ t10dif [1032 +: 8] │
"""
ENCRYPTED = """\
cases/a.mks::encrypted

21:5  transmit k by send
  mkey k: 1 entry, 1,024 bytes
    entry 0 + 0    src[0 +: 1024]
    AES-XTS: DEK e, 256 bits with the tweak key, encrypts on TX
      data units of 512 bytes, initial tweak 0xff
  from k[0 +: 1024]
    memory │ src[0 +: 512] │ src[512 +: 512] │
    k      │ entry 0 + 0   │ entry 0 + 512   │
    unit   │ 0: tweak 0xff │ 1: tweak 0x100  │
    wire   │ [0 +: 512]    │ [512 +: 512]    │
"""
TURNS = """\
  mkey k: 2 turns of 2 entries, 24 bytes
    turn 0, entry 0 + 0 a[0 +: 8]
    turn 0, entry 1 + 0 inner[0 +: 4]
    turn 1, entry 0 + 0 a[16 +: 8]
    turn 1, entry 1 + 0 inner[4 +: 4]
  mkey inner: 1 entry, 32 bytes
    entry 0 + 0    b[16 +: 32]
"""

RECEIVED = """\
mks 1
suite "received"
let d = t10dif(ref_tag=7) every 512

case generated
    verifies SIG-07
    memory m[520]
    mkey k { block_signature }
    configure k { access local_write; layout list(m); signature { mem d } }
    receive counter(512) into k by recv
    expect m == framed(counter(512), d)

case stripped
    verifies SIG-07
    memory m[512]
    mkey k { block_signature }
    configure k { access local_write; layout list(m); signature { wire d } }
    receive framed(counter(512), d) into k by recv
    expect m == counter(512)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", CASES)
    made.put("cases/received.mks", RECEIVED)
    made.put("cases/broken.mks", "mks 1\ncase x\n    mkey\n")
    made.put("cases/library.mks", "mks 1\nlet a = 1\n")
    made.put("cases/b.mks", 'mks 1\nsuite "b"\n' + CASES[CASES.index("case silent") :])
    return made


@pytest.mark.parametrize(
    ("id", "drawn"),
    [
        ("cases/a.mks::signed[n=2]", SIGNED),
        ("cases/a.mks::signed", SIGNED),
        ("cases/a.mks", SIGNED),
        ("signed", SIGNED),
        ("signed[n=2]", SIGNED),
        ("cases/a.mks:12", SIGNED),
        ("cases/a.mks:9:3", SIGNED),
        ("cases/a.mks::encrypted", ENCRYPTED),
    ],
)
def test_a_row_is_drawn(project: Project, id: str, drawn: str) -> None:
    done = project.mkeyspec("draw", id)
    assert (done.code, done.err) == (0, "")
    assert done.out == drawn


@pytest.mark.parametrize(("id", "word"), [("generated", "computed"), ("stripped", "checked")])
def test_fields_are_checked_where_they_come_from_and_computed_where_they_go(
    project: Project, id: str, word: str
) -> None:
    done = project.mkeyspec("draw", id)
    (through,) = [line for line in done.out.splitlines() if line.startswith("    k ")]
    assert [cell.strip() for cell in through.split("│")[1:-1]] == ["entry 0 + 0", word]


def test_what_is_refused_is_marked(project: Project) -> None:
    """Under the statement: where it is refused, that a section of it was not posted, what was flushed behind it."""
    done = project.mkeyspec("draw", "refused")
    lines = done.out.splitlines()
    told = [(line.split()[1:4], below) for line, below in pairwise(lines) if re.match(r"\d+:\d+  ", line)]
    not_posted = "  ✗ refused at complete with EINVAL: not posted, and no byte is moved"
    assert told == [
        (["write", "m", "to"], not_posted),
        (["abort", "{", "write"], "  ✗ aborted: not posted, and no byte is moved"),
        (["write", "m", "to"], "  from m[0 +: 64]"),
        (["write", "m", "to"], "  ✗ refused at completion with loc_prot_err"),
        (["write", "m", "to"], "  ✗ flushed: after a request that is refused"),
        (["transmit", "o[0", "+:"], "  ✗ refused at completion with loc_prot_err"),
    ]
    assert "  from o[0 +: 65]: beyond the 64 bytes of its layout\n" in done.out
    svg = project.mkeyspec("draw", "refused", "--format", "svg")
    assert "flushed: after a request that is refused" in svg.out


def test_keys_under_keys_are_told_once(project: Project) -> None:
    done = project.mkeyspec("draw", "turns")
    assert TURNS in done.out
    assert done.out.count("mkey inner:") == 1
    assert "turn 0, entry 1 + 0 → inner: entry 0 + 0" in done.out
    line = project.mkeyspec("draw", f"cases/a.mks:{CASES.splitlines().index('    transmit k by write') + 1}")
    assert line.out.count("transmit k by") == 1


def test_a_large_layout_is_cut(project: Project) -> None:
    """Its first blocks and its last one."""
    done = project.mkeyspec("draw", "many")
    assert len(done.out) < 5000
    assert "… 24 more\n" in done.out
    assert "entry 31 + 0   src[507904 +: 16384]" in done.out
    assert "block 1023: [527868 +: 512]" in done.out


def test_svg(project: Project) -> None:
    done = project.mkeyspec("draw", "encrypted", "--format", "svg", "-o", "way.svg")
    assert (done.code, done.out, done.err) == (0, "", "")
    root = ElementTree.parse(project.path / "way.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    texts = [one.text for one in root.iter(f"{space}text")]
    for text in ("memory", "src[512 +: 512]", "entry 0 + 512", "1: tweak 0x100", "[512 +: 512]"):
        assert text in texts
    assert len(list(root.iter(f"{space}rect"))) == 1 + 8
    printed = project.mkeyspec("draw", "encrypted", "--format", "svg")
    assert printed.out == (project.path / "way.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("id", "code", "told"),
    [
        ("cases/a.mks::silnt", "MKS0907", "cases/a.mks has no case 'silnt'; did you mean `silent`?"),
        ("cases/a.mks::signed[n=3]", "MKS0907", "case signed has no row 'n=3'"),
        ("cases/a.mks::silent", "MKS0907", "cases/a.mks::silent transfers nothing"),
        ("cases/a.mks:3", "MKS0907", "cases/a.mks:3 is in no case"),
        ("cases/a.mks:999", "MKS0907", "cases/a.mks:999 is in no case"),
        ("cases/c.mks:3", "MKS0903", "no such file: cases/c.mks"),
        ("cases/broken.mks", "MKS0907", "cases/broken.mks has errors"),
        ("cases/library.mks", "MKS0907", "cases/library.mks has no case"),
        ("nothing", "MKS0907", "no case is called 'nothing'"),
        ("silent", "MKS0907", "2 files have a case 'silent'; write cases/a.mks::silent or cases/b.mks::silent"),
    ],
)
def test_what_cannot_be_drawn(project: Project, id: str, code: str, told: str) -> None:
    done = project.mkeyspec("draw", id)
    assert (done.code, done.out) == (2, "")
    assert f"error[{code}]: {told}" in done.err, done.err


def test_a_file_that_cannot_be_written(project: Project) -> None:
    done = project.mkeyspec("draw", "signed", "-o", "nowhere/way.svg")
    assert done.code == 2
    assert "error[MKS0902]" in done.err
