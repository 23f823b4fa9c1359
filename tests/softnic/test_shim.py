"""The shim, by uverbs commands alone: no pyverbs, no libibverbs, so it runs wherever there is a C compiler.

Each scenario is a process of its own under the preload (scenarios.py), as each program that uses the software NIC is.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "softnic"
PLAIN = (
    "discovery", "lazy", "pci_shape", "published", "replaced", "children", "life", "recycled", "two_contexts",
    "closing", "reused_pages", "duplicates", "channels", "refusals", "undone", "longer_buffers", "threads_and_forks",
    "process_pool", "many_threads", "fuzz", "changes", "ranges", "queried", "protected_memory",
)  # fmt: skip
SANITIZED = (
    "life", "two_contexts", "closing", "duplicates", "channels", "refusals", "undone", "many_threads", "fuzz",
    "changes", "ranges",
)  # fmt: skip


def _start(preload: str | Path, scenario: str, temporary: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: text for name, text in os.environ.items() if name not in ("LD_PRELOAD", "SYSFS_PATH")}
    ours = {"LD_PRELOAD": str(preload), "TMPDIR": str(temporary), "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(
        [sys.executable, str(HERE / "scenarios.py"), scenario],
        capture_output=True,
        text=True,
        timeout=120,
        env={**plain, **ours, **environment},
    )


@pytest.mark.parametrize("scenario", PLAIN)
def test_scenario(library: Path, tmp_path: Path, scenario: str) -> None:
    done = _start(library, scenario, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == [], "no file is left when a process ends"


def test_as_many_qps_as_announced_on_a_fabric(library: Path, tmp_path: Path) -> None:
    done = _start(library, "as_many_as_announced", tmp_path, MKEYSPEC_SOFTNIC_FABRIC=f"announced{os.getpid()}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("scenario", SANITIZED)
def test_under_sanitizers(sanitized: str, tmp_path: Path, scenario: str) -> None:
    done = _start(sanitized, scenario, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_directory_that_the_user_set_stays(library: Path, tmp_path: Path) -> None:
    assert _start(library, "own_sysfs", tmp_path, SYSFS_PATH="/somewhere/else").returncode == 0


def test_unknown_personality_is_one_line_and_an_errno(library: Path, tmp_path: Path) -> None:
    done = _start(library, "unknown_personality", tmp_path, MKEYSPEC_SOFTNIC_PERSONALITY="connectx99")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert "connectx99" in done.stderr


def test_what_a_killed_process_left_is_swept_away(library: Path, tmp_path: Path) -> None:
    killed = _start(library, "killed", tmp_path)
    assert killed.returncode == -9
    left = Path(killed.stdout.strip())
    assert left.parent == tmp_path
    assert left.is_dir()
    # Another pid namespace's, where this pid may be alive.
    foreign = tmp_path / f"mkeyspec-softnic-1-{left.name.split('-')[3]}-0000000000000000"
    foreign.mkdir()
    assert _start(library, "published", tmp_path).returncode == 0
    assert not left.exists()
    assert foreign.is_dir()


def test_preloading_costs_little(library: Path, tmp_path: Path) -> None:
    """The constructor runs in each process that inherits the preload, ls and sh included."""

    def best(preload: str) -> float:
        """Seconds of the processor, which other processes don't add to."""
        times = []
        for _ in range(15):
            process = subprocess.Popen(["/bin/true"], env={"LD_PRELOAD": preload, "TMPDIR": str(tmp_path)})
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 0
            times.append(used.ru_utime + used.ru_stime)
        return min(times)

    assert best(str(library)) - best("") < 0.005
    assert list(tmp_path.iterdir()) == []
