"""`check`: one call of mlx5dv_mkey_check, and what it must report."""

from __future__ import annotations

from collections.abc import Mapping

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag, SigMask
from mkeyspec.compiler.check.context import Context, place
from mkeyspec.compiler.check.mkey_state import check_exists, how_to_fix, is_as_open, since
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.state import AbstractMkey, AbstractState
from mkeyspec.compiler.eval import undecided
from mkeyspec.compiler.eval.coercion import as_bytes, as_int, as_live_int, as_word, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import is_known_bytes, is_list
from mkeyspec.compiler.statements import writes
from mkeyspec.compiler.statements.expect import branch_of
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import BYTES, LABEL, MKEY, NUMBER, SIG_PAGE, Shape, Slot
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.diagnostics.diagnostic import Diagnostics, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Int
from mkeyspec.value.signature import Domain

_PART_SIZES = {"bad_guard": 2, "bad_apptag": 2, "bad_reftag": 4}
"""Bytes of the parts of a T10-DIF that a check may report."""

_KIND_MASK = {
    "bad_guard": int(SigMask.T10DIF_GUARD),
    "bad_apptag": int(SigMask.T10DIF_APPTAG),
    "bad_reftag": int(SigMask.T10DIF_REFTAG),
}
"""The bits of check_mask that can lead to each kind of error of a T10-DIF."""


def _lower(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`check k is KIND, block n, …`: one call of mlx5dv_mkey_check."""
    mkey = row.handle(sentence.operand, scope, "mkey", "`check`")
    expr = sentence.phrases["is"]
    value = evaluate(expr, scope)
    items = value if is_list(value) else (value,)
    kinds = tuple(as_word(item, scope, expr.span, ("error",), "`is`").name for item in items)
    key = row.state.mkey(mkey.name)
    assert key is not None, mkey
    told = key.told
    domain = told[-1] if told else None
    block = _int(sentence, scope, "block")
    found, computed = _bytes(sentence, scope, "found"), _bytes(sentence, scope, "computed")
    departed = sentence.node.known
    other = {} if departed is None else {modifier.name.text: modifier for modifier in departed.modifiers}
    of_block = [here[name] for here in (sentence.modifiers, other) for name in _OF_BLOCK if name in here]
    if domain is None and of_block:
        why = "its data came without a signature" if key.inputs else "it had no transfer"
        span = of_block[0].span if key.inputs else sentence.node.span
        raise fault(
            "MKS0326",
            f"no block of `{mkey.name}` can be bad: {why}",
            span,
            help=_other_side(key)
            if key.inputs
            else f"`check` follows the transfer that finds the error in `{mkey.name}`",
            page="mlx5dv_mkey_check(3)",
        )
    if of_block and len({(one.frame, one.signature.kind) for one in told}) > 1:
        came = ", then as ".join(one.describe() for one in told)
        raise fault(
            "MKS0326",
            f"which block this is depends on the transfer: the data of `{mkey.name}` came as {came}",
            of_block[0].span,
            help="check it after each of them; or say offset, expected and actual, the record's own members",
            page="mlx5dv_mkey_check(3)",
        )
    if domain is not None:
        for name, content in (("found", found), ("computed", computed)):
            _right_size((domain,), kinds, name, content, sentence.modifiers)
    known = row.known(sentence, scope)
    if known is not None and departed is not None:
        seen = kinds
        if departed.value is not None:
            value = evaluate(departed.value, scope)
            items = value if is_list(value) else (value,)
            seen = tuple(as_word(item, scope, departed.value.span, ("error",), "`known`").name for item in items)
        for name, said in known.members:
            if domain is not None and is_known_bytes(said):
                # A driver may decode an unread error by what the key has now (X-DIFF-29).
                now = (one for one in key.domains if one is not None)
                _right_size((domain, *now), seen, name, said, other)
    branch, by = branch_of(row, sentence.node.branch, scope)
    step = plan.Check(
        sentence.at,
        mkey.name,
        kinds,
        block,
        found,
        computed,
        _live(sentence, scope, "offset"),
        _live(sentence, scope, "expected"),
        _live(sentence, scope, "actual"),
        domain,
        row.claim(sentence, scope),
        known,
        row.label(sentence, scope),
        branch,
    )
    if key.stops_at is not None and "ok" not in kinds and by is None:
        called = f"`{key.stops}`" if key.stops is not None else "the default QP"
        raise fault(
            "MKS0521",
            f"an error of `{mkey.name}` stops the peer's queue of {called}, and no statement resumes that",
            sentence.span,
            notes=(Note(f"the request at {place(key.stops_at)} goes through it"),),
            help="a QP without sig_pipelining for the peer's requests, or the key at the owner",
            page="mlx5dv_create_qp(3) MLX5DV_QP_CREATE_SIG_PIPELINING",
        )
    row.origin.put_member(step, "mkey", sentence.operand.span)
    row.origin.put_member(step, "kind", expr.span)
    for name, modifier in sentence.modifiers.items():
        row.origin.put_member(step, name, modifier.span)
    if by is None and "ok" in kinds and not undecided.is_open_error(row.undecided, mkey.name):
        _cannot_fail(row, step, key, sentence.span)
    row.add(step, sentence)
    undecided.record_check(row.undecided, step, by, sentence.span)
    if by is None:
        row.undecided = row.undecided.without_key(mkey.name)
    else:
        row.undecided = row.undecided.with_labels((step.label,), (), by)
        if branch is not None and branch.accepted:  # of the other outcome there is no error
            row.undecided = row.undecided.without_key(mkey.name, by)
    writes.label(row, step, sentence.span)
    if plan.is_undecided(step.claim) and kinds != ("ok",):
        row.undecided = row.undecided.with_keys((mkey.name,), sentence.span)


_OF_BLOCK = ("block", "found", "computed")
"""Members of a check that need the signature of the data."""


def _other_side(key: AbstractMkey) -> str:
    """What to declare where the data came without a signature, and the key has a domain of the other side only."""
    if key.mem is not None and key.wire is None:
        return "of a receive only the wire domain is checked: `signature { wire d }`"
    if key.wire is not None and key.mem is None:
        return "of what is sent only the memory domain is checked: `signature { mem d }`"
    return ""


def _cannot_fail(row: RowState, step: plan.Check, key: AbstractMkey, span: Span) -> None:
    """A check that names `ok` and each error that there can be, and no member of it."""
    said = (step.block, step.found, step.computed, step.offset, step.expected, step.actual, step.known)
    if any(one is not None for one in said) or step.claim or key.unknown:
        return
    told = key.told
    left = [kind for kind in _KIND_MASK if kind not in step.kind and any(_possible(one, kind) for one in told)]
    if left or (not told and len(step.kind) <= len(_KIND_MASK)):
        return
    why = "everything that there is" if not told else f"everything that {told[-1].signature.describe()} can have"
    row.diagnostics.warning("MKS0612", f"this check cannot fail: it names {why}", span)


def _possible(domain: Domain, kind: str) -> bool:
    return domain.signature.tags or kind == "bad_guard"


def _right_size(
    domains: tuple[Domain, ...],
    kinds: tuple[str, ...],
    name: str,
    content: ByteString | None,
    said: Mapping[str, ast.Modifier],
) -> None:
    sizes = [size for domain in domains for size in _value_sizes(domain, kinds)]
    if content is not None and content.length not in sizes:
        message = f"`{name}` is a value of {sizes[0]} bytes, these are {content.length}"
        raise fault("MKS0314", message, said[name].span, page="mlx5dv_mkey_check(3)")


def _value_sizes(domain: Domain, kinds: tuple[str, ...]) -> tuple[int, ...]:
    """Bytes that `found` and `computed` may have: of the part that is bad, or of the whole field."""
    whole = domain.signature.field_size
    if domain.signature.kind != "t10dif":
        return (whole,)
    return (*sorted({_PART_SIZES[kind] for kind in kinds if kind in _PART_SIZES}), whole)


def _int(sentence: Sentence, scope: Scope, name: str) -> int | None:
    modifier = sentence.modifiers.get(name)
    if modifier is None or modifier.value is None:
        return None
    return as_int(evaluate(modifier.value, scope), scope, modifier.value.span, f"`{name}`")


def _live(sentence: Sentence, scope: Scope, name: str) -> Int | None:
    modifier = sentence.modifiers.get(name)
    if modifier is None or modifier.value is None:
        return None
    return as_live_int(evaluate(modifier.value, scope), scope, modifier.value.span, f"`{name}`")


def _bytes(sentence: Sentence, scope: Scope, name: str) -> ByteString | None:
    modifier = sentence.modifiers.get(name)
    if modifier is None or modifier.value is None:
        return None
    return as_bytes(evaluate(modifier.value, scope), scope, modifier.value.span, f"`{name}`")


# Rules ------------------------------------------------------------------------------------------


def _check(context: Context, step: plan.Check) -> None:
    """mlx5dv_mkey_check of an mkey that can have no signature (XCHK-01)."""
    if not check_exists(context, step, step.mkey):
        return
    key = context.mkey(step.mkey)
    if key is not None and not key.has(MkeyFlag.BLOCK_SIGNATURE):
        context.broken(
            "check_without_signature",
            f"`{step.mkey}` was created without BLOCK_SIGNATURE",
            step,
            notes=context.declared(step.mkey),
            help=f"mkey {step.mkey} {{ block_signature }}",
        )
    elif key is not None and key.unknown_by == "undecided" and key.unknown and not is_as_open(context, key):
        context.broken(
            "unknown_state",
            f"`{step.mkey}` is in an unknown state {since(key)}",
            step,
            help=f"{how_to_fix(step.mkey, key, None)}; or `accepted or rejected at mkey_check`",
        )


def _lint(state: AbstractState, step: plan.Check, origin: Origin, diagnostics: Diagnostics) -> None:
    """A kind of error that check_mask, or the type of the signature, rules out."""
    key = state.mkey(step.mkey)
    domain = step.domain
    if key is None or key.unknown or "ok" in step.kind:
        return
    if domain is None or key.called:
        _nothing_to_report(key, step, origin, diagnostics)
        return
    if domain not in (key.mem, key.wire):
        return  # of a transfer before the last configuration
    never = [kind for kind in step.kind if not _reportable(domain, key, kind)]
    if not never:
        return
    kinds = " or ".join(never)
    if domain.signature.tags:
        why = f"check_mask {key.check_mask:#04x} covers no byte of it"
    elif "bad_guard" in never:
        why = f"check_mask {key.check_mask:#04x} covers no byte of {domain.signature.kind}"
    else:
        why = f"{domain.signature.kind} has no tags"
    diagnostics.warning(
        "MKS0605",
        f"{kinds} cannot be reported: {why}",
        origin.get(step),
        page=f"{SIG_PAGE} check_mask, MSK-01",
    )


def _nothing_to_report(key: AbstractMkey, step: plan.Check, origin: Origin, diagnostics: Diagnostics) -> None:
    """No data with a signature has gone through the mkey since it was created, or since the last check."""
    help = ""
    if key.called:
        why = "an earlier check has called for it, and no data came since"
    elif key.inputs:
        why = f"the data of `{step.mkey}` came without a signature"
    else:
        why = f"no request has moved data through `{step.mkey}`"
        help = "a key in the layout of another one is raw memory: no signature of it is checked"
    message = f"{' or '.join(step.kind)} cannot be reported: {why}"
    diagnostics.warning("MKS0605", message, origin.get(step), help=help, page="mlx5dv_mkey_check(3)")


def _reportable(domain: Domain, key: AbstractMkey, kind: str) -> bool:
    if domain.signature.tags:
        return bool(key.check_mask & _KIND_MASK.get(kind, 0xFF))
    return kind == "bad_guard" and bool(key.check_mask & domain.signature.relevant_mask)


def _effect(state: AbstractState, step: plan.Check) -> None:
    key = state.mkey(step.mkey)
    if key is not None:
        reported = key.reported or any(kind != "ok" for kind in step.kind)
        inputs = key.inputs if key.transfers else ()
        state.things[step.mkey] = key._replace(reported=reported, inputs=inputs, called=True, stops_at=None)


CHECK = Statement(
    step=plan.Check,
    shapes=(
        Shape(
            "check",
            "check k is bad_guard, block 3",
            MKEY,
            {"is": Slot("ok, bad_guard, bad_reftag, bad_apptag, or a list of them"), "as": LABEL},
            modifiers={
                "block": NUMBER,
                "found": BYTES,
                "computed": BYTES,
                "offset": NUMBER,
                "expected": NUMBER,
                "actual": NUMBER,
            },
            phases=("mkey_check",),
            known=True,
            page="mlx5dv_mkey_check(3)",
            branch=True,
            shows=("errno",),
        ),
    ),
    lower=_lower,
    check=_check,
    effect=_effect,
    lint=_lint,
)
