"""Errnos that the calls of a device give, and their names."""

from __future__ import annotations

from errno import EOPNOTSUPP, errorcode
from operator import index

from mkeyspec.device.protocol import Refused


class NoErrno(Exception):
    """The device gave something else where its calls give an errno; `str()` says what."""


def returned(number: object) -> int:
    """What a call returned that returns a number. Raises NoErrno for anything else."""
    try:
        return index(number)  # type: ignore[arg-type]
    except TypeError:
        raise NoErrno(f"a call returned {number!r:.80}, which is no number") from None


def errno_name(number: int) -> str:
    """EINVAL for 22. -EINVAL for -22, which by the pages no call returns but mlx5dv_qp_cancel_posted_send_wrs. Of two
    names for one number, the man pages'. Raises NoErrno for what is no number."""
    number = returned(number)
    if number < 0:
        return f"-{errno_name(-number)}"
    return "EOPNOTSUPP" if number == EOPNOTSUPP else errorcode.get(number, f"errno {number}")


def errno_of(refusal: Refused) -> int:
    """The errno of a refusal. Raises NoErrno for what is no number, and for 0: that is success."""
    try:
        number = index(refusal.errno)
    except TypeError:
        number = 0
    if not number:
        raise NoErrno(f"{refusal.call} raised Refused with errno {refusal.errno!r:.80}, which is no errno")
    return number
