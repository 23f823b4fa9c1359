"""Faults of crypto logins, and of DEKs that are imported wrapped."""

from __future__ import annotations

import errno
from dataclasses import replace

from mkeyspec.device.model.crypto import KEYTAG
from mkeyspec.device.model.dek import KEY_SIZES, READY
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.login import VALID
from mkeyspec.device.protocol import Dek, DekAttr, DekState, Login, LoginAttr, Refused
from mkeyspec.reference.key_wrap import SEMIBLOCK, wrap
from mkeyspec.sabotage.fault import fault

INVALID = 2
"""MLX5DV_CRYPTO_LOGIN_STATE_INVALID."""


class _Taken(Model):
    """Attributes of a login that are taken otherwise than they are given."""

    def taken(self, attr: LoginAttr) -> LoginAttr:
        raise NotImplementedError

    def login(self, attr: LoginAttr) -> None:
        super().login(self.taken(attr))

    def login_object(self, attr: LoginAttr) -> Login:
        return super().login_object(self.taken(attr))


@fault("login_credential_unchecked")
class CredentialUnchecked(_Taken):
    def taken(self, attr: LoginAttr) -> LoginAttr:
        lab = self.lab_login()
        return replace(attr, credential=wrap(lab.credential, lab.import_kek))


@fault("login_ids_unchecked")
class IdsUnchecked(_Taken):
    def taken(self, attr: LoginAttr) -> LoginAttr:
        lab = self.lab_login()
        return replace(attr, credential_id=lab.credential_id, import_kek_id=lab.import_kek_id)


@fault("login_comp_mask_unchecked")
class CompMaskUnchecked(_Taken):
    def taken(self, attr: LoginAttr) -> LoginAttr:
        return replace(attr, comp_mask=0)


@fault("login_state_invalid")
class StateInvalid(Model):
    def login_state(self) -> int:
        found = super().login_state()
        return INVALID if found == VALID else found

    def query_login(self, login: Login) -> int:
        super().query_login(login)
        return INVALID


@fault("login_state_always_valid")
class StateAlwaysValid(Model):
    def login_state(self) -> int:
        return VALID


@fault("login_objects_unchecked")
class ObjectsUnchecked(Model):
    def login_object(self, attr: LoginAttr) -> Login:
        others = dict(self.logins.objects)
        self.logins.objects.clear()
        try:
            return super().login_object(attr)
        finally:
            self.logins.objects.update(others)


@fault("login_refused")
class LoginRefused(Model):
    def login(self, attr: LoginAttr) -> None:
        super().login(attr)
        super().logout()
        raise Refused("mlx5dv_crypto_login", errno.EINVAL)

    def login_object(self, attr: LoginAttr) -> Login:
        super().destroy_login(super().login_object(attr))
        raise Refused("mlx5dv_crypto_login_create", errno.EINVAL)


@fault("login_object_once")
class ObjectOnce(Model):
    made = False

    def login_object(self, attr: LoginAttr) -> Login:
        if self.made:
            raise Refused("mlx5dv_crypto_login_create", errno.EINVAL)
        found = super().login_object(attr)
        self.made = True
        return found

    def release(self, *, healthy: bool) -> None:
        self.made = False
        super().release(healthy=healthy)


@fault("login_twice_accepted")
class TwiceAccepted(Model):
    def login(self, attr: LoginAttr) -> None:
        self.logins.session = None
        super().login(attr)


@fault("logout_ignored")
class LogoutIgnored(Model):
    def logout(self) -> None:
        session = self.logins.session
        super().logout()
        self.logins.session = session


@fault("logout_of_none_accepted")
class LogoutOfNone(Model):
    def logout(self) -> None:
        if self.logins.session is not None:
            super().logout()


@fault("dek_session_unchecked")
class SessionUnchecked(Model):
    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        before, lab = self.logins.session, self.lab_login()
        self.logins.session = before or LoginAttr(lab.credential_id, lab.import_kek_id, b"")
        try:
            return super().dek(key, keytag, attr)
        finally:
            self.logins.session = before


@fault("wrapped_dek_refused")
class DekRefused(Model):
    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        made = super().dek(key, keytag, attr)
        if made.handle in self.deks.wrapped:
            self.destroy_dek(made)
            raise Refused("mlx5dv_dek_create", errno.EINVAL)
        return made


@fault("wrapped_query_refused")
class QueryRefused(Model):
    def query_dek(self, dek: Dek) -> DekState:
        if dek.handle in self.deks.wrapped:
            raise Refused("mlx5dv_dek_query", errno.EINVAL)
        return super().query_dek(dek)


@fault("wrapped_key_unchecked")
class KeyUnchecked(Model):
    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        try:
            return super().dek(key, keytag, attr)
        except Refused:
            if attr is None or not attr.wrapped or not self.deks.has_login(attr):
                raise
        size = KEY_SIZES[len(key) // KEY_SIZES[1]]
        found = key[SEMIBLOCK:]
        tag = found[size : size + KEYTAG] if attr.has_keytag else None
        return super().dek(found[:size], tag, replace(attr, comp_mask=1, login=None, wrapped=False, has_keytag=False))


@fault("wrapped_keys_swapped")
class KeysSwapped(Model):
    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        made = super().dek(key, keytag, attr)
        if made.handle in self.deks.wrapped:
            found = self.deks.keys[made.handle]
            half = len(found.key) // 2
            self.deks.keys[made.handle] = replace(found, key=found.key[half:] + found.key[:half])
        return made


@fault("wrapped_keytag_lost")
class KeytagLost(Model):
    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        made = super().dek(key, keytag, attr)
        found = self.deks.keys[made.handle]
        if made.handle in self.deks.wrapped and found.keytag is not None:
            self.deks.keys[made.handle] = replace(found, keytag=bytes(KEYTAG))
        return made


@fault("wrapped_dek_dies")
class DekDies(Model):
    def logout(self) -> None:
        super().logout()
        self._lose()

    def destroy_login(self, login: Login) -> None:
        super().destroy_login(login)
        self._lose()

    def _lose(self) -> None:
        for handle in self.deks.wrapped:
            found = self.deks.keys[handle]
            self.deks.keys[handle] = replace(found, key=bytes(len(found.key)))


@fault("wrapped_query_unchecked")
class QueryUnchecked(Model):
    def query_dek(self, dek: Dek) -> DekState:
        found = self.deks.keys.get(dek.handle)
        return super().query_dek(dek) if found is None else DekState(READY, found.opaque)
