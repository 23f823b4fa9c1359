"""Two runs on one NIC: the second is refused; a run that died holds nothing."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.verbs import device_lock

HOLD = """
import sys
from pathlib import Path
from mkeyspec.device.verbs import device_lock as lease
held = lease.take("mlx5_0", place=Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def holder(place: Path, run: str | None = None) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name != device_lock.RUN}
    if run is not None:
        environment[device_lock.RUN] = run
    command = [sys.executable, "-c", HOLD, str(place)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.fixture(autouse=True)
def run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(device_lock.RUN, "this run")


def test_a_second_run_is_refused_and_told_by_whom(tmp_path: Path) -> None:
    process = holder(tmp_path)
    when = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    who = rf"process {process.pid} on {re.escape(platform.node())}, since {when}"
    with pytest.raises(Unavailable, match=rf"MKS0916.*mlx5_0 is in use by another run \({who}\); wait for it"):
        device_lock.take("mlx5_0", place=tmp_path)
    device_lock.take("mlx5_1", place=tmp_path).release()
    process.communicate("")
    device_lock.take("mlx5_0", place=tmp_path).release()


def test_a_run_that_was_killed_holds_nothing_and_is_told_once(tmp_path: Path) -> None:
    device_lock.notes()
    process = holder(tmp_path)
    process.kill()
    process.communicate()
    assert (tmp_path / "mkeyspec-mlx5_0.lock").exists()
    device_lock.take("mlx5_0", place=tmp_path).release()
    (note,) = device_lock.notes()
    assert note.startswith("warning[MKS0976]: the lock of mlx5_0 was left by a run that did not end by itself")
    assert f"(process {process.pid} on {platform.node()}, since 20" in note
    assert device_lock.notes() == []
    device_lock.take("mlx5_0", place=tmp_path).release()  # it was emptied
    assert device_lock.notes() == []


LEAVES = """
import os, subprocess, sys
from pathlib import Path
from mkeyspec.device.verbs import device_lock as lease
held = lease.take("mlx5_0", place=Path(sys.argv[1]))
subprocess.Popen(["sleep", "60"], pass_fds=[held.descriptor], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
print("held", flush=True)
os._exit(0)
"""


def test_a_lock_that_outlives_its_run_is_told(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != device_lock.RUN}
    process = subprocess.Popen(
        [sys.executable, "-c", LEAVES, str(tmp_path)], stdout=subprocess.PIPE, env=environment, start_new_session=True
    )
    process.communicate()
    try:
        text = rf"process {process.pid} .*, which has ended: a process that it started still holds the lock"
        with pytest.raises(Unavailable, match=text):
            device_lock.take("mlx5_0", place=tmp_path)
    finally:
        os.killpg(process.pid, 9)


def test_a_worker_waits_for_the_name_of_the_owner(tmp_path: Path) -> None:
    """Another worker of the run has locked it, and has not written whose it is."""
    path = tmp_path / "mkeyspec-mlx5_0.lock"
    with path.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        def name() -> None:
            held.write(json.dumps({"run": "this run", "pid": 1}))
            held.flush()
            fcntl.flock(held, fcntl.LOCK_SH)

        timer = threading.Timer(0.05, name)
        timer.start()
        device_lock.take("mlx5_0", place=tmp_path).release()
        timer.join()


def test_workers_of_one_run_hold_it_together(tmp_path: Path) -> None:
    workers = [holder(tmp_path, "one run") for _ in range(3)]
    for worker in workers:
        with pytest.raises(Unavailable, match="MKS0916"):
            device_lock.take("mlx5_0", place=tmp_path)
        worker.communicate("")
    device_lock.take("mlx5_0", place=tmp_path).release()


def test_release_twice_is_nothing(tmp_path: Path) -> None:
    held = device_lock.take("mlx5_0", place=tmp_path)
    held.release()
    held.release()
    device_lock.take("mlx5_0", place=tmp_path).release()


def test_a_link_or_a_folder_is_no_lock_file(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    (tmp_path / "mkeyspec-mlx5_0.lock").symlink_to(target)
    (tmp_path / "mkeyspec-mlx5_1.lock").mkdir()
    for device in ("mlx5_0", "mlx5_1"):
        with pytest.raises(Unavailable, match="MKS0916"):
            device_lock.take(device, place=tmp_path)
    assert target.read_text() == "precious"


def test_a_file_that_says_nonsense_is_only_a_lock(tmp_path: Path) -> None:
    process = holder(tmp_path)
    for nonsense in ("", "[]", "{", "\0"):
        (tmp_path / "mkeyspec-mlx5_0.lock").write_text(nonsense)
        with pytest.raises(Unavailable, match="another process"):
            device_lock.take("mlx5_0", place=tmp_path)
    process.communicate("")
