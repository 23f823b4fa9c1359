"""The DEKs of a model: mlx5dv_dek_create(3), mlx5dv_dek_query(3) and mlx5dv_dek_destroy(3)."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from dataclasses import replace

from mkeyspec.device.model import crypto
from mkeyspec.device.model.crypto import DataKey
from mkeyspec.device.model.login import Logins
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import DekAttr, DekState, Refused
from mkeyspec.reference.key_wrap import SEMIBLOCK

KEY_SIZES = (32, 64)
"""Bytes of enum mlx5dv_crypto_key_size: a data key and a tweak key (DEK key Field Construction)."""
CRYPTO_LOGIN = 1
"""The bit of enum mlx5dv_dek_init_attr_mask."""
READY = 0
"""MLX5DV_DEK_STATE_READY."""
M64 = (1 << 64) - 1


class DataKeys:
    """By the handles of the device. No call makes a key unusable, so the state of each is ready."""

    def __init__(self, profile: Profile, logins: Logins) -> None:
        self.profile = profile
        self.logins = logins
        self.keys: dict[int, DataKey] = {}
        self.wrapped: set[int] = set()
        """Handles of those that were imported wrapped."""

    def create(self, handle: int, key: bytes, keytag: bytes | None, attr: DekAttr) -> None:
        """128- or 256-bit AES-XTS; its halves may be equal (IEEE 1619-2007)."""
        call = "mlx5dv_dek_create"
        if "crypto" not in self.profile.offers:
            raise Refused(call, errno.EOPNOTSUPP)
        if (rule := self.rule(key, attr)) is not None:
            raise Refused(call, self.profile.errno_of(rule))
        if wrapped := self.is_wrapped(attr):
            opened = self.unwrapped(key + (keytag or b""), attr.has_keytag or keytag is not None, attr)
            if opened is None:
                raise Refused(call, self.profile.errno_of("dek_wrapped"))
            key, keytag = opened
        try:
            made = crypto.key(key, keytag)
        except ValueError:
            raise Refused(call, self.profile.errno_of("dek_key")) from None
        self.keys[handle] = replace(made, opaque=attr.opaque[: crypto.OPAQUE].ljust(crypto.OPAQUE, b"\0"))
        if wrapped:
            self.wrapped.add(handle)

    def is_wrapped(self, attr: DekAttr) -> bool:
        """A plaintext DEK has the bit and no login (XCRY-13)."""
        return not attr.comp_mask & CRYPTO_LOGIN or attr.login is not None

    def unwrapped(self, given: bytes, has_keytag: bool, attr: DekAttr) -> tuple[bytes, bytes | None] | None:
        """Key and keytag. `given`: the member `key`; key_size and has_keytag decide how many of its bytes are used."""
        by_length = min(len(given) // KEY_SIZES[1], 1)
        size = KEY_SIZES[by_length if attr.key_size is None else attr.key_size]
        whole = size + (crypto.KEYTAG if has_keytag else 0) + SEMIBLOCK
        opened = self.logins.opened(given[:whole].ljust(whole, b"\0"))
        if opened is None:
            return None
        return opened[:size], opened[size:] if has_keytag else None

    def rule(self, key: bytes, attr: DekAttr) -> str | None:
        """The rule that the attributes break (XCRY-13, XCRY-17 to XCRY-19)."""
        size = attr.key_size
        if size is not None and size not in range(len(KEY_SIZES)):
            return "dek_key_size"
        if attr.key_purpose != crypto.AES_XTS:
            return "dek_purpose"
        if attr.comp_mask & M64 & ~CRYPTO_LOGIN:
            return "dek_comp_mask"
        if not self.is_wrapped(attr):
            if "crypto.plaintext" not in self.profile.offers:
                return "dek_import"
            return "dek_key" if size is not None and len(key) != KEY_SIZES[size] else None
        return None if self.has_login(attr) else "dek_login"

    def has_login(self, attr: DekAttr) -> bool:
        """The login that a wrapped DEK names: an object, which its bit must announce, or else the session of the
        context."""
        if attr.login is not None:
            return bool(attr.comp_mask & CRYPTO_LOGIN) and attr.login.handle in self.logins.objects
        return self.logins.session is not None

    def query(self, handle: int) -> DekState:
        """The opaque bytes that it was created with (XCRY-14)."""
        call, found = "mlx5dv_dek_query", self.keys.get(handle)
        if found is None:
            raise Refused(call, errno.EINVAL)
        if handle in self.wrapped and not self.logins.is_valid():
            raise Refused(call, self.profile.errno_of("dek_query_login"))
        return DekState(READY, found.opaque)

    def destroy(self, handle: int, used: Iterable[DataKey]) -> None:
        """`used`: DEKs of configured mkeys. They can't be destroyed. The page leaves that open (XCRY-20)."""
        call, found = "mlx5dv_dek_destroy", self.keys.get(handle)
        if found is None:
            raise Refused(call, errno.EINVAL)
        if any(one is found for one in used):
            raise Refused(call, self.profile.errno_of("dek_in_use"))
        del self.keys[handle]
        self.wrapped.discard(handle)

    def clear(self) -> None:
        self.keys.clear()
        self.wrapped.clear()
