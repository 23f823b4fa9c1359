"""Crypto logins: the session of the context, and login objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from mkeyspec.plan.claim import Claim, Known
from mkeyspec.plan.facts import Facts
from mkeyspec.plan.location import At
from mkeyspec.plan.setter import Overrides
from mkeyspec.value.bytestring import ByteString


class _OfLogin(Facts):
    """A step that only a device can carry out whose credential and import KEK the rig knows."""

    __slots__ = ()

    def needs(self) -> tuple[str, ...]:
        return ("crypto.login",)


@dataclass(frozen=True, slots=True)
class Login(_OfLogin):
    """mlx5dv_crypto_login; with a `name` mlx5dv_crypto_login_create. `label.errno` is what it returned.

    Ids, credential and import KEK are the lab's. `credential`: another one, in plaintext. `damaged`: the byte of the
    wrapped credential that the rig inverts. `but`: credential_id, import_kek_id, comp_mask.
    """

    at: At
    name: Optional[str] = None
    credential: Optional[ByteString] = None
    damaged: Optional[int] = None
    but: Overrides = ()
    label: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None

    @property
    def phase(self) -> str:
        """Where it is refused."""
        return "login" if self.name is None else "create"


@dataclass(frozen=True, slots=True)
class Logout(_OfLogin):
    """mlx5dv_crypto_logout; with a `login` mlx5dv_crypto_login_destroy. `label.errno` is what it returned."""

    at: At
    login: Optional[str] = None
    label: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None

    @property
    def phase(self) -> str:
        """Where it is refused."""
        return "logout" if self.login is None else "destroy"


@dataclass(frozen=True, slots=True)
class LoginState(_OfLogin):
    """mlx5dv_crypto_login_query_state; with a `login` mlx5dv_crypto_login_query. `state`: admitted values of enum
    mlx5dv_crypto_login_state. `label.errno` is what it returned."""

    at: At
    state: tuple[str, ...]
    login: Optional[str] = None
    label: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None
