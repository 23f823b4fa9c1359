"""Crypto logins of a model: mlx5dv_crypto_login(3), mlx5dv_crypto_login_create(3).

A context has one session and one login object. The credential is compared with the stored one of its id, after it was
unwrapped by the import KEK of its id. Nothing here deletes either, so no login becomes invalid.
"""

from __future__ import annotations

import errno

from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import LabLogin, Login, LoginAttr, Refused
from mkeyspec.reference.key_wrap import unwrap

VALID, NO_LOGIN = 0, 1
"""Of enum mlx5dv_crypto_login_state."""
CREDENTIAL_BYTES = 40
"""Of a credential before it is wrapped to the 48 bytes of struct mlx5dv_crypto_login_attr."""
LAB = LabLogin(0x2B, bytes(range(0x60, 0x60 + CREDENTIAL_BYTES)), 0x1C, bytes(range(0x20, 0x40)))
"""What a crypto officer would have stored on the device. Nothing here is secret."""
M32 = (1 << 32) - 1
M64 = (1 << 64) - 1


class Logins:
    """The session, if there is one, and the login objects by their handles."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.lab = LAB
        self.session: LoginAttr | None = None
        self.objects: dict[int, LoginAttr] = {}
        self._made = 0

    def clear(self) -> None:
        self.session = None
        self.objects.clear()

    def rule(self, attr: LoginAttr) -> str | None:
        """The rule that the attributes break (XCRY-22 to XCRY-24)."""
        if attr.comp_mask & M64:
            return "login_comp_mask"
        return None if self.knows(attr) else "login_credential"

    def knows(self, attr: LoginAttr) -> bool:
        """Whether the ids are those of what is stored, and the credential is the one that is."""
        if (attr.credential_id & M32, attr.import_kek_id & M32) != (self.lab.credential_id, self.lab.import_kek_id):
            return False
        return self.opened(attr.credential) == self.lab.credential

    def opened(self, wrapped: bytes) -> bytes | None:
        """What was wrapped by the import KEK; None if it was not."""
        return unwrap(wrapped, self.lab.import_kek)

    def _look_at(self, call: str, attr: LoginAttr) -> None:
        if "crypto.login" not in self.profile.offers:
            raise Refused(call, errno.EOPNOTSUPP)
        if (rule := self.rule(attr)) is not None:
            raise Refused(call, self.profile.errno_of(rule))

    def login(self, attr: LoginAttr) -> None:
        call = "mlx5dv_crypto_login"
        if self.session is not None:
            raise Refused(call, self.profile.errno_of("login_twice"))
        self._look_at(call, attr)
        self.session = attr

    def logout(self) -> None:
        if self.session is None:
            raise Refused("mlx5dv_crypto_logout", self.profile.errno_of("logout_without_login"))
        self.session = None

    def create(self, attr: LoginAttr) -> Login:
        call = "mlx5dv_crypto_login_create"
        self._look_at(call, attr)
        if self.objects:
            raise Refused(call, self.profile.errno_of("login_objects"))
        self._made += 1
        self.objects[self._made] = attr
        return Login(self._made)

    def query(self, login: Login) -> int:
        if login.handle not in self.objects:
            raise Refused("mlx5dv_crypto_login_query", errno.EINVAL)
        return VALID

    def destroy(self, login: Login) -> None:
        if self.objects.pop(login.handle, None) is None:
            raise Refused("mlx5dv_crypto_login_destroy", errno.EINVAL)

    def is_valid(self) -> bool:
        """Whether a wrapped DEK can be queried."""
        return self.session is not None or bool(self.objects)


class LoginCalls:
    """The calls of `protocol.Device` that are about logins."""

    logins: Logins

    def lab_login(self) -> LabLogin:
        return self.logins.lab

    def login(self, attr: LoginAttr) -> None:
        self.logins.login(attr)

    def login_state(self) -> int:
        return NO_LOGIN if self.logins.session is None else VALID

    def logout(self) -> None:
        self.logins.logout()

    def login_object(self, attr: LoginAttr) -> Login:
        return self.logins.create(attr)

    def query_login(self, login: Login) -> int:
        return self.logins.query(login)

    def destroy_login(self, login: Login) -> None:
        self.logins.destroy(login)
