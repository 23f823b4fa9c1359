"""Device lock: one run per NIC. A lock file per device, held for the run and shared by its processes.

The lock is the kernel's (`flock`), so it is released when the processes that hold it end, in whatever way. A lock
file that remains means nothing. It names the run, for the message. All workers of one run hold the lock;
`MKEYSPEC_LEASE` in their environment names the owner.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import tempfile
import time
from dataclasses import dataclass
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
        """Release the lock; a second call does nothing."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def be_one_run() -> None:
    """The processes that this one starts from now on share the locks that they take."""
    os.environ.setdefault(RUN, f"{os.getpid()}")


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
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps({"run": run, "pid": os.getpid()}).encode(), 0)
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
    who = f"process {holder['pid']}" if "pid" in holder else "another process"
    text = f"{device} is in use by another run ({who}); wait for it to end, or name another device"
    raise Unavailable("MKS0916", text)


def holder_of(descriptor: int) -> dict[str, object]:
    """The holder as written in the file; empty while it is being written, or if it is not a lock file of mkeyspec."""
    try:
        told = json.loads(os.pread(descriptor, 4096, 0) or b"{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
