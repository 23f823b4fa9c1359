"""`isolated` in the text of a case reaches the device."""

from __future__ import annotations

from tests.plugin.project import Project

CASES = """\
mks 1

case alone
    isolated
    verifies CRC-02
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m

case shares
    verifies CRC-02
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""

WATCH = """\
from mkeyspec.device.model.device import Model

made = Model.qp_pair


def qp_pair(self, attributes):
    with open("pairs.txt", "a") as file:
        file.write(f"{attributes.private}\\n")
    return made(self, attributes)


Model.qp_pair = qp_pair
"""


def test_isolated_reaches_the_device(project: Project) -> None:
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", WATCH)
    done = project.pytest()
    assert done.counts == {"passed": 2}, done.out
    assert (project.path / "pairs.txt").read_text().split() == ["True", "False"]
