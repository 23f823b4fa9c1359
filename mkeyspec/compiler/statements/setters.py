"""Setters of a configuration: access, layout, signature, crypto."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.eval.coercion import (
    as_bool,
    as_bytes,
    as_domain_or_none,
    as_flags,
    as_int,
    as_layout,
    as_word,
    fault,
)
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Layout, is_list, is_word
from mkeyspec.compiler.statements.claims import lines_of
from mkeyspec.compiler.statements.row_state import RowState, span_of_value
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import ACCESS, CONFIGURE_PAGE, SIG_PAGE, Place, Shape, Slot, field_line
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.value.live import Int
from mkeyspec.value.signature import Domain

_SIGNATURE = Place(
    "signature",
    (
        field_line("mem", "mem crc32(ones) every 512", "a domain or none", SIG_PAGE),
        field_line("wire", "wire t10dif() every 512", "a domain or none", SIG_PAGE),
        field_line("check_mask", "check_mask 0xc0", "a mask", SIG_PAGE),
        field_line("copy_mask", "copy_mask 0x30", "a mask", SIG_PAGE),
    ),
)
_CRYPTO = Place(
    "crypto",
    (
        field_line("dek", "dek d", "a dek"),
        field_line("tweak", "tweak 1", "a number"),
        field_line("data_unit", "data_unit 512", "a number of bytes"),
        field_line("encrypt_on_tx", "encrypt_on_tx yes", "yes or no", required=False),
        field_line("order", "order signature_before_crypto_on_tx", "an order"),
        field_line("keytag", "keytag fill(1, 8)", "8 bytes"),
    ),
)
CONFIGURE = Place(
    "configure",
    (
        Shape("access", "access remote_read | remote_write", ACCESS, but=("access_flags",), page=CONFIGURE_PAGE),
        Shape("layout", "layout list(a, b)", Slot("a layout"), but=("repeat_count",), page=CONFIGURE_PAGE),
        Shape(
            "signature",
            "signature { mem crc32(ones) every 512 }",
            but=("flags", "comp_mask"),
            lines=_SIGNATURE,
            lines_required=True,
            page=SIG_PAGE,
        ),
        Shape(
            "crypto",
            "crypto { dek d; tweak 0; data_unit 512 }",
            but=("comp_mask", "crypto_standard", "data_unit_size", "signature_crypto_order", "encrypt_on_tx"),
            lines=_CRYPTO,
            lines_required=True,
            page="mlx5dv_wr_set_mkey_crypto(3)",
        ),
    ),
)


def setter(row: RowState, sentence: Sentence, scope: Scope) -> plan.Setter:
    """One setter with its arguments."""
    found = _SETTERS[sentence.verb.name](row, sentence, scope)
    row.origin.put(found, sentence.span)
    row.put_overrides(found, sentence)
    return found


def access_flags(expr: ast.Expr, scope: Scope) -> Int:
    return fitting(as_flags(evaluate(expr, scope), scope, expr.span, "access", "`access`"), "access", expr.span)


def layout_of(expr: ast.Expr, scope: Scope, what: str = "`layout`") -> Layout:
    return as_layout(evaluate(expr, scope), scope, expr.span, what)


def _access(row: RowState, sentence: Sentence, scope: Scope) -> plan.Setter:
    found = plan.SetAccess(access_flags(sentence.operand, scope), row.overrides(sentence, scope))
    row.origin.put_member(found, "access", sentence.operand.span)
    row.origin.put_member(found, "flags", sentence.operand.span)
    return found


def _layout(row: RowState, sentence: Sentence, scope: Scope) -> plan.Setter:
    layout = layout_of(sentence.operand, scope)
    found = plan.SetLayout(layout, row.overrides(sentence, scope))
    row.origin.put_member(found, "layout", sentence.operand.span)
    return found


def _signature(row: RowState, sentence: Sentence, scope: Scope) -> plan.Setter:
    domains: dict[str, Domain | None] = {"mem": None, "wire": None}
    masks: dict[str, int | None] = {"check_mask": None, "copy_mask": None}
    places = {}
    for name, line in fields(row, sentence, scope).items():
        expr = line.operand
        places[name] = expr.span
        value = evaluate(expr, scope)
        if name in domains:
            domains[name] = as_domain_or_none(value, scope, expr.span, f"`{name}`")
        else:
            mask = as_flags(value, scope, expr.span, "mask", f"`{name}`")
            masks[name] = _mask(as_int(mask, scope, expr.span, f"`{name}`"), expr.span, name)
    mem, wire = domains["mem"], domains["wire"]
    check = masks["check_mask"]
    if check is None:
        # The default: every byte that has a meaning in the configured domains, whichever of them is the input.
        check = (mem.signature.relevant_mask if mem is not None else 0) | (
            wire.signature.relevant_mask if wire is not None else 0
        )
    found = plan.SetSignature(mem, wire, check, masks["copy_mask"], row.overrides(sentence, scope))
    for name, span in places.items():
        row.origin.put_member(found, name, span)
        if name in domains and domains[name] is not None:
            row.origin.put(domains[name], span)
    return found


def _mask(value: int, span: Span, name: str) -> int:
    if not 0 <= value <= 0xFF:
        raise fault("MKS0302", f"`{name}` has eight bits, {value:#x} has more", span, page=SIG_PAGE)
    return value


def _crypto(row: RowState, sentence: Sentence, scope: Scope) -> plan.Setter:
    lines = fields(row, sentence, scope)
    missing = [name for name in ("dek", "data_unit") if name not in lines]
    if missing:
        raise fault(
            "MKS0213",
            f"`crypto` lacks `{missing[0]}`",
            sentence.node.verb.span,
            help=sentence.verb.example,
            page=sentence.verb.page,
        )

    def number(name: str, default: int) -> int:
        line = lines.get(name)
        if line is None:
            return default
        span = line.operand.span
        return fitting(as_int(evaluate(line.operand, scope), scope, span, f"`{name}`"), name, span)

    encrypt = True
    if "encrypt_on_tx" in lines and lines["encrypt_on_tx"].node.operand is not None:
        expr = lines["encrypt_on_tx"].operand
        encrypt = as_bool(evaluate(expr, scope), scope, expr.span, "`encrypt_on_tx`")
    order = 0
    if "order" in lines:
        expr = lines["order"].operand
        value = evaluate(expr, scope)
        order = value.value or 0 if is_word(value, "order") else as_int(value, scope, expr.span, "`order`")
    keytag = None
    if "keytag" in lines:
        expr = lines["keytag"].operand
        keytag = as_bytes(evaluate(expr, scope), scope, expr.span, "`keytag`").data
    dek = row.handle(lines["dek"].operand, scope, "dek", "`dek`").name
    found = plan.SetCrypto(
        dek, number("tweak", 0), number("data_unit", 512), encrypt, order, keytag, row.overrides(sentence, scope)
    )
    for name, line in lines.items():
        row.origin.put_member(found, name, span_of_value(line.node))
    return found


_SETTERS = {"access": _access, "layout": _layout, "signature": _signature, "crypto": _crypto}


def fields(row: RowState, sentence: Sentence, scope: Scope) -> dict[str, Sentence]:
    """The lines of a block that may each be written once, by name."""
    found: dict[str, Sentence] = {}
    block = sentence.node.block
    place = sentence.verb.lines
    if block is None or place is None:
        return found
    for node in lines_of(block, place, scope):
        line = row.read(node)
        first = found.get(line.verb.name)
        if first is not None:
            raise fault(
                "MKS0217", f"`{line.verb.name}` is given twice", node.verb.span, notes=(Note("first here", first.span),)
            )
        found[line.verb.name] = line
    return found


def called_setters(row: RowState, sentence: Sentence, scope: Scope) -> tuple[plan.Setter, ...]:
    """The setters of a `configure`, in the order they are called: as written, or as `calls` says."""
    block = sentence.node.block
    written: list[Sentence] = []
    if block is not None:
        written = [row.read(node) for node in lines_of(block, CONFIGURE, scope)]
    calls = sentence.modifiers.get("calls")
    if calls is None or calls.value is None:
        return tuple(setter(row, line, scope) for line in written)
    value = evaluate(calls.value, scope)
    span = calls.value.span
    words = value if is_list(value) else (value,)
    lowered: dict[str, list[plan.Setter]] = {}
    for line in written:
        lowered.setdefault(line.verb.name, []).append(setter(row, line, scope))
    found: list[plan.Setter] = []
    turns: dict[str, int] = {}
    for word in words:
        name = as_word(word, scope, span, ("setter",), "`calls`").name
        if name not in lowered:
            raise fault(
                "MKS0213",
                f"`calls` names `{name}`, and the block gives no arguments for it",
                span,
                help=f"add a line `{name} …` to the block",
                page=sentence.verb.page,
            )
        turn = turns.get(name, 0)
        turns[name] = turn + 1
        found.append(lowered[name][min(turn, len(lowered[name]) - 1)])
    return tuple(found)
