"""The names of errnos, one for each number."""

from __future__ import annotations

import errno

from mkeyspec.diagnostics.diagnostic import Diagnostic, Fault
from mkeyspec.diagnostics.source import Span
from mkeyspec.diagnostics.suggest import did_you_mean


def errno_name(number: int) -> str:
    """EINVAL for 22. Of two names for one number, the man pages' (EOPNOTSUPP)."""
    return "EOPNOTSUPP" if number == errno.EOPNOTSUPP else errno.errorcode[number]


def known_errno(name: str, span: Span) -> str:
    """The errno that `name` means, under the name that the rig gives it; `Fault` MKS0202 if it is none."""
    number = getattr(errno, name, None)
    if not isinstance(number, int):
        names = sorted(errno.errorcode.values())
        raise Fault(Diagnostic("MKS0202", f"there is no errno {name}", span, help=did_you_mean(name, names)))
    return errno_name(number)
