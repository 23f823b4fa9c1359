"""The needs of a row: those written in the case, and those of its steps.

Most steps have them (`plan.Step.needs`). Needs that depend on the QP, or on a number that not every device reports,
are found here. The names are those of `device.protocol.Capabilities.offers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mkeyspec import plan
from mkeyspec.abi.constants import ALWAYS_TOLD, CAPABILITIES, MANY_ENTRIES, Access
from mkeyspec.compiler.check import AbstractState
from mkeyspec.compiler.check.state import DEFAULT_QP
from mkeyspec.compiler.eval.coercion import as_int, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.undecided import lives
from mkeyspec.diagnostics.source import Span
from mkeyspec.diagnostics.suggest import did_you_mean
from mkeyspec.plan.use import total
from mkeyspec.syntax import ast
from mkeyspec.value.live import Live, known_number

LEAST_MTU = 256
"""Bytes that a datagram may have at any port (enum ibv_mtu)."""

LEAST_STREAMS = 2
"""What a DCI has of a device that has streams at all."""

INFINITE = 1 << 128
"""More than any number of a device."""
_NUMBER_OF = {
    "max_send_wr": "max_qp_wr",
    "max_recv_wr": "max_qp_wr",
    "max_send_sge": "max_sge",
    "max_recv_sge": "max_sge",
}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


_WITH = {"block_signature": ("signature", "block"), "qp.dci": ("qp.dci_streams",)}
"""What a device without a capability lacks as well, beside the names that begin with it (`crypto.plaintext`)."""


def written_need(expr: ast.Expr, scope: Scope) -> plan.Need:
    """One need of a case's `needs` line: a capability's name, its absence, or a comparison of a device's number."""
    match expr:
        case ast.Unary(operator="not", operand=ast.Binary(operator=operator)) if operator in _MIRRORED:
            raise fault(
                "MKS0302",
                "`not` in `needs` is for a capability; a number is compared the other way",
                expr.span,
                help="needs device.max_wr_memcpy_length < 4096",
            )
        case ast.Unary(operator="not", operand=operand):
            return plan.Lacks(_named(operand, scope))
        case ast.Binary(operator=operator, left=ast.Attribute() as left, right=right) if operator in _MIRRORED:
            return _comparison(expr, left, operator, right, scope)
        case ast.Binary(operator=operator, left=left, right=right) if operator in _MIRRORED:
            return _comparison(expr, right, _MIRRORED[operator], left, scope)
        case _:
            return _named(expr, scope)


def _comparison(expr: ast.Expr, left: ast.Expr, operator: str, right: ast.Expr, scope: Scope) -> plan.Comparison:
    match evaluate(left, scope):
        case Live("device") as live:
            return plan.Comparison(live, operator, as_int(evaluate(right, scope), scope, right.span, "`needs`"))
        case _:
            raise fault(
                "MKS0302",
                "`needs` compares a number of the device",
                expr.span,
                help="needs device.max_wr_memcpy_length >= 4096",
            )


def without(lacked: str, need: str) -> bool:
    """Whether a device that lacks the first capability can't have the second."""
    above = (lacked, *_WITH.get(lacked, ()))
    return any(need == name or need.startswith(f"{name}.") for name in above)


def check_contradiction(needs: list[plan.Need], expr: ast.Expr) -> None:
    """No device has a capability and lacks it, or has a number that is two things: the case would be skipped
    everywhere. `expr`: the last need."""
    for lacked in plan.lacked(needs):
        for asked in plan.offered(needs):
            if without(lacked, asked):
                message = f"no device lacks `{lacked}` and offers `{asked}`"
                raise fault("MKS0222", message, expr.span, help="drop one of both")
    for new in _comparisons(needs[-1:]):
        check_numbers(needs, new, expr.span)


def check_numbers(needs: Iterable[plan.Need], new: plan.Comparison, span: Span) -> None:
    """Some number must meet the new need and those of the same number."""
    same = [one for one in _comparisons(needs) if one.live == new.live]
    if _is_met((new,)):
        other = next((one for one in same if not _is_met((one, new))), None)
        if other is None and _is_met((*same, new)):
            return
        both = f"`{other}` and `{new}`" if other is not None else ", ".join(f"`{one}`" for one in same)
        raise fault("MKS0222", f"no device has both: {both}", span, help="drop one of them")
    raise fault("MKS0222", f"no device has `{new}`: a number of it is never negative", span)


def _comparisons(needs: Iterable[plan.Need]) -> Iterator[plan.Comparison]:
    for need in needs:
        match need:
            case plan.Comparison():
                yield need
            case _:
                pass  # a capability


def _is_met(needs: Sequence[plan.Comparison]) -> bool:
    """Whether there is a number that meets all of them."""
    low, high = 0, INFINITE
    holes: set[int] = set()
    for need in needs:
        value = need.value
        match need.operator:
            case ">=" | ">":
                low = max(low, value + (need.operator == ">"))
            case "<=" | "<":
                top = value - (need.operator == "<")
                high = min(high, top)
            case "==":
                low, high = max(low, value), min(high, value)
            case _:
                holes.add(value)
    return high - low + 1 > sum(low <= hole <= high for hole in holes)


def _named(expr: ast.Expr, scope: Scope) -> str:
    name = _dotted(expr)
    if name is None:
        raise fault("MKS0302", "`needs` takes names of what a device offers", expr.span, help="needs memcpy, qp.dci")
    if name not in CAPABILITIES and "." not in name and name in scope.all_names():
        value = evaluate(expr, scope)
        if isinstance(value, str):
            return _capability(value, expr)
    return _capability(name, expr)


def derived_needs(state: AbstractState, step: plan.Step, device_numbers: bool) -> Iterator[plan.Need]:
    """What a device must have for a step. A `record` needs nothing: it is absent if there is no value.

    `device_numbers`: the file reads numbers that not every device reports, so that the step is searched for them.
    """
    yield from step.needs()
    if isinstance(step, plan.Record):
        return
    if step.moves_data():
        transfers = f"transfer.{state.qp(step.queue()[0]).type}"
        if transfers in CAPABILITIES:
            yield transfers
    yield from _sizes(state, step)
    yield from _of_mkeys(state)
    yield from _of_requests(step)
    match step:
        case plan.Mkey(entries=entries) if (known_number(entries) or 0) > MANY_ENTRIES:
            yield "large_mkey"
    for live in lives(step) if device_numbers else ():
        if live.subject == "device" and live.member not in ALWAYS_TOLD:
            yield plan.Comparison(live, ">=", 0)


def _of_requests(step: plan.Step) -> Iterator[plan.Need]:
    """Rights that a request of the step gives its mkey, also where a later one of its section takes them back."""
    if not plan.is_post(step) or plan.rejected_at(step.claim, "complete"):
        return
    for request in step.requests:
        match request:
            case plan.Configure(setters=setters):
                given = [setter.flags for setter in setters if isinstance(setter, plan.SetAccess)]
            case plan.MrList() | plan.MrInterleaved():
                given = [request.access]
            case _:
                given = []
        if any((known_number(access) or 0) & Access.REMOTE_ATOMIC for access in given):
            yield "access.remote_atomic"


def _of_mkeys(state: AbstractState) -> Iterator[plan.Need]:
    """What the mkeys have that not every device gives them."""
    for name in state.things:
        mkey = state.mkey(name)
        if mkey is None:
            continue
        access = None if mkey.access is None else known_number(mkey.access)
        if access and access & Access.REMOTE_ATOMIC:
            yield "access.remote_atomic"
        if mkey.crypto is not None and (mkey.length or 0) > mkey.crypto.data_unit:
            yield "crypto.multi_block"


def _sizes(state: AbstractState, step: plan.Step) -> Iterator[plan.Need]:
    """What a QP is asked to have beyond the default one, a datagram beyond what any port takes, and what is copied."""
    if isinstance(step, plan.Qp) and not plan.may_be_rejected(step.claim):
        for member, number in step.members:
            if not isinstance(number, int):
                continue
            name = _NUMBER_OF.get(member)
            if name is not None and number > getattr(DEFAULT_QP, member):
                yield plan.Comparison(Live("device", name), ">=", number)
            if member == "streams" and number > LEAST_STREAMS:
                # The rig makes as many that may be in error as there are.
                for limit in ("max_log_num_concurent", "max_log_num_errored"):
                    yield plan.Comparison(Live("device", limit), ">=", (number - 1).bit_length())
    elif plan.is_post(step) and not step.claim and state.qp(step.qp).type == "ud":
        for request in step.requests:
            length = total(request.data) if isinstance(request, plan.Send) else 0
            if isinstance(length, int) and length > LEAST_MTU:
                yield plan.Comparison(Live("device", "active_mtu"), ">=", length)
    elif plan.is_post(step) and not plan.rejected_at(step.claim, "complete"):
        lengths = [
            known_number(one.source.length)
            for one in step.requests
            if isinstance(one, plan.Memcpy) and not one.options.but
        ]
        if longest := max((length for length in lengths if length is not None), default=0):
            yield plan.Comparison(Live("device", "max_wr_memcpy_length"), ">=", longest)


def _capability(name: str, expr: ast.Expr) -> str:
    """A name that no device has would always skip the case."""
    if name not in CAPABILITIES:
        help = did_you_mean(name, sorted(CAPABILITIES)) or "mkeyspec explain MKS0222 shows them"
        raise fault("MKS0222", f"no device offers `{name}`", expr.span, help=help)
    return name


def _dotted(expr: ast.Expr) -> str | None:
    match expr:
        case ast.Ref(name=text) | ast.Text(value=text):
            return text
        case ast.Attribute(of=of, name=name):
            left = _dotted(of)
            return None if left is None else f"{left}.{name.text}"
        case _:
            return None
