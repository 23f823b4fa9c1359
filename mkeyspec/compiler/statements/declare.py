"""Declarations: memory, mkey, qp, pd, dek, dct."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.eval.buffer_contents import KnownBuffer, KnownPiece, Shape, Unsaid
from mkeyspec.compiler.eval.coercion import as_bool, as_bytes, as_flags, as_int, as_list, as_live_int, as_word, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Handle
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.setters import fields
from mkeyspec.compiler.statements.shape import Sentence
from mkeyspec.compiler.statements.verbs import MKEY_FLAGS, QP_NUMBERS, QP_SWITCHES
from mkeyspec.diagnostics.limits import BUFFER_BYTES, ROW_BYTES
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Int, Live


def memory(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`memory m[size] = bytes, misaligned n, pd p, rights r`: size or bytes, or both if they agree."""
    name = sentence.new_name()
    operand, value = sentence.operand, sentence.node.value
    size: int | None = None
    data: ByteString | None = None
    if isinstance(operand, ast.Index):
        size = as_int(evaluate(operand.index, scope), scope, operand.index.span, "a memory's size")
    if value is not None:
        data = as_bytes(evaluate(value, scope), scope, value.span, f"`memory {name.text}`")
        if size is not None and size != data.length:
            raise fault(
                "MKS0314",
                f"`{name.text}` has {size} bytes, and {data.length} are put into it",
                value.span,
                help=f"memory {name.text} = …   takes its size from the bytes",
            )
        size = data.length
    if size is None:
        raise fault("MKS0213", f"how large is `{name.text}`?", sentence.span, help=sentence.verb.example)
    if size < 1:
        raise fault("MKS0315", f"a memory of {size} bytes cannot be registered", operand.span, page="ibv_reg_mr(3)")
    if size > BUFFER_BYTES.most:
        raise fault(BUFFER_BYTES.code, BUFFER_BYTES.broken(size), operand.span)
    total = size + sum(buffer.length for buffer in row.ledger.buffers.values())
    if total > ROW_BYTES.most:
        raise fault(ROW_BYTES.code, f"with `{name.text}` this row has {ROW_BYTES.broken(total)}", operand.span)
    peer = sentence.node.peer
    misaligned = _number(sentence, scope, "misaligned")
    if not 0 <= misaligned < 64:
        span = sentence.modifiers["misaligned"].span
        raise fault("MKS0315", f"`misaligned` counts bytes past a boundary of 64, {misaligned} does not", span)
    rights = sentence.modifiers.get("rights")
    access: int | None = None
    if rights is not None and rights.value is not None:
        access = _fixed(as_flags(evaluate(rights.value, scope), scope, rights.value.span, "access", "`rights`"), rights)
    step = plan.Memory(sentence.at, name.text, size, data, peer, misaligned, _pd(row, sentence, scope), access)
    row.add(step, sentence)
    unsaid = None if data is not None else Unsaid("declared without bytes: a canary of its own", sentence.span)
    row.ledger.buffers[name.text] = KnownBuffer(size, (KnownPiece(0, size, data, unsaid),))
    row.declare(name, Handle("memory", name.text, size, peer), scope)


def _number(sentence: Sentence, scope: Scope, name: str) -> int:
    modifier = sentence.modifiers.get(name)
    if modifier is None or modifier.value is None:
        return 0
    return as_int(evaluate(modifier.value, scope), scope, modifier.value.span, f"`{name}`")


def _fixed(value: Int, modifier: ast.Modifier) -> int:
    if isinstance(value, int):
        return value
    raise fault("MKS0309", f"`{modifier.name.text}` takes a number known before the case runs", modifier.span)


def _pd(row: RowState, sentence: Sentence, scope: Scope) -> str | None:
    modifier = sentence.modifiers.get("pd")
    if modifier is None or modifier.value is None:
        return None
    return row.handle(modifier.value, scope, "pd", "`pd`").name


def mkey(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`mkey k { block_signature; entries 4 }`; without `entries`, what its largest layout needs (see `finish`)."""
    name = sentence.new_name()
    lines = fields(row, sentence, scope)
    flags = 1  # INDIRECT: what an mkey of this API always is (create_mkey(3), create_flags)
    entries: Int | None = None
    pd: str | None = None
    for word, line in lines.items():
        if word in MKEY_FLAGS:
            flags |= MKEY_FLAGS[word]
        elif word == "entries":
            span = line.operand.span
            entries = fitting(as_live_int(evaluate(line.operand, scope), scope, span, "`entries`"), word, span)
        else:
            pd = row.handle(line.operand, scope, "pd", "`pd`").name
    peer = sentence.node.peer
    asked: Int = Live(name.text, "max_entries") if entries is None else entries
    step = plan.Mkey(
        sentence.at,
        name.text,
        flags,
        asked,
        peer,
        pd,
        row.overrides(sentence, scope),
        row.claim(sentence, scope),
        row.known(sentence, scope),
    )
    row.put_overrides(step, sentence)
    for word, line in lines.items():
        row.spans.put_member(step, word, line.span)
    if entries is None:
        row.entries[name.text] = (len(row.steps), 0)
    row.add(step, sentence)
    row.ledger.mkeys[name.text] = Shape()
    row.declare(name, Handle("mkey", name.text, None, peer), scope)


def qp(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`qp q { … }`: a pair of the case's own; only the members that the case names are in the plan."""
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
            members.append((word, True))  # a switch: the table lets nothing else stand alone
            continue
        value = evaluate(expr, scope)
        if word == "pd":
            pd = row.handle(expr, scope, "pd", "`pd`").name
        elif word == "type":
            members.append((word, as_word(value, scope, expr.span, ("qp_type",), "`type`").name))
        elif word == "send_ops":
            items = (value,) if not isinstance(value, tuple) else as_list(value, scope, expr.span, "`send_ops`")
            flags = 0
            for item in items:
                flag = as_flags(item, scope, expr.span, "qp_op", "`send_ops`")
                flags |= flag if isinstance(flag, int) else 0
            members.append((word, flags))
        elif word in QP_SWITCHES:
            members.append((word, as_bool(value, scope, expr.span, f"`{word}`")))
        elif word in QP_NUMBERS:
            number = as_int(value, scope, expr.span, f"`{word}`")
            members.append((word, fitting(number, word, expr.span)))
    overrides = [(member, value) for member, value in row.overrides(sentence, scope) if isinstance(value, int)]
    for member, value in overrides:
        members.append(("send_ops" if member == "send_ops_flags" else member, value))
    step = plan.Qp(sentence.at, name.text, tuple(members), pd, row.claim(sentence, scope), row.known(sentence, scope))
    for word, line in lines.items():
        row.spans.put_member(step, word, line.span)
    row.add(step, sentence)
    row.declare(name, Handle("qp", name.text), scope)


def pd(row: RowState, sentence: Sentence, scope: Scope) -> None:
    name = sentence.new_name()
    row.add(plan.Pd(sentence.at, name.text, sentence.node.peer), sentence)
    row.declare(name, Handle("pd", name.text, None, sentence.node.peer), scope)


def dek(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`dek d { key bytes; keytag bytes }`."""
    name = sentence.new_name()
    lines = fields(row, sentence, scope)
    if "key" not in lines:
        raise fault("MKS0213", "`dek` lacks `key`", sentence.node.verb.span, help=sentence.verb.example)
    content = {
        word: as_bytes(evaluate(line.operand, scope), scope, line.operand.span, f"`{word}`")
        for word, line in lines.items()
    }
    step = plan.Dek(
        sentence.at,
        name.text,
        content["key"],
        content.get("keytag"),
        row.claim(sentence, scope),
        row.known(sentence, scope),
    )
    for word, line in lines.items():
        row.spans.put_member(step, word, line.span)
    row.add(step, sentence)
    row.declare(name, Handle("dek", name.text), scope)


def dct(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`dct t { key n }`: a target at the peer; its key is 0 unless said."""
    name = sentence.new_name()
    line = fields(row, sentence, scope).get("key")
    key = (
        0
        if line is None
        else fitting(as_int(evaluate(line.operand, scope), scope, line.operand.span, "`key`"), "key", line.operand.span)
    )
    row.add(plan.Dct(sentence.at, name.text, key), sentence)
    row.declare(name, Handle("dct", name.text), scope)
