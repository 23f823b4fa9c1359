"""Device lock: one run per NIC. A lock file per device, held for the run and shared by its processes.

The lock is the kernel's (`flock`), so it is released when the processes that hold it end, in whatever way. A lock
file that remains means nothing. It names the run, for the message. All workers of one run hold the lock;
`MKEYSPEC_LEASE` in their environment names the owner.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import stat
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from mkeyspec.device.protocol import Unavailable

RUN = "MKEYSPEC_LEASE"
_WRITTEN_IN = 0.2
"""Seconds from the lock to the name of its owner in the file, at most."""


def folder() -> Path:
    """The directory of the lock files: one per machine, since all users of the machine share a NIC."""
    shared = Path("/run/lock")
    return shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())


@dataclass(slots=True, eq=False)
class Lease:
    descriptor: int

    def release(self) -> None:
        """Release the lock; a second call does nothing. The last process of a run empties the file."""
        if self.descriptor >= 0:
            with contextlib.suppress(OSError):
                fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.ftruncate(self.descriptor, 0)
            os.close(self.descriptor)
            self.descriptor = -1


_notes: list[str] = []


def notes() -> list[str]:
    """What is to be told of the locks that this process has taken, a line each; each is given once."""
    told, _notes[:] = list(_notes), []
    return told


def be_one_run() -> None:
    """The processes that this one starts from now on share the locks that they take; on other hosts, too, where the
    number of a process alone may be that of another run."""
    os.environ.setdefault(RUN, f"{os.uname().nodename}-{os.getpid()}")


def take(device: str, *, place: Path | None = None) -> Lease:
    """Lock `device`, alone or together with the processes of one run. Raises Unavailable (MKS0916) at
    once."""
    path = (place or folder()) / f"mkeyspec-{device}.lock"
    be_one_run()
    run = os.environ[RUN]
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        raise Unavailable("MKS0916", f"can't lock {device}: {path}: {error.strerror}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unavailable("MKS0916", f"can't lock {device}: {path} is not a plain file; remove it")
        _take(descriptor, device, run)
    except BaseException:
        os.close(descriptor)
        raise
    return Lease(descriptor)


def _take(descriptor: int, device: str, run: str) -> None:
    """Lock exclusively if it is free, to write the owner; then share it with the workers of the same run."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _join(descriptor, device, run)
        return
    before = holder_of(descriptor)
    if before and not _is_alive(before):
        text = f"the lock of {device} was left by a run that did not end by itself ({_who(before)}); it is taken"
        _notes.append(f"warning[MKS0976]: {text}, and the device may not be as a run leaves it")
    os.ftruncate(descriptor, 0)
    since = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    told = {"run": run, "pid": os.getpid(), "host": platform.node(), "since": since}
    os.pwrite(descriptor, json.dumps(told).encode(), 0)
    fcntl.flock(descriptor, fcntl.LOCK_SH)


def _join(descriptor: int, device: str, run: str) -> None:
    end = time.monotonic() + _WRITTEN_IN
    while (holder := holder_of(descriptor)).get("run") != run and time.monotonic() < end:
        time.sleep(0.01)  # a worker of this run may have locked it, and be about to write its name
    if holder.get("run") == run:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            # The first worker of this run is about to share it.
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        return
    left = (
        "" if not holder or _is_alive(holder) else ", which has ended: a process that it started still holds the lock"
    )
    fix = "wait for it to end (--wait-for-device SECONDS), or name another device"
    raise Unavailable("MKS0916", f"{device} is in use by another run ({_who(holder)}{left}); {fix}")


def _who(holder: dict[str, object]) -> str:
    """`process 4711 on alpha, since 2026-11-24T15:00:00Z`."""
    if "pid" not in holder:
        return "another process"
    host, since = holder.get("host"), holder.get("since")
    return f"process {holder['pid']}{f' on {host}' if host else ''}{f', since {since}' if since else ''}"


def _is_alive(holder: dict[str, object]) -> bool:
    """Whether its process is there, as far as can be known: one of another host or user is."""
    pid = holder.get("pid")
    if type(pid) is not int or pid <= 0 or holder.get("host", platform.node()) != platform.node():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def holder_of(descriptor: int) -> dict[str, object]:
    """The holder as written in the file; empty while it is being written, or if it is not a lock file of mkeyspec."""
    try:
        told = json.loads(os.pread(descriptor, 4096, 0) or b"{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
