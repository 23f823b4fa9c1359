"""The line of the short summary that stands for a broken file; a file that can't be named."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mkeyspec.files.project import Unreadable, refuse_name
from tests.plugin.project import CASES, Project

WARNED = """\
mks 1
case warned
    verifies LAY-01
    let unused = 1
    memory m = counter(nothing)
"""


def test_the_summary_names_the_error_and_not_a_warning_before_it(project: Project) -> None:
    project.put("cases/w.mks", WARNED)
    done = project.mkeyspec("run", "cases")
    assert "warning[MKS0610]" in done.out
    assert "1 failed (1 MKS0202)" in done.out
    assert "cases/w.mks::MKS0202 - error[MKS0202]: nothing is called `nothing`" in done.out


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_a_name_that_is_no_utf8_ends_the_session_in_one_line(suite: Project, workers: tuple[str, ...]) -> None:
    """No report could spell it, and JUnit's, with every other row, would be lost."""
    name = os.fsdecode(b"cases/gr\xfcn.mks")
    (suite.path / name).write_text(CASES)
    told = r"error[MKS0801]: the name of cases/gr\xfcn.mks is not UTF-8; rename the file or its folder"
    for done in (suite.pytest(*workers), suite.mkeyspec("run", "cases", *workers), suite.mkeyspec("check", "cases")):
        assert told in done.out + done.err
        assert "Traceback" not in done.out + done.err
        assert done.code in (2, 4)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("x[n=1].mks", "the name of x[n=1].mks has `[`"),
        ("a[b]/x.mks", "the name of a[b]/x.mks has `[`"),
        ("x::b.mks", "the name of x::b.mks has `::`"),
        ("x\ny.mks", r"the name of 'x\ny.mks' has a control character"),
    ],
)
def test_a_name_that_no_id_of_a_row_can_contain_is_refused(name: str, told: str) -> None:
    """The rows ran, and their ids named another row, or none, to --row-ids, `again`, waivers and `compare`."""
    with pytest.raises(Unreadable, match=re.escape(told)):
        refuse_name(Path(name))


def test_a_run_of_a_name_that_no_id_can_contain_ends_in_one_line(suite: Project) -> None:
    (suite.path / "cases/x[n=1].mks").write_text(CASES)
    for words in (["cases"], ["cases/x[n=1].mks::one[n=1]"]):
        done = suite.mkeyspec("run", *words)
        assert "error[MKS0801]: the name of cases/x[n=1].mks has `[`" in done.out + done.err
        assert done.code == 2


CAUSES = """\
mks 1
case crc
    verifies CRC-02
    for n in 1, 2, 3
    let d = crc32(ones) every 512
    memory src = framed(counter(n * 512), d)
    mkey k { block_signature }
    configure k { layout list(src); signature { mem d } }
    transmit k by send
    expect wire == counter(n * 512)

case other
    verifies LAY-05
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == fill(0, 64)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_run_ends_with_its_causes(project: Project, workers: tuple[str, ...]) -> None:
    """One defect is one line with its count, and what is wrong with it in words. A test that is no case has none."""
    project.put("cases/c.mks", CAUSES)
    done = project.mkeyspec("run", "cases", "--fault", "crc32_not_inverted", *workers)
    lines = done.out.splitlines()
    causes = lines[lines.index("mkeyspec: what went wrong, by cause") + 1 : -1]
    assert causes[0] == "    3  CRC-02: looks like: the final inversion of the CRC is missing"
    assert causes[1] == "       CRC-02: CRC32 signature is the Fibre Channel CRC-32."
    assert causes[2] == "       3 of 3 rows that verify it fail so"
    assert causes[3] == "       cases/c.mks::crc[n=1] and 2 more"  # the simplest
    assert causes[4] == "       no row of these cases passed"
    assert causes[5].startswith("    1  LAY-05: ")
    assert causes[6].startswith("       LAY-05: ")
    assert causes[7:] == ["       1 of 1 row that verifies it fails so", "       cases/c.mks::other"]
    project.put("tests/test_own.py", "def test_one(): assert 0\ndef test_two(): assert 0\n")
    assert "by cause" not in project.pytest("tests", "cases/c.mks", "-k", "test_one or test_two or other").out


def test_the_causes_of_a_run_whose_process_was_killed_are_of_all_its_rows(project: Project) -> None:
    """The reports come once more, from the journal, and the stream has them: causes are made of all."""
    project.put("cases/c.mks", CAUSES)
    dies = "import os\ndef pytest_runtest_teardown(item):\n    if item.name == 'other': os.kill(os.getpid(), 9)\n"
    project.put("conftest.py", dies)
    done = project.mkeyspec("run", "cases", "--fault", "crc32_not_inverted")
    assert "3 failed (3 MKS2202), 1 lost" in done.out
    causes = done.out.split("mkeyspec: what went wrong, by cause")[1].splitlines()
    assert "    3  CRC-02: looks like: the final inversion of the CRC is missing" in causes
    assert any(line.startswith("    1  LAY-05: MKS2012") for line in causes)
    stream = next(project.path.glob("reports/*/results.ndjson")).read_text("utf-8")
    assert stream.count('"kind":"result"') == 4


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_run_that_skips_more_than_it_judges_says_so(project: Project, workers: tuple[str, ...]) -> None:
    """A driver that tells too little of a device gives a green run of the few rows that need nothing."""
    project.put("cases/c.mks", CAUSES)
    project.put("few.toml", 'without = ["signature.crc32"]\n')
    done = project.mkeyspec("run", "cases", "-k", "crc or other", "--device-profile", "few.toml", *workers)
    assert "more rows were skipped (3) than came to a verdict (1). They need signature.crc32 (3)." in done.out
    done = project.mkeyspec("run", "cases", "-k", "crc or other", *workers)
    assert "more rows were skipped" not in done.out
