"""Data encryption keys: `dek` creates one, `query` asks for its state and opaque bytes."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check.context import Look
from mkeyspec.compiler.check.crypto import look_keytag
from mkeyspec.compiler.check.mkey_state import look_exists
from mkeyspec.compiler.check.state import AbstractState, OtherState, overridden
from mkeyspec.compiler.eval.coercion import as_bytes, as_word, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Handle, is_list
from mkeyspec.compiler.statements import writes
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.setters import fields
from mkeyspec.compiler.statements.shape import BYTES, DEK_PAGE, LABEL, NEW, Place, Shape, Slot, field_line
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString

KEY_BYTES = (32, 64)
"""Of key_size 128 and 256: two AES keys each (mlx5dv_dek_create(3), DEK key Field Construction)."""

OPAQUE_BYTES = 8
"""`char opaque[8]` of mlx5dv_dek_init_attr and of mlx5dv_dek_attr."""

CRYPTO_LOGIN = 1
"""MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN: crypto_login is applicable; NULL there is a plaintext DEK."""

AES_XTS = 0
"""MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS."""

_MEMBERS = ("key_size", "key_purpose", "comp_mask")


def _bytes(expr: ast.Expr, scope: Scope, word: str) -> ByteString:
    found = as_bytes(evaluate(expr, scope), scope, expr.span, f"`{word}`")
    if word == "opaque":
        _right_size(found, expr.span)
    return found


def _right_size(opaque: ByteString, span: Span) -> None:
    if opaque.length != OPAQUE_BYTES:
        message = f"`opaque` has {OPAQUE_BYTES} bytes, these are {opaque.length}"
        raise fault("MKS0314", message, span, help="opaque fill(1, 8)", page=DEK_PAGE)


# dek --------------------------------------------------------------------------------------------


def _dek(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`dek d { key bytes; keytag bytes; opaque bytes; pd p }`."""
    name = sentence.new_name()
    lines = fields(row, sentence, scope)
    if "key" not in lines:
        raise fault("MKS0213", "`dek` lacks `key`", sentence.node.verb.span, help=sentence.verb.example)
    content = {word: _bytes(line.operand, scope, word) for word, line in lines.items() if word != "pd"}
    pd = row.handle(lines["pd"].operand, scope, "pd", "`pd`").name if "pd" in lines else None
    step = plan.Dek(
        sentence.at,
        name.text,
        content["key"],
        content.get("keytag"),
        row.claim(sentence, scope),
        row.known(sentence, scope),
        content.get("opaque"),
        pd,
        row.overrides(sentence, scope),
    )
    row.put_overrides(step, sentence)
    for word, line in lines.items():
        row.origin.put_member(step, word, line.span)
    row.add(step, sentence)
    row.declare(name, Handle("dek", name.text), scope)


def _check_dek(look: Look, step: plan.Dek) -> None:
    """mlx5dv_dek_create takes keys of AES-XTS-128 and AES-XTS-256: two AES keys each."""
    size, forced = overridden(step.but, "key_size", KEY_BYTES.index(step.key.length) if _fits(step) else 0)
    if size is None or size >= len(KEY_BYTES):
        look.broken(
            "dek_key_size",
            f"key_size is 0 (128 bit) or 1 (256 bit){'' if size is None else f', not {size}'}",
            step,
            "key_size",
            forced=forced,
            certain=size is not None,
        )
    elif step.key.length != KEY_BYTES[size]:
        look.broken(
            "dek_size",
            f"a key of AES-XTS has {KEY_BYTES[size] if forced else '32 or 64'} bytes, and this one {step.key.length}",
            step,
            "key",
            help="key random(32, seed=1)",
        )
    purpose, forced = overridden(step.but, "key_purpose", AES_XTS)
    if purpose != AES_XTS:
        message = "key_purpose is AES_XTS (0) or nothing"
        look.broken("dek_purpose", message, step, "key_purpose", forced=forced, certain=purpose is not None)
    mask, forced = overridden(step.but, "comp_mask", CRYPTO_LOGIN)
    if mask is None or mask & ~CRYPTO_LOGIN:
        message = "comp_mask has one bit, CRYPTO_LOGIN (1)"
        look.broken("dek_comp_mask", message, step, "comp_mask", forced=forced, certain=mask is not None)
    elif not mask:
        message = "without CRYPTO_LOGIN in comp_mask this is a wrapped DEK, and the context has no login session"
        look.broken("dek_login", message, step, "comp_mask", forced=forced)
    if step.keytag is not None:
        look_keytag(look, step.keytag.length, step)


def _fits(step: plan.Dek) -> bool:
    return step.key.length in KEY_BYTES


def _after_dek(state: AbstractState, step: plan.Dek) -> None:
    created = not plan.is_rejected(step.claim)
    state.things[step.name] = OtherState(step.at, "dek", keytag=step.keytag, created=created, pd=step.pd)


DEK = Statement(
    step=plan.Dek,
    shapes=(
        Shape(
            "dek",
            "dek d { key random(32, seed=1) }",
            NEW,
            but=_MEMBERS,
            lines=Place(
                "dek",
                (
                    field_line("key", "key random(32, seed=1)", "bytes"),
                    field_line("keytag", "keytag fill(1, 8)", "8 bytes"),
                    field_line("opaque", "opaque fill(1, 8)", "8 bytes", DEK_PAGE),
                    field_line("pd", "pd p", "a pd", DEK_PAGE),
                ),
            ),
            lines_required=True,
            phases=("create",),
            known=True,
            page=DEK_PAGE,
        ),
    ),
    lower=_dek,
    check=_check_dek,
    effect=_after_dek,
)

# query ------------------------------------------------------------------------------------------


def _query(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`query d is state_ready, opaque bytes`: one call of mlx5dv_dek_query."""
    dek = row.handle(sentence.operand, scope, "dek", "`query`").name
    expr = sentence.phrases["is"]
    value = evaluate(expr, scope)
    items = value if is_list(value) else (value,)
    states = tuple(as_word(item, scope, expr.span, ("dek_state",), "`is`").name for item in items)
    said = sentence.modifiers.get("opaque")
    opaque = None if said is None or said.value is None else _bytes(said.value, scope, "opaque")
    claim, known = row.claim(sentence, scope), row.known(sentence, scope)
    step = plan.Query(sentence.at, dek, states, opaque, row.label(sentence, scope), claim, known)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)


def _check_query(look: Look, step: plan.Query) -> None:
    look_exists(look, step, step.dek)


QUERY = Statement(
    step=plan.Query,
    shapes=(
        Shape(
            "query",
            "query d is state_ready, opaque fill(1, 8)",
            Slot("a dek"),
            {"is": Slot("state_ready, state_error, or a list of them"), "as": LABEL},
            modifiers={"opaque": BYTES},
            phases=("query",),
            known=True,
            page=DEK_PAGE,
            shows=("errno",),
        ),
    ),
    lower=_query,
    check=_check_query,
    effect=None,
)
