"""What a run takes when a row fails: its calls, the counters that changed, the kernel's new lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.plugin.evidence import Evidence, Port
from mkeyspec.report.record import Machine
from mkeyspec.ticket import kernel_log
from tests.plugin.project import CASES, Project, last_run

COUNTER = "ports/1/hw_counters/local_ack_timeout_err"
MACHINE = f"""\
from pathlib import Path
from mkeyspec.ticket import counters, kernel_log

counters.SYSFS = Path("sys").absolute()
kernel_log.DEVICE = str(Path("kmsg").absolute())

def pytest_runtest_call(item):
    if item.name == "fails[n=2]":
        Path("sys/mlx5_0/{COUNTER}").write_text("4")
        with open("kmsg", "a") as log:
            log.write("6,2,5000000,-;mlx5_core 0000:08:00.0: health\\n SUBSYSTEM=pci\\n")
"""


@pytest.fixture
def sysfs(project: Project) -> Path:
    project.put(f"sys/mlx5_0/{COUNTER}", "3\n")
    project.put("sys/mlx5_0/ports/1/counters/port_xmit_data", "8\n")
    project.put("kmsg", "6,1,1000000,-;before the run\n")
    return project.path / "sys"


def test_of_a_row_that_fails_all_is_taken(project: Project, sysfs: Path) -> None:
    project.put("cases/a.mks", CASES)
    project.put("conftest.py", MACHINE)
    done = project.mkeyspec("run", "cases", "--device", "soft")
    assert done.code == 1, done.out
    run = last_run(project)
    id = "cases/a.mks::fails[n=2]"
    assert list(run.calls) == [id]
    assert any(" post(" in line and line.endswith("-> 0") for line in run.calls[id])
    assert any("status='success'" in line for line in run.calls[id])
    before, after = {COUNTER: 3}, {COUNTER: 4}
    line = "[    5.000000] mlx5_core 0000:08:00.0: health"
    assert run.machine == [
        Machine("start"),
        Machine("failure", row=id, kernel=[line], before=before, after=after),
        Machine("end", before=before, after=after),
    ]


class Lines:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def write_line(self, line: str, **_: bool) -> None:
        self.lines.append(line)


@pytest.mark.parametrize("expected", [True, False])
def test_counters_that_can_not_be_read_are_one_line_and_no_failure(
    project: Project, sysfs: Path, monkeypatch: pytest.MonkeyPatch, expected: bool
) -> None:
    """Of a NIC; the software NIC need not have them."""
    monkeypatch.setattr(kernel_log, "DEVICE", str(project.path / "no log"))
    found = Evidence(Port("mlx5_1", 1), expected=expected, sysfs=sysfs)
    start = found.start()
    assert list(start.unread) == ["ports/1/counters", "ports/1/hw_counters", "the kernel's log"]
    assert found.failure("a") == Machine("failure", row="a")
    assert found.failure("b") == Machine("failure", row="b", since="a")
    assert found.end() is None
    said = Lines()
    found.pytest_terminal_summary(said)  # type: ignore[arg-type]
    place = f"{sysfs}/mlx5_1/ports/1/counters: No such file or directory, and 1 more"
    text = f"counters of mlx5_1 can't be read: {place}; the run goes on without them"
    assert said.lines == ([f"mkeyspec: warning[MKS0990]: {text}"] if expected else [])
