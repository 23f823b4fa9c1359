"""Declaration of a pair of QPs."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import QpOps
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.state import MKEY_OPS, AbstractState, qp_state
from mkeyspec.compiler.eval.coercion import as_bool, as_flags, as_int, as_word, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Handle, is_list
from mkeyspec.compiler.statements.request_parts import flag
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.setters import fields
from mkeyspec.compiler.statements.shape import NEW, Place, Shape, field_line
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.value.live import is_known, known_number

NUMBERS = ("max_inline_data", "max_send_sge", "max_recv_sge", "max_send_wr", "max_recv_wr", "streams")
SWITCHES = ("sq_sig_all", "sig_pipelining", "scatter_to_cqe")
TYPES = ("rc", "uc", "ud", "dci", "xrc_send", "raw_packet")

_ALL_OPS = MKEY_OPS | int(QpOps.RAW_WQE | QpOps.MEMCPY)

_OPERATIONS = {
    "rc": _ALL_OPS,
    # "The available builders and setters for DCI QP are the same as RC QP", but mr_* are under "RC QPs" alone
    # (mlx5dv_wr_post(3), X-DIFF-14): what only the first sentence gives is left open, see `_OPEN`.
    "dci": _ALL_OPS,
    "uc": int(QpOps.RAW_WQE),
    "ud": int(QpOps.RAW_WQE),
    "xrc_send": int(QpOps.RAW_WQE),
    "raw_packet": int(QpOps.RAW_WQE),
}
"""The mlx5 send operations of each QP type (WRP-06, WRP-19, WRP-27)."""

_OPEN = {"dci": MKEY_OPS}

_OPERATION_NAMES = {
    int(QpOps.MR_INTERLEAVED): "mr_interleaved",
    int(QpOps.MR_LIST): "mr_list",
    int(QpOps.MKEY_CONFIGURE): "configure",
    int(QpOps.RAW_WQE): "raw",
    int(QpOps.MEMCPY): "memcpy",
}


def _qp(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`qp q { … }`: a pair of the case; only the members that the case names are in the plan."""
    name = sentence.new_name()
    members: list[tuple[str, int | str | bool]] = []
    pd: str | None = None
    lines = fields(row, sentence, scope)
    for word, line in lines.items():
        if word == "cq":
            raise fault(
                "MKS0223",
                "`cq` is reserved: each queue of a QP has a completion queue of its own",
                line.span,
                help="leave it out",
            )
        expr = line.node.operand
        if expr is None:
            members.append((word, True))  # a switch: the table allows no other word without a value
            continue
        value = evaluate(expr, scope)
        if word == "pd":
            pd = row.handle(expr, scope, "pd", "`pd`").name
        elif word == "type":
            members.append((word, as_word(value, scope, expr.span, ("qp_type",), "`type`").name))
        elif word == "send_ops":
            items = value if is_list(value) else (value,)
            flags = 0
            for item in items:
                operation = as_flags(item, scope, expr.span, "qp_op", "`send_ops`")
                flags |= known_number(operation) or 0
            members.append((word, flags))
        elif word in SWITCHES:
            members.append((word, as_bool(value, scope, expr.span, f"`{word}`")))
        elif word in NUMBERS:
            number = as_int(value, scope, expr.span, f"`{word}`")
            members.append((word, fitting(number, word, expr.span)))
    overrides = [(member, value) for member, value in row.overrides(sentence, scope) if is_known(value)]
    for member, value in overrides:
        members.append(("send_ops" if member == "send_ops_flags" else member, value))
    step = plan.Qp(sentence.at, name.text, tuple(members), pd, row.claim(sentence, scope), row.known(sentence, scope))
    for word, line in lines.items():
        row.origin.put_member(step, word, line.span)
    row.add(step, sentence)
    row.declare(name, Handle("qp", name.text), scope)
    if flag(sentence, scope, "default"):
        if row.default_qp is not None:
            message = f"`{row.default_qp}` is the default QP of this case already"
            raise fault("MKS0217", message, sentence.modifiers["default"].span, help="`on q` names another one")
        row.default_qp = name.text


# Rules ------------------------------------------------------------------------------------------


def _operation_names(operations: int) -> str:
    """`configure, mr_list`; unknown bits as a number."""
    names = [name for flag, name in _OPERATION_NAMES.items() if operations & flag]
    rest = operations & ~_ALL_OPS
    return ", ".join([*names, hex(rest)] if rest else names)


def _check(context: Context, step: plan.Qp) -> None:
    """A QP is created with operations that its type has only (WRP-03); streams are a DCI's."""
    members = dict(step.members)
    kind = members.get("type", "rc")
    if members.get("streams") and kind != "dci":
        context.broken(
            "streams_of_no_dci",
            f"streams are a DCI's (dc_init_attr), and this QP is of type {kind}",
            step,
            "streams",
            help=f"qp {step.name} {{ type dci; streams … }}",
        )
    operations = members.get("send_ops", MKEY_OPS)
    if not isinstance(operations, int) or not isinstance(kind, str):
        return
    excess = operations & ~_OPERATIONS.get(kind, _ALL_OPS)
    if excess:
        context.broken(
            "qp_operations",
            f"a {kind} QP has no {_operation_names(excess)}",
            step,
            "send_ops",
            help=""
            if "send_ops" in members
            else f"name its operations: `qp {step.name} {{ type {kind}; send_ops [raw] }}`",
        )
    elif operations & _OPEN.get(kind, 0):
        names = _operation_names(operations & _OPEN[kind])
        context.broken(
            "qp_operations",
            f"the pages contradict each other about {names} on a {kind} QP",
            step,
            "send_ops",
            definite=False,
        )


def _effect(state: AbstractState, step: plan.Qp) -> None:
    state.things[step.name] = qp_state(step)


QP = Statement(
    step=plan.Qp,
    shapes=(
        Shape(
            "qp",
            "qp q { max_send_sge 1; max_inline_data 0 }",
            NEW,
            modifiers={"default": None},
            but=("send_ops_flags",),
            lines=Place(
                "qp",
                (
                    field_line("type", "type rc", ", ".join(TYPES)),
                    field_line("send_ops", "send_ops [configure, mr_list]", "a list of operations"),
                    *(field_line(name, f"{name} 4", "a number") for name in NUMBERS),
                    *(field_line(name, name, "yes or no", required=False) for name in SWITCHES),
                    field_line("cq", "cq own", "reserved", required=False),
                    field_line("pd", "pd p", "a pd"),
                ),
            ),
            phases=("create",),
            known=True,
            page="mlx5dv_create_qp(3)",
        ),
    ),
    lower=_qp,
    check=_check,
    effect=_effect,
)
