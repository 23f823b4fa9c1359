"""Departures that are listed and not shown, seen over all rows of a case; and who an outcome of ours belongs to."""

from __future__ import annotations

import pytest

from tests.plugin.project import Project

CASES = """\
mks 1
suite "known"

case keeps_to_the_page
    verifies LST-01
    for n in 1, 2
    memory m = counter(64 * n)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m                known X-DIFF-22 any

case shows_it_once
    verifies LST-01
    for n in 1, 2
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == fill(n - 1, 1) ++ m[1..]     known X-DIFF-22 any
"""
LIST = """\
[[shows]]
ids = { X-DIFF-22 = "an example" }
"""


@pytest.fixture
def known(project: Project) -> Project:
    project.put("cases/a.mks", CASES)
    project.put("list.toml", LIST)
    return project


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_listed_departure_that_no_row_shows_fails(known: Project, workers: list[str]) -> None:
    done = known.pytest("cases", "--expectations=list.toml", "--junitxml=r.xml", *workers)
    assert done.code == 1
    assert done.counts == {"passed": 3, "xfailed": 1, "failed": 1}
    assert "cases/a.mks:4: error[MKS2301]: the device keeps to the page in every row" in done.out
    assert "shows_it_once" not in done.out.split("MKS2301", 1)[1]
    assert 'failures="1"' in (known.path / "r.xml").read_text()


def test_it_is_no_row(known: Project) -> None:
    """Of the two that were not run none is taken away, and the failure counts once."""
    for number in (1, 2):
        known.put(f"cases/z{number}.mks", CASES.split("case shows_it_once")[0].replace("known X-DIFF-22 any", ""))
    path = known.path / "cases/z1.mks"
    path.write_text(path.read_text().replace("expect wire == m", "expect wire == flip(m, 3)"))
    done = known.mkeyspec("run", "cases", "-x", "--expectations=list.toml")
    assert "3 passed, 2 failed (1 MKS2101; 1 MKS2301), 1 known" in done.out.rstrip().split("\n")[-1]
    assert ", 3 not run" in done.out.rstrip().split("\n")[-1]
    assert "stopping after 3 failures" not in done.out


def test_a_folder_with_a_bracket_is_refused(known: Project) -> None:
    """Ids of rows end with brackets: a case in such a folder could hide another one."""
    for name, numbers in (("a", "1, 2"), ("b", "1, 2, 3")):
        known.put(f"more/x[1]/{name}.mks", CASES.split("case shows_it_once")[0].replace("1, 2", numbers))
    done = known.pytest("more", "--expectations=list.toml")
    assert "passed" not in done.counts
    assert done.code
    assert "MKS0801" in done.out


@pytest.mark.parametrize("arguments", [["--tx=2*popen", "--dist=each"], ["-p", "twice"]], ids=["each", "repeated"])
def test_rows_that_run_twice_are_one_row(known: Project, arguments: list[str]) -> None:
    known.put(
        "twice.py",
        "import pytest\n"
        "@pytest.hookimpl(trylast=True)\n"
        "def pytest_generate_tests(metafunc):\n"
        "    metafunc.fixturenames.append('again')\n"
        "    metafunc.parametrize('again', [1, 2])\n",
    )
    known.put("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\n')
    done = known.pytest("cases", "--expectations=list.toml", *arguments)
    assert done.code == 1
    assert done.counts == {"passed": 6, "xfailed": 2, "failed": 1}
    assert "shows_it_once" not in done.out.split("MKS2301", 1)[1]


def test_mkeyspec_counts_it(known: Project) -> None:
    done = known.mkeyspec("run", "cases", "--expectations", "list.toml")
    assert done.code == 1
    assert "3 passed, 1 failed (1 MKS2301), 1 known (1 X-DIFF-22)" in done.out


@pytest.mark.parametrize("row", ["n=1", "n=2"])
def test_some_rows_alone_prove_nothing(known: Project, row: str) -> None:
    assert known.pytest("--expectations=list.toml", f"cases/a.mks::keeps_to_the_page[{row}]").code == 0


OTHERS = """\
mks 1
suite "rows that can't show it"

case one_is_skipped
    verifies LST-01
    for crc in crc32, crc32c
    memory m = counter(512)
    mkey k { block_signature }
    configure k { layout list(m); signature { wire crc(ones) every 512 } }
    transmit k by send
    expect wire == framed(counter(512), crc(ones) every 512)        known X-DIFF-22 any

case one_does_not_name_it
    verifies LST-01
    for n in 1, 2
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    if n == 1 {
        expect wire == m            known X-DIFF-22 any
    } else {
        expect wire == m
    }

case one_is_over_before
    verifies LST-01
    for n in 1, 2
    memory m = counter(64)
    mkey k
    mkey o
    if n == 2 {
        configure o { layout list(m) }
            rejected at complete with EINVAL                        known X-DIFF-23 accepted
    }
    configure k { layout list(m) }
    transmit k by send
    expect wire == m                known X-DIFF-22 any
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_rows_that_cant_show_it_are_no_rows_that_do(known: Project, workers: list[str]) -> None:
    known.put("cases/a.mks", OTHERS)
    known.put("list.toml", LIST.replace(" }", ", X-DIFF-23 = 'another' }"))
    known.put("less.toml", "without = ['signature.crc32c']")
    done = known.pytest("cases", "--expectations=list.toml", "--device-profile=less.toml", *workers)
    assert done.code == 1
    assert done.counts == {"passed": 4, "skipped": 1, "xfailed": 1, "failed": 2}
    for line in (4, 13):
        assert f"cases/a.mks:{line}: error[MKS2301]" in done.out


def test_what_is_not_listed_is_not_missed(known: Project) -> None:
    done = known.pytest("cases")
    assert done.counts == {"passed": 3, "failed": 1}
    assert "MKS2301" not in done.out


def test_an_ordinary_test_is_pytests_own(known: Project) -> None:
    known.put(
        "tests/test_own.py",
        "from mkeyspec.run.verdict import Blocked, CaseFailed\n"
        "def test_a(): raise CaseFailed('no', ())\n"
        "def test_b(): raise Blocked('x', 'y')\n",
    )
    assert known.pytest("tests/test_own.py").counts == {"failed": 2}
