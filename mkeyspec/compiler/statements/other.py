"""The remaining statements: store, check, await, poll, cancel, resume, retag."""

from __future__ import annotations

from collections.abc import Mapping

from mkeyspec import plan
from mkeyspec.abi.constants import QP_EVENTS
from mkeyspec.compiler.eval import undecided
from mkeyspec.compiler.eval.buffer_contents import Unsaid
from mkeyspec.compiler.eval.coercion import as_bytes, as_int, as_live_bytes, as_live_int, as_word, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import LIVE_BYTES
from mkeyspec.compiler.statements import writes
from mkeyspec.compiler.statements.claims import claims_rejection, goes_through
from mkeyspec.compiler.statements.operands import place
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.shape import Sentence
from mkeyspec.compiler.statements.vacuous import look_poll
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Int
from mkeyspec.value.signature import Domain

_PART_SIZES = {"bad_guard": 2, "bad_apptag": 2, "bad_reftag": 4}
"""Bytes of the parts of a T10-DIF that a check may report."""


def store(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`store m[0 +: 4] = bytes`: the host writes; the ledger holds it from here on."""
    found = place(sentence.operand, scope, row.ledger, "`store`")
    part = found.part
    if part.name not in row.ledger.buffers:
        raise fault("MKS0302", "`store` writes into a memory, not through an mkey", found.span)
    expr = sentence.node.value
    if expr is None:
        raise AssertionError("store without bytes")  # the table refuses it
    data = as_live_bytes(evaluate(expr, scope), scope, expr.span, "`store`")
    if not isinstance(part.start, int) or not isinstance(part.length, int):
        raise fault("MKS0309", "`store` writes to a place known before the case runs", found.span)
    if part.length != data.length:
        raise fault(
            "MKS0314",
            f"{data.length} bytes stored into {part.length}",
            expr.span,
            help=f"store {part.name}[{part.start} +: {data.length}] = …",
        )
    row.add(plan.Store(sentence.at, part, data), sentence)
    segment = (part.name, part.start, part.length)
    row.ledger.settle([segment])
    if (doubt := undecided.stored(row.ledger, data)) is not None:
        row.ledger.doubt([segment], doubt.by)
    elif isinstance(data, LIVE_BYTES):
        unsaid = Unsaid("stored here: bytes that the rig knows when it gets there", sentence.span)
        row.ledger.write(part.name, part.start, part.length, None, unsaid)
    else:
        row.ledger.write(part.name, part.start, part.length, data, None)


def check(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`check k is KIND, block n, …`: one call of mlx5dv_mkey_check."""
    mkey = row.handle(sentence.operand, scope, "mkey", "`check`")
    expr = sentence.phrases["is"]
    value = evaluate(expr, scope)
    items = value if isinstance(value, tuple) else (value,)
    kinds = tuple(as_word(item, scope, expr.span, ("error",), "`is`").name for item in items)
    shape = row.ledger.mkeys[mkey.name]
    domain = shape.input or shape.unread  # an error that nobody has read outlives a configuration
    block = _int(sentence, scope, "block")
    found, computed = _bytes(sentence, scope, "found"), _bytes(sentence, scope, "computed")
    departed = sentence.node.known
    other = {} if departed is None else {modifier.name.text: modifier for modifier in departed.modifiers}
    of_block = [here[name] for here in (sentence.modifiers, other) for name in _OF_BLOCK if name in here]
    if domain is None and of_block:
        why = "it had no transfer" if shape.received is None else "its data came without a signature"
        span = of_block[0].span
        raise fault(
            "MKS0326",
            f"no block of `{mkey.name}` can be bad: {why}",
            span,
            help="offset, expected and actual are the record's own members",
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
            items = value if isinstance(value, tuple) else (value,)
            seen = tuple(as_word(item, scope, departed.value.span, ("error",), "`known`").name for item in items)
        for name, said in known.members:
            if domain is not None and isinstance(said, ByteString):
                # A driver may decode an unread error by what the key has now (X-DIFF-29).
                now = (one for one in (shape.domains.mem, shape.domains.wire) if one is not None)
                _right_size((domain, *now), seen, name, said, other)
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
    )
    row.ledger.mkeys[mkey.name] = shape._replace(unread=None)
    row.spans.put_member(step, "mkey", sentence.operand.span)
    row.spans.put_member(step, "kind", expr.span)
    for name, modifier in sentence.modifiers.items():
        row.spans.put_member(step, name, modifier.span)
    row.add(step, sentence)
    undecided.look_check(row.undecided, step, sentence.span)
    row.undecided = row.undecided.without_key(mkey.name)
    writes.label(row, step, sentence.span)
    if undecided.is_undecided(step.claim) and kinds != ("ok",):
        row.undecided = row.undecided.with_keys((mkey.name,), sentence.span)


_OF_BLOCK = ("block", "found", "computed")
"""Members of a check that need the signature of the data."""


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


def await_(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`await sq_drained on q`."""
    expr = sentence.operand
    event = as_word(evaluate(expr, scope), scope, expr.span, ("event",), "`await`").name
    qp = row.qp(sentence, scope)
    if event not in QP_EVENTS and qp is not None:
        raise fault(
            "MKS0513",
            f"{event} is an event of no QP",
            sentence.phrases["on"].span,
            help=f"await {event}",
            page="ibv_get_async_event(3)",
        )
    if event == "sq_drained" and not row.world.qp(qp).sig_pipelining:
        name = f"`{qp}`" if qp is not None else "the default QP"
        raise fault(
            "MKS0513",
            f"sq_drained never comes: {name} has no sig_pipelining",
            sentence.span,
            help=f"await sq_drained on {qp or 'q'}, with qp {qp or 'q'} {{ sig_pipelining }}",
            page="mlx5dv_create_qp(3)",
        )
    step = plan.Await(sentence.at, event, qp, row.known(sentence, scope))
    undecided.look_await(row.undecided, step, sentence.span)
    row.add(step, sentence)


def poll(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`poll q completes { send, id 1 }`: exactly these completions; without a list, those due and not waited for.

    Without a qp, of the case's default one.
    """
    claim = row.claim(sentence, scope)
    qp = _qp(row, sentence, scope)
    step = plan.Poll(sentence.at, qp, sentence.node.peer, claim, row.known(sentence, scope))
    undecided.look_poll(row.undecided, step, sentence.span)
    look_poll(row, step, sentence.span)
    if claim and not goes_through(claim):
        row.moved = ()  # what was posted before and is polled here may have failed
    row.add(step, sentence)
    writes.under_way(row, qp, step.peer, claim, sentence.span)


def _qp(row: RowState, sentence: Sentence, scope: Scope) -> str | None:
    """The QP that is the operand; None: the default one."""
    operand = sentence.node.operand
    return None if operand is None else row.handle(operand, scope, "qp", f"`{sentence.verb.name}`").name


def cancel(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`cancel 2 on q as c`: mlx5dv_qp_cancel_posted_send_wrs; `c.count` is how many."""
    span = sentence.operand.span
    number = fitting(as_int(evaluate(sentence.operand, scope), scope, span, "`cancel`"), "id", span)
    qp = row.qp(sentence, scope)
    claim, known = row.claim(sentence, scope), row.known(sentence, scope)
    if not claims_rejection(claim):
        # A cancelled SEND takes no receive; how many are cancelled is known when the case runs.
        row.perhaps[qp, True] = row.perhaps.get((qp, True), 0) + row.met.count((qp, number))
        row.met = tuple(one for one in row.met if one != (qp, number))
    step = plan.Cancel(sentence.at, number, qp, row.label(sentence, scope, claim), claim, known)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)
    writes.under_way(row, qp, False, claim, sentence.span, number)


def resume(row: RowState, sentence: Sentence, scope: Scope) -> None:
    row.add(plan.Resume(sentence.at, _qp(row, sentence, scope)), sentence)


def retag(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`retag k to 7`: the application sets the key's lowest byte (create_mkey(3), UPDATE_TAG)."""
    mkey = row.handle(sentence.operand, scope, "mkey", "`retag`").name
    expr = sentence.phrases["to"]
    tag = as_live_int(evaluate(expr, scope), scope, expr.span, "`to`")
    if isinstance(tag, int) and not 0 <= tag <= 0xFF:
        raise fault("MKS0315", f"a tag has eight bits, {tag:#x} has more", expr.span, page="mlx5dv_create_mkey(3)")
    row.add(plan.Retag(sentence.at, mkey, tag), sentence)
