"""Types of what only the device knows, and what each is compared with.

A live member is a number, an errno or a completion status. An errno is compared with errnos, by name or number, and
with 0 (the call went through); a status with the words for statuses and their classes. Everything else is an error of
the case: a rig that holds `22` against `EINVAL` finds them different, and an expectation by `!=` holds for ever.
"""

from __future__ import annotations

import errno

from mkeyspec.abi.constants import STATUS_CLASS, WC_STATUS
from mkeyspec.compiler.eval.coercion import LIVE_TYPES, as_expected, fault, is_flags
from mkeyspec.compiler.eval.describe import describe
from mkeyspec.compiler.eval.errno_names import errno_name
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Errno, Value, Word
from mkeyspec.diagnostics.diagnostic import Fault
from mkeyspec.diagnostics.source import Span
from mkeyspec.diagnostics.suggest import did_you_mean
from mkeyspec.plan import Expected, OneOf
from mkeyspec.value.live import MEMBER_TYPES, Live, LiveOp


def type_of(value: Live | LiveOp) -> str:
    """`number`, `errno` or `status`; arithmetic is done on numbers only, and gives one."""
    return MEMBER_TYPES.get(value.member, "number") if isinstance(value, Live) else "number"


def comparable(observed: Live | LiveOp, operator: str, right: Value, scope: Scope, span: Span) -> Expected:
    """`right` as what the rig holds against `observed`; `Fault` MKS0316 where the types differ."""
    kind = type_of(observed)
    if kind != "number" and operator not in ("==", "!="):
        raise fault("MKS0316", f"{LIVE_TYPES[kind]} is compared by == and !=, not by {operator}", span)
    if isinstance(right, tuple):
        return OneOf(tuple(comparable(observed, operator, item, scope, span) for item in right))
    if isinstance(right, (Live, LiveOp)):
        if type_of(right) != kind:
            raise _differ(kind, LIVE_TYPES[type_of(right)], span, "")
        return right
    if kind == "number":
        return _number(right, scope, span)
    if kind == "errno":
        return _errno(right, scope, span)
    return _status(right, scope, span)


def _differ(kind: str, what: str, span: Span, help: str) -> Fault:
    return fault("MKS0316", f"{LIVE_TYPES[kind]} is compared with {what}", span, help=help)


def _number(right: Value, scope: Scope, span: Span) -> Expected:
    if is_flags(right) or (isinstance(right, int) and not isinstance(right, bool)):
        return as_expected(right, scope, span)
    if isinstance(right, (Errno, Word, str, bool)) or right is None:
        help = "`.errno` is what a call returned" if isinstance(right, Errno) else ""
        raise _differ("number", describe(right), span, help)
    raise _differ("number", "bytes", span, "int_be(bytes) is their number")


def _errno(right: Value, scope: Scope, span: Span) -> Expected:
    if isinstance(right, Errno):
        return right.name
    if isinstance(right, int) and not isinstance(right, bool):
        number = int(right)
        if number == 0:
            return 0
        if number in errno.errorcode:
            return errno_name(number)
        help = f"errnos are positive here: {errno_name(-number)}" if -number in errno.errorcode else "0 is success"
        raise fault("MKS0316", f"no errno has the number {number}", span, help=help)
    quoted = isinstance(right, str) and hasattr(errno, right)
    help = f"without quotes: {right}" if quoted else "EINVAL, or 0 for success"
    raise _differ("errno", describe(right), span, help)


def _status(right: Value, scope: Scope, span: Span) -> Expected:
    if isinstance(right, Word) and right.kind == "status":
        return right.name
    statuses = (*STATUS_CLASS, *WC_STATUS)
    help = "success, local_protection, remote_access…"
    if isinstance(right, str):
        help = f"without quotes: {right}" if right in statuses else did_you_mean(right, statuses) or help
    raise _differ("status", describe(right), span, help)
