"""What other users, other threads and odd settings do to a process: `python robust.py NAME` under the preload.

Each function is one process of its own, by uverbs commands alone; test_robust.py runs them.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

SYSFS = os.environ.get("SYSFS_PATH", "")


def _look_for_devices() -> list[str]:
    return sorted(path.name for path in Path("/sys/class/infiniband").iterdir())


def planted_links() -> None:
    """Links under every name that follows from the pid, made by another user: nothing is written through them."""
    place, target = Path(SYSFS).parent, Path(os.environ["TARGET"])
    stem = Path(SYSFS).name.rsplit("-", 1)[0]
    for word in ("new", "old"):
        for name in (f"{stem}-{word}{os.getpid()}", f"{stem}-{word}"):
            (place / name).symlink_to(target)
    assert _look_for_devices() == ["mlx5_0"]
    assert list(target.iterdir()) == []
    (place / "seen").touch()


def unsafe_place() -> None:
    """A TMPDIR in which others may rename our directory is not used."""
    assert _look_for_devices() == ["mlx5_0"]
    assert Path(SYSFS).parent == Path("/tmp")
    assert stat.S_IMODE(Path(SYSFS).stat().st_mode) == 0o700


def taken_name() -> None:
    """Somebody has our directory's very name: no device, one line on stderr, and what is there stays as it is."""
    place = Path(SYSFS)
    place.mkdir(mode=0o755)
    (place / "theirs").mkdir()  # mkdir and rmdir pass by the preload
    for path in ("/sys/class/infiniband", SYSFS, f"{SYSFS}/theirs"):
        assert not Path(path).exists()
    (place / "theirs").rmdir()
    place.rmdir()


SCENARIOS: dict[str, Callable[[], None]] = {
    function.__name__: function for function in (planted_links, unsafe_place, taken_name)
}

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
