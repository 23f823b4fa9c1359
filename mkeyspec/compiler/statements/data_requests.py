"""Data requests: send, write, read."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.compiler.check import access, inline, mkey_state, transfer
from mkeyspec.compiler.check.context import UNRELIABLE, Context, count, place
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.eval.coercion import wrong
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import is_handle
from mkeyspec.compiler.statements.operands import places
from mkeyspec.compiler.statements.request_parts import (
    live_int,
    local_parts,
    missing,
    other_end,
    remote_part,
)
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import (
    ANSWERED_SHOWS,
    DC_BUT,
    IMM,
    REF,
    REFS,
    REMOTE_BUT,
    SGE_BUT,
    Slot,
    request_shape,
)
from mkeyspec.compiler.statements.statement import Request
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, is_known, known_number

PAGE = "ibv_wr_post(3)"
INLINE: dict[str, Slot | None] = {"inline": None}

# send, send_imm, send_inv -----------------------------------------------------------------------


def _send(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Send:
    data = local_parts(row, places(sentence.operand, scope, row.ledger, f"`{sentence.verb.name}`"))
    imm: Int | None = None
    key: str | None = None
    if sentence.verb.name == "send_imm":
        imm = live_int(sentence, scope, "imm")
        if imm is None:
            raise missing(sentence, "imm")
    elif sentence.verb.name == "send_inv":
        key = _invalidated(sentence, scope)
    return plan.Send(sentence.at, data, imm, key, opts)


def _invalidated(sentence: Sentence, scope: Scope) -> str:
    modifier = sentence.modifiers.get("key")
    if modifier is None or modifier.value is None:
        raise missing(sentence, "key")
    value = evaluate(modifier.value, scope)
    if not is_handle(value, "mkey"):
        wrong(value, scope, modifier.value.span, "`key`", "an mkey")
    return value.name


def _check_send(context: Context, request: plan.Send) -> None:
    transfer.check_request(context, request)
    inline.check_inline(context, request)
    _check_receive(context, request)
    _check_invalidated(context, request)


def _check_receive(context: Context, request: plan.Send) -> None:
    """The receive that a SEND consumes must be large enough, and each of its buffers and mkeys that the message reaches
    must take its bytes, as it is when the message comes."""
    step = context.step
    if not plan.is_post(step):
        return
    waiting = context.state.receive(context.state.receive_queue(step.qp, not step.peer))
    length = _length(request)
    if waiting is None or length is None:
        return
    reason = _told(context, request, waiting)
    room = plan.total(waiting.into)
    if is_known(room) and length > room:
        context.broken(
            "receive_room",
            f"{count(length, 'byte')} are sent, and the receive that they meet has room for {room}",
            request,
            reason=reason,
        )
        return
    if any(name == "length" for part in waiting.into for name, _ in part.but):
        return
    own, before = context.origin, len(context.found)
    context.origin = context.origin_of(waiting)
    for part in waiting.into:
        if not is_known(part.length):
            break
        here = min(part.length, length)
        length -= here
        if here:
            transfer.check_part(context, waiting, plan.End(part, here, plan.RECEIVE["recv"]), not step.peer)
    context.origin = own
    met = f"the `{request.name()}` at {place(request.at)} meets this receive"
    for number, found in enumerate(context.found[before:], before):
        note = Note(f"{met}; a claim is written there" if found.rule.phases else met)
        context.found[number] = found._replace(notes=(*found.notes, note), reason=found.reason and reason)


def _length(request: plan.Send) -> int | None:
    """How many bytes its message has; None: not known, or more are set than its first part has."""
    if any(part.but for part in request.data):
        return None
    total, changed = plan.known_total(request.data), dict(request.options.but).get("length")
    if total is None or changed is None:
        return total
    first, now = known_number(request.data[0].length), known_number(changed)
    return None if first is None or now is None or now > first else total - first + now


def _told(context: Context, request: plan.Send, waiting: plan.Recv) -> str:
    """The class of the status that a refusal by the receive is judged by: that of the request which names an mkey, the
    sender's before the receive's. The sender of an unreliable connection is not told (IBTA 9.8.3)."""

    def names_mkey(parts: tuple[Part, ...]) -> bool:
        return any(context.mkey(part.name) is not None for part in parts)

    own = context.qp.type in UNRELIABLE or (names_mkey(waiting.into) and not names_mkey(request.data))
    return "local_protection" if own else "remote_access"


def _check_invalidated(context: Context, request: plan.Send) -> None:
    name = request.invalidate
    if name is None or not mkey_state.check_exists(context, request, name):
        return
    if access.check_key_side(context, request, name, not context.peer, "key"):
        return
    key = context.mkey(name)
    if key is not None and not key.has(MkeyFlag.REMOTE_INVALIDATE):
        context.broken(
            "remote_invalidate_flag",
            f"`{name}` was created without REMOTE_INVALIDATE",
            request,
            "key",
            notes=context.declared(name),
            help=f"mkey {name} {{ remote_invalidate }}",
        )
    elif key is not None and access.check_invalidated_tag(context, request, key, name):
        pass
    elif key is not None and not key.configured and not key.unknown:
        how = "is not configured" if key.invalidated is None else f"is invalidated at {place(key.invalidated)}"
        context.broken(
            "invalidated_key",
            f"`{name}` {how}, so it can't be invalidated",
            request,
            "key",
            notes=context.declared(name),
            help=f"peer configure {name} {{ … }}" if key.peer else f"configure {name} {{ … }}",
            phases=(),
        )


def _after_send(state: AbstractState, request: plan.Send) -> None:
    state.moved(request.data, received=False)
    name = request.invalidate
    key = None if name is None else state.mkey(name)
    if name is not None and key is not None and key.has(MkeyFlag.REMOTE_INVALIDATE):
        state.invalidate(name, request.at)


SEND_RECORD = Request(
    request=plan.Send,
    shapes=(
        request_shape("send", "send m", REFS, {}, PAGE, INLINE),
        request_shape("send_imm", "send_imm m, imm 7", REFS, {}, PAGE, {**IMM, **INLINE}),
        request_shape(
            "send_inv",
            "send_inv m, key k",
            REFS,
            {},
            PAGE,
            {"key": Slot("an mkey of the other side"), **INLINE},
            (*SGE_BUT, "invalidate_rkey", *DC_BUT),
        ),
    ),
    lower=_send,
    check=_check_send,
    effect=_after_send,
)

# write, read ------------------------------------------------------------------------------------


def _write(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Write:
    data = local_parts(row, places(sentence.operand, scope, row.ledger, "`write`"))
    target = other_end(row, sentence, scope, "to", plan.known_total(data))
    to = remote_part(row, target, plan.known_total(data))
    return plan.Write(sentence.at, data, to, live_int(sentence, scope, "imm"), opts)


def _check_write(context: Context, request: plan.Write) -> None:
    transfer.check_request(context, request)
    inline.check_inline(context, request)


def _after_write(state: AbstractState, request: plan.Write) -> None:
    state.moved(request.data, received=False)
    state.moved((request.to,), received=True)


WRITE_RECORD = Request(
    request=plan.Write,
    shapes=(request_shape("write", "write m to w", REFS, {"to": REF}, PAGE, {**IMM, **INLINE}, REMOTE_BUT),),
    lower=_write,
    check=_check_write,
    effect=_after_write,
)


def _read(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Read:
    found = places(sentence.operand, scope, row.ledger, "`read`")
    into = local_parts(row, found)
    length = plan.known_total(into)
    source = other_end(row, sentence, scope, "from", length)
    if len(found) == 1 and found[0].whole and not source.whole and is_known(source.part.length):
        # A whole buffer reads as much as is asked for.
        whole = into[0]
        if is_known(whole.length) and source.part.length < whole.length:
            into = (Part(whole.name, whole.start, source.part.length, whole.but),)
            length = source.part.length
    remote = remote_part(row, source, length)
    return plan.Read(sentence.at, into, remote, opts)


def _after_read(state: AbstractState, request: plan.Read) -> None:
    state.moved(request.into, received=True)
    state.moved((request.source,), received=False)


READ_RECORD = Request(
    request=plan.Read,
    shapes=(request_shape("read", "read m from w", REFS, {"from": REF}, PAGE, None, REMOTE_BUT, shows=ANSWERED_SHOWS),),
    lower=_read,
    check=transfer.check_request,
    effect=_after_read,
)
