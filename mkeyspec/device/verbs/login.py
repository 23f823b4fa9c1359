"""Crypto logins of one context: its session, and login objects by the handles that the rig knows.

A login is of a context, and each process that drives a NIC opens a context of its own. So the sessions of processes
that share a NIC do not meet (mlx5dv_crypto_login(3): "associates it with context").
"""

from __future__ import annotations

from typing import Any

from mkeyspec.device.protocol import LabLogin, Login, LoginAttr, NoSuchCall, Refused, Unsupported
from mkeyspec.device.verbs import native, requests
from mkeyspec.device.verbs.objects import Objects, close_all

CREDENTIAL_BYTES = 48
"""`char credential[48]` of mlx5dv_crypto_login_attr."""


class Logins:
    """The rig's own session and objects are all that there are: nobody else has this context."""

    def __init__(self, pyverbs: Any, context: Any, native: native.Native, objects: Objects) -> None:
        self._pyverbs = pyverbs
        self._context = context
        self._native = native
        self._objects = objects
        self._is_logged_in = False

    def login(self, attr: LoginAttr) -> None:
        """By libmlx5 itself: pyverbs has no comp_mask."""
        _fit(attr)
        refused = self._native.login(attr.credential_id, attr.import_kek_id, attr.credential, attr.comp_mask)
        if refused:
            raise Refused("mlx5dv_crypto_login", refused)
        self._is_logged_in = True

    def state(self) -> int:
        query = "mlx5dv_crypto_login_query_state"
        return int(self._objects.call(query, lambda: self._pyverbs.Mlx5Context.query_login_state(self._context)))

    def logout(self) -> None:
        self._objects.call("mlx5dv_crypto_logout", lambda: self._pyverbs.Mlx5Context.crypto_logout(self._context))
        self._is_logged_in = False

    def create(self, attr: LoginAttr) -> Login:
        call, pyverbs = "mlx5dv_crypto_login_create", self._pyverbs
        _fit(attr)
        if attr.comp_mask:  # pyverbs has none; nothing is left behind by a device that accepts it
            refused = self._native.try_login_object(
                attr.credential_id, attr.import_kek_id, attr.credential, attr.comp_mask
            )
            if refused:
                raise Refused(call, refused)
        if pyverbs.Mlx5CryptoLogin is None:
            raise Unsupported("this pyverbs has no login objects")

        def make() -> Any:
            given = pyverbs.Mlx5CryptoExtLoginAttr(
                attr.credential, len(attr.credential), attr.credential_id, attr.import_kek_id
            )
            return pyverbs.Mlx5CryptoLogin(self._context, given)

        made = Login(self._objects.next())
        self._objects.logins[made.handle] = self._objects.call(call, make)
        return made

    def query(self, login: Login) -> int:
        """By libmlx5 itself: pyverbs drops the state."""
        state, refused = self._native.query_login(self._objects.login_of(login))
        if refused:
            raise Refused("mlx5dv_crypto_login_query", refused)
        return state

    def destroy(self, login: Login) -> None:
        self._objects.call("mlx5dv_crypto_login_destroy", self._objects.login_of(login).close)
        del self._objects.logins[login.handle]

    def close(self) -> None:
        """After the DEKs: the login objects of the case, and its session."""
        left = list(self._objects.logins.values())
        self._objects.logins.clear()
        try:
            close_all(left)
        finally:
            if self._is_logged_in:
                self.logout()


def _fit(attr: LoginAttr) -> None:
    """NoSuchCall for what the structs can't hold."""
    requests.fit(attr.credential_id, requests.U32, "credential_id")
    requests.fit(attr.import_kek_id, requests.U32, "import_kek_id")
    requests.fit(attr.comp_mask, requests.U64, "comp_mask")
    if len(attr.credential) != CREDENTIAL_BYTES:
        raise NoSuchCall(f"a wrapped credential has {CREDENTIAL_BYTES} bytes, not {len(attr.credential)}")


class LoginCalls:
    """The calls of `protocol.Device` that are about logins."""

    logins: Logins
    lab: LabLogin | None

    def lab_login(self) -> LabLogin:
        if self.lab is None:
            raise Unsupported("crypto.login: nothing says what to log in with")
        return self.lab

    def login(self, attr: LoginAttr) -> None:
        self.logins.login(attr)

    def login_state(self) -> int:
        return self.logins.state()

    def logout(self) -> None:
        self.logins.logout()

    def login_object(self, attr: LoginAttr) -> Login:
        return self.logins.create(attr)

    def query_login(self, login: Login) -> int:
        return self.logins.query(login)

    def destroy_login(self, login: Login) -> None:
        self.logins.destroy(login)
