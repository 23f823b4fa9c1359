"""Restarts this process with the software NIC's library preloaded, and detects whether it is.

The library replaces the kernel's RDMA files. This needs LD_PRELOAD before the process starts. So the process executes
itself again, once and early: with the same interpreter, arguments, terminal and process number. The caller gets its
exit code.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import NoReturn

from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.soft import softnic
from mkeyspec.device.soft.personality import VARIABLE, PersonalityError, personality

_RESTARTED = "MKEYSPEC_SOFTNIC_RESTARTED"
"""The number of the process that was restarted; a child that inherits the variable is another process."""


FAULT = "MKEYSPEC_SOFTNIC_FAULT"
"""Names the fault that the software NIC has. Where it is set, if only to "", the library of faults is preloaded."""


def loaded() -> Path | None:
    """The software NIC's library in this process."""
    try:
        lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    except OSError:
        return None
    return next((Path(line.split(maxsplit=5)[5]) for line in lines if softnic.NAME in line), None)


def active() -> bool:
    """Whether this process runs on the software NIC."""
    return loaded() is not None


def suits(wanted: str | None) -> bool:
    """Whether this process runs on the given personality; None accepts any. One with a fault needs the library of
    faults; otherwise either library is accepted.
    """
    have = loaded()
    if have is None or (os.environ.get(FAULT) and have != softnic.library(faults=True)):
        return False
    if wanted is None:
        return True
    now = os.environ.get(VARIABLE) or personality().environment[VARIABLE]
    return now == _personality(wanted)[VARIABLE]


def _personality(wanted: str) -> dict[str, str]:
    try:
        return personality(wanted).environment
    except PersonalityError as error:
        raise Unavailable("MKS0911", str(error)) from None


def environment(wanted: str | None) -> dict[str, str]:
    """The environment of a process on the software NIC. Raises Unavailable (MKS0910, MKS0911)."""
    own = {} if wanted is None else _personality(wanted)
    if wanted is None and VARIABLE not in os.environ:
        own = personality().environment
    faults = FAULT in os.environ
    library = softnic.library(faults=faults)
    if library is None:
        why = softnic.missing(faults=faults)
        raise Unavailable("MKS0910", f"no software NIC: {why}; `mkeyspec doctor` says what to install")
    if re.search(r"[\s:]", str(library)):
        raise Unavailable("MKS0910", f"the loader can't preload {library}: its path has a blank or a colon; move it")
    before = re.split(r"[\s:]+", os.environ.get("LD_PRELOAD", ""))
    others = [item for item in before if item and Path(item).name != softnic.NAME]
    return {**os.environ, **own, "LD_PRELOAD": ":".join([str(library), *others])}


def own_variables(wanted: str | None) -> dict[str, str]:
    """Those of `environment` that make a process of this machine one on the software NIC; and where processes of a
    fabric meet."""
    found = environment(wanted)
    return {
        name: value
        for name, value in found.items()
        if name in ("LD_PRELOAD", "XDG_RUNTIME_DIR", "TMPDIR") or name.startswith("MKEYSPEC_SOFTNIC_")
    }


def ensure(wanted: str | None, *, whole: bool) -> None:
    """Return if this process is on the software NIC; else restart it, and do not return.

    `whole`: this call's caller is the process's own command, so that its arguments tell all there is to do again.
    Raises Unavailable (MKS0910, MKS0911, MKS0921).
    """
    if suits(wanted):
        return
    found = environment(wanted)
    if os.environ.get(_RESTARTED) == str(os.getpid()):
        text = f"the loader did not preload {found['LD_PRELOAD']}: is this Python static or setuid?"
        raise Unavailable("MKS0921", text)
    if not whole:
        text = "this process was not started on the software NIC and can't start itself again"
        raise Unavailable("MKS0921", f"{text}: write `mkeyspec softnic exec -- COMMAND`")
    _restart(found)


def _restart(environment: dict[str, str]) -> NoReturn:
    environment[_RESTARTED] = str(os.getpid())
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)
