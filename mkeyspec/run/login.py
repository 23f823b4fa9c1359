"""Crypto logins, and keys that are wrapped. The rig wraps both with the import KEK that the device has.

No failure shows a credential, an import KEK, or what was wrapped by it.
"""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import LOGIN_STATE
from mkeyspec.device.protocol import LoginAttr, Refused
from mkeyspec.reference.key_wrap import wrap
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.errnos import errno_name, errno_of
from mkeyspec.run.outcomes import Attempt
from mkeyspec.run.overrides import Members
from mkeyspec.run.verdict import Failure


def login(state: CaseState, step: plan.Login) -> Attempt:
    what = "login" if step.name is None else f"login_object {step.name}"
    attempt, lab = Attempt(step.at, what), state.device.lab_login()
    plain = lab.credential if step.credential is None else step.credential.data
    but = Members(step.but, state)
    attr = LoginAttr(
        but.take("credential_id", lab.credential_id),
        but.take("import_kek_id", lab.import_kek_id),
        _damaged(wrap(bytes(plain), lab.import_kek), step.damaged),
        but.take("comp_mask", 0),
    )
    but.done(what)
    try:
        if step.name is None:
            state.device.login(attr)
        else:
            state.logins[step.name] = state.device.login_object(attr)
    except Refused as refusal:
        attempt.phase, attempt.reason = step.phase, errno_name(errno_of(refusal))
    return attempt


def logout(state: CaseState, step: plan.Logout) -> Attempt:
    attempt = Attempt(step.at, "logout" if step.login is None else f"destroy {step.login}")
    try:
        if step.login is None:
            state.device.logout()
        else:
            state.device.destroy_login(state.logins[step.login])
    except Refused as refusal:
        attempt.phase, attempt.reason = step.phase, errno_name(errno_of(refusal))
    return attempt


def query(state: CaseState, step: plan.LoginState) -> tuple[Attempt, Failure | None]:
    """One call of a query, and how its answer differs from the case."""
    what = "login_state" if step.login is None else f"query {step.login}"
    call = "mlx5dv_crypto_login_query_state" if step.login is None else f"mlx5dv_crypto_login_query of `{step.login}`"
    attempt = Attempt(step.at, what)
    try:
        if step.login is None:
            answer = state.device.login_state()
        else:
            answer = state.device.query_login(state.logins[step.login])
    except Refused as refusal:
        attempt.phase, attempt.reason = "query", errno_name(errno_of(refusal))
        return attempt, None
    got = LOGIN_STATE[answer] if 0 <= answer < len(LOGIN_STATE) else f"state {answer}"
    if got in step.state:
        return attempt, None
    details = (("expected", " or ".join(step.state)), ("got", got))
    return attempt, Failure("MKS2120", step.at, f"{call} says something else", details)


def wrapped_key(state: CaseState, step: plan.Dek) -> bytes:
    """The key of a wrapped DEK and its keytag, as mlx5dv_dek_create takes them."""
    plain = bytes(step.key.data) + (b"" if step.keytag is None else bytes(step.keytag.data))
    return _damaged(wrap(plain, state.device.lab_login().import_kek), step.damaged)


def _damaged(wrapped: bytes, place: int | None) -> bytes:
    if place is None:
        return wrapped
    return wrapped[:place] + bytes([wrapped[place] ^ 0xFF]) + wrapped[place + 1 :]
