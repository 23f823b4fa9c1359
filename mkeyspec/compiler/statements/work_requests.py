"""Work requests: `configure`, `send`, `write`… to the requests of a plan, and what they do to the ledger's mkeys."""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec import plan
from mkeyspec.compiler.eval.buffer_contents import Shape
from mkeyspec.compiler.eval.coercion import as_int, as_live_bytes, as_live_int, as_word, fault, wrong
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Handle
from mkeyspec.compiler.eval.wire_length import PLAIN, Domains
from mkeyspec.compiler.statements.operands import Operand, length_of_parts, place, places
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.setters import access_flags, called_setters, layout_of, setter
from mkeyspec.compiler.statements.shape import Sentence
from mkeyspec.compiler.statements.verbs import SETTER_NAMES
from mkeyspec.value.layout import Interleaved, List, Part
from mkeyspec.value.live import Int

PLAIN_OPTIONS = plan.Options()
SIGNALED = plan.Options(signaled=True)

DEFAULT_IMM = 0x6D6B6579
"""The immediate of an operation that carries one, where the case gives none: every byte differs."""


def request(row: RowState, sentence: Sentence, scope: Scope, alone: bool) -> plan.Wr:
    """One work request, or a stray setter. `alone`: it is a section of its own, and signaled."""
    name = sentence.verb.name
    found: plan.Wr
    if name in SETTER_NAMES:
        found = plan.StraySetter(sentence.at, setter(row, sentence, scope))
    else:
        found = _REQUESTS[name](row, sentence, scope, options(row, sentence, scope, alone))
    row.spans.put(found, sentence.span)
    row.put_overrides(found, sentence)
    for word, modifier in sentence.modifiers.items():
        row.spans.put_member(found, word, modifier.span)
    return found


def options(row: RowState, sentence: Sentence, scope: Scope, signaled: bool) -> plan.Options:
    """What any request may carry."""
    modifiers = sentence.modifiers
    if not modifiers and not sentence.but:
        return SIGNALED if signaled else PLAIN_OPTIONS
    dct = modifiers.get("dct")
    return plan.Options(
        signaled or "signaled" in modifiers,
        "fence" in modifiers,
        "solicited" in modifiers,
        _int(sentence, scope, "id"),
        None if dct is None or dct.value is None else row.handle(dct.value, scope, "dct", "`dct`").name,
        _int(sentence, scope, "stream"),
        row.overrides(sentence, scope),
    )


def _int(sentence: Sentence, scope: Scope, name: str) -> int | None:
    modifier = sentence.modifiers.get(name)
    if modifier is None or modifier.value is None:
        return None
    span = modifier.value.span
    return fitting(as_int(evaluate(modifier.value, scope), scope, span, f"`{name}`"), name, span)


def live_int(sentence: Sentence, scope: Scope, name: str) -> Int | None:
    """The number after a modifier, which may depend on the device."""
    modifier = sentence.modifiers.get(name)
    if modifier is None or modifier.value is None:
        return None
    span = modifier.value.span
    return fitting(as_live_int(evaluate(modifier.value, scope), scope, span, f"`{name}`"), name, span)


def _required(sentence: Sentence, name: str) -> Exception:
    return fault(
        "MKS0213",
        f"`{sentence.verb.name}` lacks `{name}`",
        sentence.node.verb.span,
        help=sentence.verb.example,
        page=sentence.verb.page,
    )


def _mkey(row: RowState, sentence: Sentence, scope: Scope) -> Handle:
    """The mkey that a request configures."""
    return row.handle(sentence.operand, scope, "mkey", f"`{sentence.verb.name}`")


# Configuration -------------------------------------------------------------------------------


def _configure(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Wr:
    mkey = _mkey(row, sentence, scope)
    setters = called_setters(row, sentence, scope)
    if all(modifier.name.text != "num_setters" for modifier in sentence.but):
        fitting(len(setters), "num_setters", sentence.span)
    reset = "reset_signature" in sentence.modifiers
    shape = row.ledger.mkeys[mkey.name]
    layout, domains, span = shape.layout, (PLAIN if reset else shape.domains), shape.wire_span
    for one in setters:
        if isinstance(one, plan.SetLayout):
            layout = one.layout
            row.want_entries(mkey.name, layout)
        elif isinstance(one, plan.SetSignature):
            domains = Domains(one.mem, one.wire)
            span = row.spans.get(one, "wire")
    row.ledger.mkeys[mkey.name] = Shape(layout, domains, None, span, shape.input or shape.unread)
    return plan.Configure(sentence.at, mkey.name, setters, reset, opts)


def _registration(row: RowState, sentence: Sentence, scope: Scope) -> tuple[str, List | Interleaved, Int]:
    """The mkey, layout and access of `mr_list` and `mr_interleaved`."""
    verb = sentence.verb.name
    mkey = _mkey(row, sentence, scope)
    expr = sentence.phrases["from"]
    layout = layout_of(expr, scope, f"`{verb}`")
    if isinstance(layout, Interleaved) != (verb == "mr_interleaved"):
        help = "mr_list" if isinstance(layout, List) else "mr_interleaved"
        wrong(layout, scope, expr.span, f"`{verb}`", "the other kind of layout", help=f"{help} {mkey.name} from …")
    access = sentence.modifiers.get("access")
    if access is None or access.value is None:
        raise _required(sentence, "access")
    row.want_entries(mkey.name, layout)
    shape = row.ledger.mkeys[mkey.name]
    row.ledger.mkeys[mkey.name] = shape._replace(layout=layout, received=None, unread=shape.input or shape.unread)
    return mkey.name, layout, access_flags(access.value, scope)


def _mr_list(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Wr:
    return plan.MrList(sentence.at, *_registration(row, sentence, scope), opts)


def _mr_interleaved(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Wr:
    return plan.MrInterleaved(sentence.at, *_registration(row, sentence, scope), opts)


def _invalidate(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Wr:
    mkey = _mkey(row, sentence, scope)
    by = "wr_post"
    if "by" in sentence.phrases:
        expr = sentence.phrases["by"]
        by = as_word(evaluate(expr, scope), scope, expr.span, ("builder",), "`by`").name
    row.ledger.mkeys[mkey.name] = row.ledger.mkeys[mkey.name].cleared()
    return plan.Invalidate(sentence.at, mkey.name, by, opts)


# Data ----------------------------------------------------------------------------------------


def _used(row: RowState, parts: tuple[Part, ...], received: bool) -> None:
    """Remember which way data went through the mkeys of a request: it decides which domain is the input."""
    mkeys = row.ledger.mkeys
    for part in parts:
        shape = mkeys.get(part.name)
        if shape is not None:
            mkeys[part.name] = shape._replace(received=received)


def _local(row: RowState, found: tuple[Operand, ...]) -> tuple[Part, ...]:
    for one in found:
        row.spans.put(one.part, one.span)
    return tuple(one.part for one in found)


def _remote(row: RowState, found: Operand, length: int | None) -> Part:
    """The other end of a request: a buffer named as a whole takes as many bytes as the request has."""
    part = found.part
    row.spans.put(part, found.span)
    if length is None or part.length == length:
        return part
    if found.whole:
        part = Part(part.name, part.start, length, part.but)
        row.spans.put(part, found.span)
        return part
    if isinstance(part.length, int):
        raise fault(
            "MKS0313",
            f"{length} bytes on this end, {part.length} on the other",
            found.span,
            help="both ends of a request have the same length",
        )
    return part


def _send(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Wr:
    data = _local(row, places(sentence.operand, scope, row.ledger, f"`{sentence.verb.name}`"))
    _used(row, data, False)
    imm: Int | None = None
    key: str | None = None
    if sentence.verb.name == "send_imm":
        imm = live_int(sentence, scope, "imm")
        if imm is None:
            raise _required(sentence, "imm")
    elif sentence.verb.name == "send_inv":
        key = _invalidated(row, sentence, scope)
    return plan.Send(sentence.at, data, imm, key, opts)


def _invalidated(row: RowState, sentence: Sentence, scope: Scope) -> str:
    modifier = sentence.modifiers.get("key")
    if modifier is None or modifier.value is None:
        raise _required(sentence, "key")
    value = evaluate(modifier.value, scope)
    if not isinstance(value, Handle) or value.kind not in ("mkey", "memory"):
        wrong(value, scope, modifier.value.span, "`key`", "an mkey")
    if value.kind == "mkey":
        row.ledger.mkeys[value.name] = row.ledger.mkeys[value.name].cleared()
    return value.name


def _write(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Wr:
    data = _local(row, places(sentence.operand, scope, row.ledger, "`write`"))
    _used(row, data, False)
    target = _other_end(row, sentence, scope, "to", length_of_parts(data))
    to = _remote(row, target, length_of_parts(data))
    _used(row, (to,), True)
    return plan.Write(sentence.at, data, to, live_int(sentence, scope, "imm"), opts)


def _other_end(row: RowState, sentence: Sentence, scope: Scope, preposition: str, length: int | None) -> Operand:
    """The place after `to` or `from`; an mkey without layout is as long as the request."""
    expr = sentence.phrases[preposition]
    value = evaluate(expr, scope)
    if isinstance(value, Handle) and value.kind == "mkey" and length is not None:
        return Operand(Part(value.name, 0, length), expr.span, True)
    return place(expr, scope, row.ledger, f"`{preposition}`")


def _read(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Wr:
    found = places(sentence.operand, scope, row.ledger, "`read`")
    into = _local(row, found)
    length = length_of_parts(into)
    source = _other_end(row, sentence, scope, "from", length)
    if len(found) == 1 and found[0].whole and not source.whole and isinstance(source.part.length, int):
        # A whole buffer reads as much as is asked for.
        whole = into[0]
        if isinstance(whole.length, int) and source.part.length < whole.length:
            into = (Part(whole.name, whole.start, source.part.length, whole.but),)
            length = source.part.length
    _used(row, into, True)
    remote = _remote(row, source, length)
    _used(row, (remote,), False)
    return plan.Read(sentence.at, into, remote, opts)


def _fetch_add(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Wr:
    old = place(sentence.operand, scope, row.ledger, "`fetch_add`")
    into = Part(old.part.name, old.part.start, 8, old.part.but) if old.whole else old.part
    source = _other_end(row, sentence, scope, "from", 8)
    if source.whole:
        source = source._replace(part=Part(source.part.name, source.part.start, 8, source.part.but))
    remote = source.part
    row.spans.put(into, old.span)
    row.spans.put(remote, source.span)
    for part, span in ((into, sentence.operand.span), (remote, source.span)):
        if isinstance(part.length, int) and part.length != 8:
            raise fault("MKS0313", f"fetch and add works on 8 bytes, not {part.length}", span, page="ibv_wr_post(3)")
    add = live_int(sentence, scope, "add")
    if add is None:
        raise _required(sentence, "add")
    return plan.FetchAdd(sentence.at, into, remote, add, opts)


def _memcpy(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Wr:
    source = place(sentence.operand, scope, row.ledger, "`memcpy`").part
    found = place(sentence.phrases["to"], scope, row.ledger, "`to`")
    to = found.part
    if to.length != source.length:
        if not found.whole:
            raise fault("MKS0313", f"{source.length} bytes copied to {to.length}", found.span)
        to = Part(to.name, to.start, source.length, to.but)
    return plan.Memcpy(sentence.at, source, to, opts)


def _raw(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Wr:
    wqe = as_live_bytes(evaluate(sentence.operand, scope), scope, sentence.operand.span, "`raw`")
    return plan.RawWqe(sentence.at, wqe, opts)


_Lower = Callable[[RowState, Sentence, Scope, plan.Options], plan.Wr]
_REQUESTS: dict[str, _Lower] = {
    "configure": _configure,
    "mr_list": _mr_list,
    "mr_interleaved": _mr_interleaved,
    "invalidate": _invalidate,
    "send": _send,
    "send_imm": _send,
    "send_inv": _send,
    "write": _write,
    "read": _read,
    "fetch_add": _fetch_add,
    "memcpy": _memcpy,
    "raw": _raw,
}
