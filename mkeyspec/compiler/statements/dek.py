"""Data encryption keys: `dek` creates one, `query` asks for its state and opaque bytes, or for the state of a login."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.crypto import check_keytag
from mkeyspec.compiler.check.mkey_state import check_exists
from mkeyspec.compiler.check.state import AbstractState, OtherState, overridden
from mkeyspec.compiler.eval.coercion import as_bool, as_bytes, as_handle, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Handle
from mkeyspec.compiler.statements import writes
from mkeyspec.compiler.statements.login import WRAP_BYTES, damaged_byte, states
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.setters import fields
from mkeyspec.compiler.statements.shape import (
    BYTES,
    DEK_PAGE,
    LABEL,
    LOGIN_OBJECT_PAGE,
    NEW,
    Place,
    Shape,
    Slot,
    field_line,
    flag_line,
)
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
    content = {
        word: _bytes(line.operand, scope, word) for word, line in lines.items() if word in ("key", "keytag", "opaque")
    }
    wrapped, login, damaged = _wrapping(row, lines, scope, content)
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
        wrapped,
        login,
        damaged,
    )
    row.put_overrides(step, sentence)
    for word, line in lines.items():
        row.origin.put_member(step, word, line.span)
    row.add(step, sentence)
    row.declare(name, Handle("dek", name.text), scope)


def _wrapping(
    row: RowState, lines: dict[str, Sentence], scope: Scope, content: dict[str, ByteString]
) -> tuple[bool | None, str | None, int | None]:
    """`wrapped`, `plaintext`, `login o` and `damaged 7`."""
    said = {word: _yes(lines[word], scope) for word in ("wrapped", "plaintext") if word in lines}
    login = row.handle(lines["login"].operand, scope, "login", "`login`").name if "login" in lines else None
    wrapped = True if said.get("wrapped") or login is not None else None
    if said.get("plaintext"):
        if wrapped:
            message = "a DEK is wrapped or plaintext, and this one is declared as both"
            raise fault("MKS0337", message, lines["plaintext"].span, help="leave one of them out", page=DEK_PAGE)
        wrapped = False
    if "damaged" not in lines:
        return wrapped, login, None
    if not wrapped:
        message = "`damaged` names a byte of the wrapped key, and this DEK is not wrapped"
        raise fault("MKS0337", message, lines["damaged"].span, help="say `wrapped` too", page=DEK_PAGE)
    length = sum(content[word].length for word in ("key", "keytag") if word in content) + WRAP_BYTES
    return wrapped, login, damaged_byte(lines["damaged"], scope, length, "the wrapped key")


def _yes(line: Sentence, scope: Scope) -> bool:
    operand = line.node.operand
    return operand is None or as_bool(evaluate(operand, scope), scope, operand.span, f"`{line.verb.name}`")


def _check_dek(context: Context, step: plan.Dek) -> None:
    """mlx5dv_dek_create takes keys of AES-XTS-128 and AES-XTS-256: two AES keys each."""
    size, by_but = overridden(step.but, "key_size", KEY_BYTES.index(step.key.length) if _fits(step) else 0)
    if size is None or size >= len(KEY_BYTES):
        context.broken(
            "dek_key_size",
            f"key_size is 0 (128 bit) or 1 (256 bit){'' if size is None else f', not {size}'}",
            step,
            "key_size",
            by_but=by_but,
            definite=size is not None,
        )
    elif step.key.length != KEY_BYTES[size] and not (step.wrapped and _fits(step)):
        context.broken(
            "dek_size",
            f"a key of AES-XTS has {KEY_BYTES[size] if by_but else '32 or 64'} bytes, and this one {step.key.length}",
            step,
            "key",
            help="key random(32, seed=1)",
        )
    purpose, by_but = overridden(step.but, "key_purpose", AES_XTS)
    if purpose != AES_XTS:
        message = "key_purpose is AES_XTS (0) or nothing"
        context.broken("dek_purpose", message, step, "key_purpose", by_but=by_but, definite=purpose is not None)
    mask, by_but = overridden(step.but, "comp_mask", 0 if step.wrapped and step.login is None else CRYPTO_LOGIN)
    if mask is None or mask & ~CRYPTO_LOGIN:
        message = "comp_mask has one bit, CRYPTO_LOGIN (1)"
        context.broken("dek_comp_mask", message, step, "comp_mask", by_but=by_but, definite=mask is not None)
    else:
        _check_import(context, step, mask, by_but)
    if step.keytag is not None:
        check_keytag(context, step.keytag.length, step)


def _check_import(context: Context, step: plan.Dek, mask: int, by_but: bool) -> None:
    """Whether it is wrapped, and by which login, follows from comp_mask and crypto_login."""
    exists = step.login is None or check_exists(context, step, step.login)
    if step.login is not None and not mask:
        message = "crypto_login is of a DEK that has CRYPTO_LOGIN in comp_mask, and is NULL without it"
        context.broken("dek_login", message, step, "comp_mask", by_but=by_but)
        return
    if not mask and context.state.session is not True:
        message = "without CRYPTO_LOGIN in comp_mask this is a wrapped DEK, and the context has no login session"
        if not by_but:
            message = "a wrapped DEK needs a login, and the context has no login session"
        definite = context.state.session is False
        context.broken(
            "dek_login", message, step, "comp_mask", by_but=by_but, definite=definite, help="`login` before it"
        )
        return
    # A size outside the enum is a broken rule of its own: how many bytes are unwrapped is then nobody's.
    size, _ = overridden(step.but, "key_size", KEY_BYTES.index(step.key.length) if _fits(step) else 0)
    in_enum = size is not None and size < len(KEY_BYTES)
    other_size = in_enum and _fits(step) and size != KEY_BYTES.index(step.key.length)
    if not mask and not step.wrapped:
        message = "under the login session the key is wrapped, and this one is not"
        context.broken("dek_wrapped", message, step, "comp_mask", by_but=by_but)
    elif exists and step.wrapped and (step.damaged is not None or other_size):
        message = "a wrapped key whose bytes were changed does not unwrap"
        context.broken("dek_wrapped", message, step, "damaged" if step.damaged is not None else "key_size", by_but=True)
    elif step.wrapped is False or (step.wrapped and step.login is None and mask):
        message = "the import method of the device decides whether it takes plaintext keys"
        context.broken("dek_import", message, step, "comp_mask", definite=False)


def _fits(step: plan.Dek) -> bool:
    return step.key.length in KEY_BYTES


def _after_dek(state: AbstractState, step: plan.Dek) -> None:
    created = not plan.is_rejected(step.claim)
    made = OtherState(step.at, "dek", keytag=step.keytag, created=created, pd=step.pd)
    state.things[step.name] = made._replace(wrapped=bool(step.wrapped))


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
                    flag_line("wrapped", DEK_PAGE),
                    flag_line("plaintext", DEK_PAGE),
                    field_line("login", "login o", "a login object", DEK_PAGE),
                    field_line("damaged", "damaged 7", "the place of a byte", DEK_PAGE),
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
    """`query d is state_ready, opaque bytes`: one call of mlx5dv_dek_query; of a login object, of
    mlx5dv_crypto_login_query."""
    operand = sentence.operand
    handle = as_handle(evaluate(operand, scope), scope, operand.span, ("dek", "login"), "`query`")
    told = states(sentence.phrases["is"], scope, f"{handle.kind}_state")
    said = sentence.modifiers.get("opaque")
    if said is not None and handle.kind == "login":
        message = "`opaque` is of a DEK: a login object has none"
        raise fault("MKS0211", message, said.span, help="query o is state_valid", page=LOGIN_OBJECT_PAGE)
    opaque = None if said is None or said.value is None else _bytes(said.value, scope, "opaque")
    claim, known = row.claim(sentence, scope), row.known(sentence, scope)
    label = row.label(sentence, scope)
    step: plan.Query | plan.LoginState
    if handle.kind == "login":
        step = plan.LoginState(sentence.at, told, handle.name, label, claim, known)
    else:
        step = plan.Query(sentence.at, handle.name, told, opaque, label, claim, known)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)


def _check_query(context: Context, step: plan.Query) -> None:
    dek = context.state.dek(step.dek)
    exists = check_exists(context, step, step.dek)
    if (
        exists
        and dek is not None
        and dek.wrapped
        and not context.state.login_objects()
        and context.state.session is not True
    ):
        message = f"`{step.dek}` is wrapped, and the context has no login"
        definite = context.state.session is False
        context.broken("dek_query_login", message, step, help="query it before the logout", definite=definite)


QUERY = Statement(
    step=plan.Query,
    shapes=(
        Shape(
            "query",
            "query d is state_ready, opaque fill(1, 8)",
            Slot("a dek or a login object"),
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
