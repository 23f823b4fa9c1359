"""What a row needs of a device, derived from what it configures: only what some device may lack.

The names are those of `device.protocol.Capabilities.offers`.
"""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.constants import BLOCK_ENUM, CAPABILITIES, BgType, MkeyFlag, QpOps
from mkeyspec.lang import tree
from mkeyspec.lang.coercion import as_int, fault
from mkeyspec.lang.evaluate import evaluate
from mkeyspec.lang.scope import Scope
from mkeyspec.lang.spelling import did_you_mean
from mkeyspec.value.live import Live
from mkeyspec.value.signature import Domain, T10Dif

_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def needs_of(step: plan.Step) -> list[plan.Need]:
    """The needs of one step, in order."""
    found: list[plan.Need] = []
    if isinstance(step, plan.Post):
        for request in step.requests:
            _request(request, found)
    elif isinstance(step, plan.Mkey):
        if step.flags & MkeyFlag.CRYPTO:
            found.append("crypto")
        if step.flags & MkeyFlag.UPDATE_TAG:
            found.append("update_tag")
        if step.flags & MkeyFlag.REMOTE_INVALIDATE:
            found.append("remote_invalidate")
    elif isinstance(step, plan.Qp):
        _qp(step, found)
    elif isinstance(step, plan.Dek):
        found.append("crypto")
    elif isinstance(step, plan.Dct):
        found.append("qp.dci")
    elif isinstance(step, (plan.Cancel, plan.Resume)):
        found.append("pipelining")
    elif isinstance(step, plan.Retag):
        found.append("update_tag")
    return found


def _qp(step: plan.Qp, found: list[plan.Need]) -> None:
    for member, value in step.members:
        if member == "type" and value != "rc":
            found.append(f"qp.{value}")
        elif member == "sig_pipelining" and value:
            found.append("pipelining")
        elif member == "streams" and value:
            found.append("qp.dci_streams")
        elif member == "send_ops" and isinstance(value, int):
            if value & QpOps.MEMCPY:
                found.append("memcpy")
            if value & QpOps.RAW_WQE:
                found.append("raw_wqe")


def _request(request: plan.Wr, found: list[plan.Need]) -> None:
    if isinstance(request, plan.Configure):
        for setter in request.setters:
            _setter(setter, found)
    elif isinstance(request, plan.StraySetter):
        _setter(request.setter, found)
    elif isinstance(request, plan.Memcpy):
        found.append("memcpy")
    elif isinstance(request, plan.RawWqe):
        found.append("raw_wqe")
    elif isinstance(request, plan.FetchAdd):
        found.append("atomic")
    elif isinstance(request, plan.Send) and request.invalidate is not None:
        found.append("remote_invalidate")


def _setter(setter: plan.Setter, found: list[plan.Need]) -> None:
    if isinstance(setter, plan.SetSignature):
        for domain in (setter.mem, setter.wire):
            if domain is not None:
                _domain(domain, found)
    elif isinstance(setter, plan.SetCrypto):
        found.append("crypto")


def _domain(domain: Domain, found: list[plan.Need]) -> None:
    signature = domain.signature
    found.append(f"signature.{signature.kind}")
    if isinstance(signature, T10Dif) and signature.bg_type == BgType.CSUM:
        found.append("signature.csum")
    if domain.block in BLOCK_ENUM:
        found.append(f"block.{domain.block}")


def written_need(expr: tree.Expr, scope: Scope) -> plan.Need:
    """One need of a case's `needs` line: a capability's name, or a comparison of a device's number."""
    if isinstance(expr, tree.Text):
        return _capability(expr.value, expr)
    if isinstance(expr, tree.Binary) and expr.operator in _MIRRORED:
        left, right, operator = expr.left, expr.right, expr.operator
        if not isinstance(left, tree.Attribute):
            left, right, operator = right, left, _MIRRORED[operator]
        live = evaluate(left, scope)
        if isinstance(live, Live) and live.subject == "device":
            return plan.Comparison(live, operator, as_int(evaluate(right, scope), scope, right.span, "`needs`"))
        raise fault(
            "MKS0302",
            "`needs` compares a number of the device",
            expr.span,
            help="needs device.max_wr_memcpy_length >= 4096",
        )
    name = _dotted(expr)
    if name is None:
        raise fault("MKS0302", "`needs` takes names of what a device offers", expr.span, help="needs memcpy, qp.dci")
    if name not in CAPABILITIES and "." not in name:
        value = evaluate(expr, scope)
        if isinstance(value, str):
            return _capability(value, expr)
    return _capability(name, expr)


def _capability(name: str, expr: tree.Expr) -> str:
    """A name that no device knows would skip the case for ever, unseen."""
    if name not in CAPABILITIES:
        help = did_you_mean(name, sorted(CAPABILITIES)) or "mkeyspec explain MKS0222 shows them"
        raise fault("MKS0222", f"no device offers `{name}`", expr.span, help=help)
    return name


def _dotted(expr: tree.Expr) -> str | None:
    if isinstance(expr, tree.Ref):
        return expr.name
    if isinstance(expr, tree.Attribute):
        left = _dotted(expr.of)
        return None if left is None else f"{left}.{expr.name.text}"
    return None
