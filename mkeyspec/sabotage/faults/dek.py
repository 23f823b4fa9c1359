"""Faults of DEKs as objects: how they are created, queried and destroyed."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace

from mkeyspec.device.model.crypto import AES_XTS
from mkeyspec.device.model.dek import CRYPTO_LOGIN, KEY_SIZES
from mkeyspec.device.model.device import Model
from mkeyspec.device.protocol import Dek, DekAttr, DekState, Refused
from mkeyspec.sabotage.fault import fault


def _answers(name: str, change: Callable[[DekState], DekState]) -> None:
    """Queries whose answers are changed."""

    @fault(name)
    class Mutant(Model):
        def query_dek(self, dek: Dek) -> DekState:
            return change(super().query_dek(dek))


_answers("dek_state_error", lambda answer: replace(answer, state=1))
_answers("dek_opaque_lost", lambda answer: replace(answer, opaque=bytes(8)))
_answers("dek_opaque_reversed", lambda answer: replace(answer, opaque=answer.opaque[::-1]))


@fault("dek_opaque_shared")
class OpaqueShared(Model):
    def query_dek(self, dek: Dek) -> DekState:
        answer = super().query_dek(dek)
        return replace(answer, opaque=list(self.deks.keys.values())[-1].opaque)


def _takes(name: str, taken: Callable[[DekAttr], DekAttr]) -> None:
    """Attributes that are taken otherwise than they are given."""

    @fault(name)
    class Mutant(Model):
        def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
            return super().dek(key, keytag, taken(attr or DekAttr()))


_takes("dek_key_size_unchecked", lambda attr: replace(attr, key_size=None))
_takes("dek_purpose_unchecked", lambda attr: replace(attr, key_purpose=0))
_takes("dek_comp_mask_unchecked", lambda attr: replace(attr, comp_mask=attr.comp_mask & 1))


@fault("dek_login_unchecked")
class LoginUnchecked(Model):
    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        before, given = self.deks.profile, attr or DekAttr()
        self.deks.profile = replace(before, import_method="either")
        try:
            return super().dek(key, keytag, replace(given, comp_mask=given.comp_mask | CRYPTO_LOGIN))
        finally:
            self.deks.profile = before


def _refuses(name: str, when: Callable[[bytes, DekAttr], bool]) -> None:
    """`when` is told the key and the attributes."""

    @fault(name)
    class Mutant(Model):
        def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
            if when(key, attr or DekAttr()):
                raise Refused("mlx5dv_dek_create", errno.EINVAL)
            return super().dek(key, keytag, attr)


_refuses("dek_pd_refused", lambda key, attr: attr.pd is not None)
_refuses(
    "dek_256_refused", lambda key, attr: attr.key_size == 1 or (attr.key_size is None and len(key) == KEY_SIZES[1])
)
_refuses("dek_purpose_refused", lambda key, attr: attr.key_purpose == AES_XTS)
_refuses("dek_plaintext_refused", lambda key, attr: bool(attr.comp_mask & CRYPTO_LOGIN) and attr.login is None)


@fault("dek_destroy_refused")
class DestroyRefused(Model):
    def destroy_dek(self, dek: Dek) -> None:
        raise Refused("mlx5dv_dek_destroy", errno.EBUSY)


@fault("dek_destroy_takes_all")
class DestroyTakesAll(Model):
    def destroy_dek(self, dek: Dek) -> None:
        super().destroy_dek(dek)
        self.deks.keys.clear()
