"""Starting this process anew under the software NIC's library, and knowing whether it was.

The library takes the place of the kernel's RDMA files, which only LD_PRELOAD can arrange, before the process starts.
So a process that wants it executes itself again, once and early: same interpreter, same arguments, same terminal,
same process number, and its exit code is whoever called's to see.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from mkeyspec.device import personality, softnic
from mkeyspec.device.protocol import Unavailable

_RESTARTED = "MKEYSPEC_SOFTNIC_RESTARTED"
"""The number of the process that started itself anew; a child that inherits it is another process."""


def active() -> bool:
    """Whether this process runs on the software NIC."""
    try:
        return softnic.NAME in Path("/proc/self/maps").read_text(errors="replace")
    except OSError:
        return False


def suits(wanted: str | None, environment: Mapping[str, str] | None = None) -> bool:
    """Whether this process has the personality that is wanted; None takes what is there."""
    have = (os.environ if environment is None else environment).get(personality.VARIABLE) or personality.DEFAULT
    return active() and (wanted is None or have == personality.value(wanted))


def environment(wanted: str | None) -> dict[str, str]:
    """The environment of a process on the software NIC. Raises Unavailable (MKS0914, MKS0915)."""
    value = personality.value(wanted) if wanted is not None else None
    library = softnic.library()
    if library is None:
        raise Unavailable("MKS0914", f"no software NIC: {softnic.missing()}; `mkeyspec doctor` says what to install")
    before = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    others = [item for item in before if Path(item).name != softnic.NAME]
    found = {**os.environ, "LD_PRELOAD": " ".join([str(library), *others])}
    if value is not None:
        found[personality.VARIABLE] = value
    return found


def ensure(wanted: str | None, *, whole: bool) -> None:
    """Return if this process is on the software NIC; else start it anew, and don't return.

    `whole`: this call's caller is the process's own command, so that its arguments tell all there is to do again.
    Raises Unavailable (MKS0914, MKS0915).
    """
    if suits(wanted):
        return
    if os.environ.get(_RESTARTED) == str(os.getpid()):
        raise Unavailable(
            "MKS0914", f"the loader did not preload {softnic.library()}: is this Python static or setuid?"
        )
    if not whole:
        text = "this process can't be started anew; start it with `mkeyspec softnic exec -- COMMAND`"
        raise Unavailable("MKS0914", f"no software NIC in this process: {text}")
    _restart(environment(wanted))


def _restart(environment: dict[str, str]) -> NoReturn:
    environment[_RESTARTED] = str(os.getpid())
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)
