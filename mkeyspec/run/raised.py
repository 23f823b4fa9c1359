"""What carrying out a step may raise, and the failure that it is: of the device, or of the case.

A broken device may raise anything else: that is told where it is known which call it was (`rig`).
"""

from __future__ import annotations

from mkeyspec.device.protocol import NoSuchCall
from mkeyspec.plan import At
from mkeyspec.run.buffer import Beyond
from mkeyspec.run.case_state import Misfit
from mkeyspec.run.errnos import NoErrno
from mkeyspec.run.granted import Less
from mkeyspec.run.label import Unobserved
from mkeyspec.run.verdict import Failure
from mkeyspec.value.live import NoValue

_TOLD: dict[type[Exception], tuple[str, str]] = {
    Unobserved: ("MKS2105", "`{}` was never there to be read"),
    NoErrno: ("MKS2007", "the device failed: {}"),
    Less: ("MKS2109", "{}"),
    Beyond: ("MKS2108", "{}"),
    Misfit: ("MKS2107", "with the numbers of this device, {}"),
    NoValue: ("MKS2107", "a number of this statement has no value here: {}"),
    NoSuchCall: ("MKS2111", "no call can ask for this: {}"),
}
"""By kind, the code and the message."""

KINDS = tuple(_TOLD)


def failure(at: At, error: Exception) -> Failure:
    """Of the step at `at`, which raised one of `KINDS`."""
    code, message = next(_TOLD[kind] for kind in type(error).__mro__ if kind in _TOLD)
    return Failure(code, at, message.format(error), hard=True)
