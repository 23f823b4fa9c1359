"""`--soak`: the same rows again and again, and what grows meanwhile fails the run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mkeyspec.plugin.leaks import FILES, MEBIBYTE, MEMORY, Measure, leaks
from tests.plugin.project import Project, last_line, last_run

ROWS = 6
CASES = f"""\
mks 1
suite "rows"

case copies
    verifies LAY-05
    for n in {", ".join(map(str, range(1, ROWS + 1)))}
    memory m = counter(n * 64)
    mkey k
    configure k {{ layout list(m) }}
    transmit k by send
    expect wire == counter(n * 64)
"""
DEVICE = """\
import os
from mkeyspec.device.model.device import Model
from mkeyspec.device.protocol import Info

class Acme(Model):
    kept, calls, wrong_at, sick = [], 0, 0, False

    def info(self):
        return Info("acme", "2.1", {})

    def mkey(self, side, **options):
        Acme.calls += 1
        made = super().mkey(side, **options)
        if self.leaks:
            self.kept += [made, bytearray(os.urandom(1)) * (1 << 20)]
            os.open("/dev/null", os.O_RDONLY)
        return made

    def read(self, memory, offset, length):
        data = super().read(memory, offset, length)
        if self.calls != Acme.wrong_at:
            return data
        Acme.wrong_at *= Acme.sick  # else it is right again
        return data + 1

def open(argument, profile, *_):
    found = Acme(profile)
    found.leaks = argument == "leaks"
    if argument.startswith("wrong"):
        Acme.wrong_at, Acme.sick = 8, argument == "wrong-and-sick"
    return found
"""
ORDERS = """\
def pytest_runtest_setup(item):
    with open("orders", "a") as file:
        print(item.name, file=file)
"""


@pytest.fixture
def acme(project: Project) -> Project:
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", ORDERS)
    project.put("acme_nic.py", DEVICE)
    project.put("acme_nic-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme-nic\nVersion: 1.0\n")
    project.put("acme_nic-1.0.dist-info/entry_points.txt", "[mkeyspec.devices]\nacme = acme_nic:open\n")
    return project


def orders(project: Project) -> list[list[str]]:
    """The rows of each round."""
    path = project.path / "orders"
    names = path.read_text().split()
    path.unlink()
    return [names[at : at + ROWS] for at in range(0, len(names), ROWS)]


def test_each_round_has_the_same_rows_in_an_order_of_its_own(acme: Project) -> None:
    done = acme.mkeyspec("run", "cases", "--device", "acme", "--soak", "0")
    assert done.code == 0, done.out
    assert "6 passed, 0 failed, 0 skipped on acme" in last_line(done)
    assert "mkeyspec: soak: 3 rounds, 18 rows in" in done.out
    assert "no leak" in done.out
    assert len(last_run(acme).results) == ROWS
    first = orders(acme)
    assert len(first) == 3
    assert {tuple(sorted(one)) for one in first} == {tuple(sorted(first[0]))}
    assert len({tuple(one) for one in first}) == 3
    acme.mkeyspec("run", "cases", "--device", "acme", "--soak", "0", "--soak-seed", "7")
    assert orders(acme) != first


def test_one_row_is_run_again_too(acme: Project) -> None:
    """The last row of a round may be the first one of the next."""
    done = acme.mkeyspec("run", "cases/a.mks::copies[n=1]", "--device", "acme", "--soak", "0")
    assert done.code == 0, done.out
    assert "3 rounds, 3 rows in" in done.out
    assert "1 passed, 0 failed, 0 skipped on acme" in last_line(done)


def test_what_grows_is_named_and_fails_the_run(acme: Project) -> None:
    done = acme.mkeyspec("run", "cases", "--device", "acme:leaks", "--soak", "0")
    assert done.code == 1
    assert "6 passed, 3 failed (3 MKS2208), 0 skipped on acme:leaks" in last_line(done)
    found = [one.message for one in last_run(acme).results.values() if one.code == "MKS2208"]
    assert len(found) == 3
    memory, files, handles = found
    assert memory.startswith("the soak found a leak: memory ")
    assert files.startswith("the soak found a leak: file descriptors ")
    assert files.endswith("12 more, 6 a round, /dev/null (12), in 18 rows")
    assert "Mkey handles" in handles
    assert "12 more, 6 a round" in handles


def test_a_row_that_goes_wrong_later_fails_the_run(acme: Project) -> None:
    done = acme.mkeyspec("run", "cases", "--device", "acme:wrong", "--soak", "0")
    assert done.code == 1
    assert "5 passed, 1 failed (1 MKS2101), 0 skipped on" in last_line(done)
    assert "mkeyspec: soak: went wrong in round 2 and not before: cases/a.mks::copies[n=" in done.out
    (wrong,) = (one for one in last_run(acme).results.values() if one.verdict == "failed")
    assert wrong.difference is not None


def test_it_stops_when_the_device_is_not_healthy_any_more(acme: Project) -> None:
    """The rows that had passed are not blocked ones."""
    done = acme.mkeyspec("run", "cases", "--device", "acme:wrong-and-sick", "--soak", "0")
    assert done.code == 1
    assert "5 passed, 1 failed (1 MKS2101), 0 skipped on" in last_line(done)
    assert (
        "mkeyspec: soak: stopped in round 2: MKS2008: blocked: the device is not healthy since cases/a.mks" in done.out
    )
    assert "less than 3 rounds, so leaks were not looked for" in done.out


@pytest.mark.parametrize("arguments", [("--soak", "long"), ("--soak", "1", "-n", "2")])
def test_wrong_options(acme: Project, arguments: tuple[str, ...]) -> None:
    done = acme.mkeyspec("run", "cases", *arguments)
    assert done.code == 2
    assert "error[MKS0905]: --soak" in done.err


# What is a leak ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "is_leak"),
    [
        (FILES, [10, 14, 14], False),  # as many as are allowed
        (FILES, [10, 12, 15], True),
        (FILES, [10, 20, 20], False),  # once, and no more
        (FILES, [10, 15, 20, 25, 30], True),
        (FILES, [20, 15, 10], False),
        (MEMORY, [100 * MEBIBYTE, 104 * MEBIBYTE, 108 * MEBIBYTE], False),
        (MEMORY, [100 * MEBIBYTE, 105 * MEBIBYTE, 109 * MEBIBYTE], True),
        (MEMORY, [400 * MEBIBYTE, 405 * MEBIBYTE, 415 * MEBIBYTE], False),  # less than 5 %
        ("QPs of the software NIC", [0, 8, 8], False),
        ("QPs of the software NIC", [0, 5, 9], True),
        ("QPs of the software NIC", [0, 0, 9], True),
    ],
)
def test_what_is_a_leak(name: str, values: Sequence[int], is_leak: bool) -> None:
    found = list(leaks([Measure({name: value}) for value in values]))
    assert bool(found) == is_leak
    assert all(one.name == name for one in found)
