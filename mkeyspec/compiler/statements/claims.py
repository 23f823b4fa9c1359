"""Claims and known departures: from the tree to the plan."""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import WC_OPCODE
from mkeyspec.compiler.eval.coercion import as_expected, as_live_bytes, as_live_int, as_reason, as_word, fault
from mkeyspec.compiler.eval.evaluate import decide, evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Errno, is_live_bytes
from mkeyspec.compiler.statements.sentence import Sentences, not_a_line
from mkeyspec.compiler.statements.shape import NUMBER, Place, Shape, Slot
from mkeyspec.diagnostics.diagnostic import Fault
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Int

ACCEPTED = plan.Accepted()

RECEIVES = ("recv", "recv_rdma_with_imm")
"""Opcodes of completions of a receive queue."""

_RECEIVED: dict[str, Slot | None] = {"id": NUMBER, "byte_len": NUMBER, "imm": NUMBER}
_ANSWERED: dict[str, Slot | None] = {"id": NUMBER, "byte_len": NUMBER}
_FAILED: dict[str, Slot | None] = {"id": NUMBER, "status": Slot("a completion status")}
_ENTRY_MEMBERS: dict[str, Mapping[str, Slot | None]] = {
    "recv": _RECEIVED,
    "recv_rdma_with_imm": _RECEIVED,
    "rdma_read": _ANSWERED,
    "fetch_add": _ANSWERED,
    "comp_swap": _ANSWERED,
    "error": _FAILED,
}
"""Members that ibv_poll_cq(3) and IBTA 11.4.2.1 define for a completion, beside its number."""

OPCODES = (*WC_OPCODE.values(), "error")
"""What a line of `completes { }` begins with. `error`: a failed completion, whose opcode is undefined."""

COMPLETES = Place(
    "completes",
    (
        Shape(name, f"{name}, id 5", modifiers=_ENTRY_MEMBERS.get(name, {"id": NUMBER}), page="ibv_poll_cq(3)")
        for name in OPCODES
    ),
)


def claim(node: ast.Claim | None, scope: Scope, sentences: Sentences, verb: str = "") -> plan.Claim:
    """The claim of a statement in this row; empty if `when` is false: then success is expected."""
    if node is None:
        return ()
    if node.when is not None and not decide(node.when, scope, "`when`"):
        return ()
    return tuple(_of_verb(outcome(item, scope, sentences), item, verb) for item in node.outcomes)


def _of_verb(found: plan.Outcome, node: ast.Outcome, verb: str) -> plan.Outcome:
    """The lists of all statements but `poll` are of a send queue, which has no receive."""
    entries = found.listed() or () if verb != "poll" else ()
    for entry in entries:
        if entry.opcode in RECEIVES:
            raise fault(
                "MKS0510",
                f"`{entry.opcode}` is of a receive queue, and the completions of `{verb}` are those of its send queue",
                node.span,
                help="poll completes { … } waits for those of both queues of an end",
                page="ibv_poll_cq(3)",
            )
    return found


def outcome(node: ast.Outcome, scope: Scope, sentences: Sentences) -> plan.Outcome:
    match node:
        case ast.Rejected():
            reason = None if node.reason is None else _reason(node.phase.text, node.reason, scope)
            return plan.Rejected(node.phase.text, reason)
        case ast.Accepted():
            return ACCEPTED
        case ast.Completes():
            lines = lines_of(node.block, COMPLETES, scope)
            return plan.Completes(tuple(_entry(line, scope, sentences) for line in lines), node.any_order)
        case _:
            assert_never(node)


def _reason(phase: str, node: ast.Expr, scope: Scope) -> str:
    """A completion fails with a status, a call with an errno."""
    value = evaluate(node, scope)
    reason = as_reason(value, scope, node.span)
    errno = isinstance(value, Errno)
    if phase == "completion" and errno:
        raise fault(
            "MKS0316",
            "a completion fails with a status, not with an errno",
            node.span,
            help="rejected at completion with local_protection",
        )
    if phase != "completion" and not errno:
        raise fault(
            "MKS0316",
            f"what is refused at {phase} fails with an errno, not with a status",
            node.span,
            help=f"rejected at {phase} with EINVAL",
        )
    return reason


def lines_of(block: ast.Block, place: Place, scope: Scope) -> list[ast.Step]:
    """The sentences of a block in this row: each `if` is picked."""
    found: list[ast.Step] = []
    for line in block.lines:
        match line:
            case ast.Step():
                found.append(line)
            case ast.If():
                picked = line.then if decide(line.condition, scope, "`if`") else line.orelse
                if picked is not None:
                    found.extend(lines_of(picked, place, scope))
            case _:
                raise not_a_line(line, place)
    return found


def _entry(node: ast.Step, scope: Scope, sentences: Sentences) -> plan.Entry:
    sentence = sentences.read(node)
    members: list[tuple[str, Int | str]] = []
    for name, modifier in sentence.modifiers.items():
        if modifier.value is None:  # the table gives each a value
            continue
        value = evaluate(modifier.value, scope)
        if name == "status":
            status = as_word(value, scope, modifier.value.span, ("status",), "`status`").name
            if status == "success":
                raise fault(
                    "MKS0316",
                    "an error completion has another status than success",
                    modifier.value.span,
                    help="the opcode, without status: send, id 5",
                )
            members.append((name, status))
        else:
            members.append((name, as_live_int(value, scope, modifier.value.span, f"`{name}`")))
    return plan.Entry(sentence.verb.name, tuple(members))


def known(node: ast.Known | None, scope: Scope, sentences: Sentences, bare: bool = False) -> plan.Known | None:
    """The departure a statement names; its value is compared like that of an `expect` or a `check`.

    `bare`: the id says what comes instead.
    """
    if node is None:
        return None
    if not bare and node.outcome is None and node.value is None and not node.modifiers:
        raise bare_departure(node, "known ID rejected at completion with local_protection")
    departure = None if node.outcome is None else outcome(node.outcome, scope, sentences)
    value = None if node.value is None else as_expected(evaluate(node.value, scope), scope, node.value.span, "`known`")
    members: list[tuple[str, Int | str | ByteString]] = []
    for modifier in node.modifiers:
        if modifier.value is None or modifier.but:
            raise fault("MKS0213", f"`{modifier.name.text}` lacks its value", modifier.span)
        found = evaluate(modifier.value, scope)
        name = modifier.name.text
        if name in ("found", "computed"):
            content = as_live_bytes(found, scope, modifier.value.span, f"`{name}`")
            if is_live_bytes(content):
                raise fault("MKS0309", f"`{name}` takes bytes that are known before the case runs", modifier.value.span)
            members.append((name, content))
        else:
            members.append((name, as_live_int(found, scope, modifier.value.span, f"`{name}`")))
    return plan.Known(node.requirement.text, departure, value, tuple(members))


def bare_departure(node: ast.Known, help: str) -> Fault:
    """MKS0515: any failure of the statement would be taken for the departure."""
    return fault("MKS0515", f"`known {node.requirement.text}` says nothing of what comes instead", node.span, help=help)


def shown(members: tuple[str, ...], found: plan.Claim) -> tuple[str, ...]:
    """Which live members of a label there are: of what is refused no count, of an error completion no byte_len, and of
    what is refused at complete no completion at all."""
    if not plan.is_rejected(found):
        return members
    gone = ("count", "byte_len") if plan.rejected_at(found, "completion") else ("count", "byte_len", "status")
    return tuple(member for member in members if member not in gone)
