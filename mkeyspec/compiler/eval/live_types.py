"""Types of live members, and the values that each is compared with.

A live member is a number, an errno or a completion status. An errno is compared with errnos, by name or number, and
with 0 (the call went through); a status with the words for statuses and their classes. Everything else is an error of
the case: a rig that compares `22` with `EINVAL` finds them different, and an expectation with `!=` always holds.
"""

from __future__ import annotations

import errno

from mkeyspec.abi.constants import STATUS_CLASS, WC_STATUS
from mkeyspec.compiler.eval.coercion import LIVE_TYPES, as_expected, fault
from mkeyspec.compiler.eval.describe import describe
from mkeyspec.compiler.eval.errno_names import errno_name
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Errno, Value, Word, is_flags, is_list, is_live, is_number
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
    if is_list(right):
        return OneOf(tuple(comparable(observed, operator, item, scope, span) for item in right))
    if is_live(right):
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
    if is_flags(right) or is_number(right):
        return as_expected(right, scope, span)
    match right:
        case Errno():
            raise _differ("number", describe(right), span, "`.errno` is what a call returned")
        case Word() | str() | bool() | None:
            raise _differ("number", describe(right), span, "")
        case _:
            raise _differ("number", "bytes", span, "int_be(bytes) is their number")


def _errno(right: Value, scope: Scope, span: Span) -> Expected:
    help = "EINVAL, or 0 for success"
    match right:
        case Errno(name):
            return name
        case _ if is_number(right):
            return _errno_by_number(int(right), span)
        case str() if hasattr(errno, right):
            help = f"without quotes: {right}"
        case _:
            pass  # not an errno
    raise _differ("errno", describe(right), span, help)


def _errno_by_number(number: int, span: Span) -> Expected:
    if number == 0:
        return 0
    if number in errno.errorcode:
        return errno_name(number)
    help = f"errnos are positive here: {errno_name(-number)}" if -number in errno.errorcode else "0 is success"
    raise fault("MKS0316", f"no errno has the number {number}", span, help=help)


def _status(right: Value, scope: Scope, span: Span) -> Expected:
    statuses = (*STATUS_CLASS, *WC_STATUS)
    help = "success, local_protection, remote_access…"
    match right:
        case Word("status", name):
            return name
        case str():
            help = f"without quotes: {right}" if right in statuses else did_you_mean(right, statuses) or help
        case _:
            pass  # not a status
    raise _differ("status", describe(right), span, help)
