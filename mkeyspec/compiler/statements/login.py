"""Crypto logins: `login`, `logout` and `login_state` are of the session of the context, `login_object` of an object."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.mkey_state import check_exists
from mkeyspec.compiler.check.state import AbstractState, OtherState, may_be_refused, overridden
from mkeyspec.compiler.eval.coercion import as_bytes, as_int, as_word, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Handle, is_list
from mkeyspec.compiler.statements import writes
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.setters import fields
from mkeyspec.compiler.statements.shape import LABEL, LOGIN_OBJECT_PAGE, LOGIN_PAGE, NEW, Place, Shape, Slot, field_line
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.syntax import ast

CREDENTIAL_BYTES = 40
"""Of a credential in plaintext; AES key wrap makes the 48 of mlx5dv_crypto_login_attr of it."""

WRAP_BYTES = 8
"""What AES key wrap adds (RFC 3394)."""

_MEMBERS = ("credential_id", "import_kek_id", "comp_mask")
_STATES = Slot("state_valid, state_no_login, state_invalid, or a list of them")


def _lines(word: str) -> Place:
    return Place(
        word,
        (
            field_line("credential", "credential fill(1, 40)", "40 bytes", LOGIN_OBJECT_PAGE),
            field_line("damaged", "damaged 7", "the place of a byte", LOGIN_OBJECT_PAGE),
        ),
    )


def damaged_byte(line: Sentence, scope: Scope, length: int, what: str) -> int:
    """Which of `length` wrapped bytes the rig inverts."""
    found = as_int(evaluate(line.operand, scope), scope, line.operand.span, "`damaged`")
    if not 0 <= found < length:
        message = f"`damaged` names a byte of {what}, 0 to {length - 1}, not {found}"
        raise fault("MKS0314", message, line.operand.span, help=f"damaged {length - 1}")
    return found


def states(expr: ast.Expr, scope: Scope, kind: str) -> tuple[str, ...]:
    """The words of `kind` after `is`: one, or a list."""
    value = evaluate(expr, scope)
    items = value if is_list(value) else (value,)
    return tuple(as_word(item, scope, expr.span, (kind,), "`is`").name for item in items)


# login, login_object ----------------------------------------------------------------------------


def _login(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`login { credential bytes; damaged 7 }`, `login_object o { … }`."""
    name = None if sentence.verb.operand is None else sentence.new_name()
    lines = fields(row, sentence, scope)
    credential = None
    if "credential" in lines:
        expr = lines["credential"].operand
        credential = as_bytes(evaluate(expr, scope), scope, expr.span, "`credential`")
        if credential.length != CREDENTIAL_BYTES:
            message = f"`credential` has {CREDENTIAL_BYTES} bytes, these are {credential.length}"
            raise fault("MKS0314", message, expr.span, help="credential fill(1, 40)", page=sentence.verb.page)
    wrapped = CREDENTIAL_BYTES + WRAP_BYTES
    damaged = damaged_byte(lines["damaged"], scope, wrapped, "the credential") if "damaged" in lines else None
    claim, known = row.claim(sentence, scope), row.known(sentence, scope)
    but, label = row.overrides(sentence, scope), row.label(sentence, scope)
    step = plan.Login(sentence.at, None if name is None else name.text, credential, damaged, but, label, claim, known)
    row.put_overrides(step, sentence)
    for word, line in lines.items():
        row.origin.put_member(step, word, line.span)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)
    if name is not None:
        row.declare(name, Handle("login", name.text), scope)


def _check_login(context: Context, step: plan.Login) -> None:
    at = (step.phase,)
    mask, by_but = overridden(step.but, "comp_mask", 0)
    if mask != 0:
        context.broken(
            "login_comp_mask", "comp_mask is 0", step, "comp_mask", by_but=by_but, definite=mask is not None, phases=at
        )
    others = {member for member, _ in step.but} & {"credential_id", "import_kek_id"}
    if step.credential is not None or step.damaged is not None or others:
        member = "credential" if step.credential is not None else "damaged" if step.damaged is not None else min(others)
        message = (
            "the device compares the credential with the stored one of its id, as the import KEK of its id unwraps it"
        )
        context.broken("login_credential", message, step, member, by_but=True, phases=at)
    objects = context.state.login_objects()
    if step.name is None and context.state.session is not False:
        message = "the context has a login session"
        context.broken("login_twice", message, step, help="`logout` before it", definite=context.state.session is True)
    if objects and step.name is not None:
        message = f"the context has a login object, `{objects[0]}`"
        context.broken("login_objects", message, step, help=f"`destroy {objects[0]}` before it", phases=at)
    elif objects or (step.name is not None and context.state.session is not False):
        # No page says whether a context has both.
        message = "the context has a login session and a login object"
        context.broken("login_objects", message, step, definite=False, phases=at)


def _after_login(state: AbstractState, step: plan.Login) -> None:
    """A refusal that is allowed beside success ends the case, so what follows relies on the login."""
    created = not plan.is_rejected(step.claim)
    if step.name is not None:
        state.things[step.name] = OtherState(step.at, "login", created=created)
    elif created:
        state.session = True


LOGIN = Statement(
    step=plan.Login,
    shapes=(
        Shape(
            "login",
            "login as l",
            phrases={"as": LABEL},
            but=_MEMBERS,
            lines=_lines("login"),
            phases=("login",),
            known=True,
            page=LOGIN_PAGE,
            shows=("errno",),
        ),
        Shape(
            "login_object",
            "login_object o",
            NEW,
            {"as": LABEL},
            but=_MEMBERS,
            lines=_lines("login_object"),
            phases=("create",),
            known=True,
            page=LOGIN_OBJECT_PAGE,
            shows=("errno",),
        ),
    ),
    lower=_login,
    check=_check_login,
    effect=_after_login,
)

# logout -----------------------------------------------------------------------------------------


def _logout(row: RowState, sentence: Sentence, scope: Scope) -> None:
    claim, known = row.claim(sentence, scope), row.known(sentence, scope)
    step = plan.Logout(sentence.at, None, row.label(sentence, scope), claim, known)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)


def _check_logout(context: Context, step: plan.Logout) -> None:
    if step.login is not None:
        check_exists(context, step, step.login)
    elif context.state.session is not True:
        message = "the context has no login session"
        context.broken("logout_without_login", message, step, definite=context.state.session is False)


def _after_logout(state: AbstractState, step: plan.Logout) -> None:
    if plan.is_rejected(step.claim):
        return
    if step.login is None:
        state.session = None if may_be_refused(step.claim) and state.session else False
        return
    login = state.dek(step.login)
    if login is not None:
        state.things[step.login] = login._replace(destroyed=step.at)


LOGOUT = Statement(
    step=plan.Logout,
    shapes=(
        Shape(
            "logout",
            "logout as l",
            phrases={"as": LABEL},
            phases=("logout",),
            known=True,
            page=LOGIN_PAGE,
            shows=("errno",),
        ),
    ),
    lower=_logout,
    check=_check_logout,
    effect=_after_logout,
)

# login_state ------------------------------------------------------------------------------------


def _state(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`login_state is state_valid`: one call of mlx5dv_crypto_login_query_state."""
    told = states(sentence.phrases["is"], scope, "login_state")
    claim, known = row.claim(sentence, scope), row.known(sentence, scope)
    step = plan.LoginState(sentence.at, told, None, row.label(sentence, scope), claim, known)
    row.add(step, sentence)
    writes.label(row, step, sentence.span)


def _check_state(context: Context, step: plan.LoginState) -> None:
    if step.login is not None:
        check_exists(context, step, step.login)


LOGIN_STATE = Statement(
    step=plan.LoginState,
    shapes=(
        Shape(
            "login_state",
            "login_state is state_valid",
            phrases={"is": _STATES, "as": LABEL},
            phases=("query",),
            known=True,
            page=LOGIN_PAGE,
            shows=("errno",),
        ),
    ),
    lower=_state,
    check=_check_state,
    effect=None,
)
