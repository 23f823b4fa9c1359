"""Data encryption keys: the object, its state and opaque bytes, its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from mkeyspec.plan.claim import Claim, Known, may_be_rejected
from mkeyspec.plan.facts import Facts
from mkeyspec.plan.location import At
from mkeyspec.plan.setter import Overrides
from mkeyspec.value.bytestring import ByteString


@dataclass(frozen=True, slots=True)
class Dek(Facts):
    """struct mlx5dv_dek_init_attr. `key`: data key, then tweak key, plain. `but`: key_size, key_purpose, comp_mask.

    `wrapped`: the rig wraps the key, and the login is that of the session, or of the object `login`. False: the case
    says that it is plaintext; None: it says nothing. `damaged`: the byte of the wrapped key that the rig inverts.
    """

    at: At
    name: str
    key: ByteString
    keytag: Optional[ByteString] = None
    claim: Claim = ()
    known: Optional[Known] = None
    opaque: Optional[ByteString] = None
    pd: Optional[str] = None
    but: Overrides = ()
    wrapped: Optional[bool] = None
    login: Optional[str] = None
    damaged: Optional[int] = None

    def is_plain(self) -> bool:
        """Whether a device that takes a key and a keytag alone can make it."""
        return self.opaque is None and self.pd is None and self.wrapped is None and not self.but

    def needs(self) -> tuple[str, ...]:
        """A DEK of which the case says `plaintext`, and that it may be refused, is of any device."""
        if self.wrapped:
            return ("crypto", "crypto.login", "dek_query")
        if self.is_plain():
            return ("crypto", "crypto.plaintext")
        may_be_refused = self.wrapped is False and may_be_rejected(self.claim)
        return ("crypto", "dek_query") if may_be_refused else ("crypto", "crypto.plaintext", "dek_query")


@dataclass(frozen=True, slots=True)
class Query(Facts):
    """mlx5dv_dek_query; `state`: admitted values of enum mlx5dv_dek_state. `label.errno` is what it returned."""

    at: At
    dek: str
    state: tuple[str, ...]
    opaque: Optional[ByteString] = None
    label: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None

    def needs(self) -> tuple[str, ...]:
        return ("crypto", "dek_query")


@dataclass(frozen=True, slots=True)
class DestroyDek(Facts):
    """mlx5dv_dek_destroy; `label.errno` is what it returned."""

    at: At
    dek: str
    label: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None

    def needs(self) -> tuple[str, ...]:
        return ("crypto", "dek_query")
