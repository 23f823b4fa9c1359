"""The DEKs of a model: mlx5dv_dek_create(3), mlx5dv_dek_query(3) and mlx5dv_dek_destroy(3)."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from dataclasses import replace

from mkeyspec.device.model import crypto
from mkeyspec.device.model.crypto import DataKey
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import DekAttr, DekState, Refused

KEY_SIZES = (32, 64)
"""Bytes of enum mlx5dv_crypto_key_size: a data key and a tweak key (DEK key Field Construction)."""
CRYPTO_LOGIN = 1
"""The bit of enum mlx5dv_dek_init_attr_mask."""
READY = 0
"""MLX5DV_DEK_STATE_READY."""
M64 = (1 << 64) - 1


class DataKeys:
    """By the handles of the device. Nothing here makes a key unusable, so each is ready."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.keys: dict[int, DataKey] = {}

    def create(self, handle: int, key: bytes, keytag: bytes | None, attr: DekAttr) -> None:
        """A plaintext DEK: 128- or 256-bit AES-XTS; its halves may be equal (IEEE 1619-2007)."""
        call = "mlx5dv_dek_create"
        if "crypto" not in self.profile.offers:
            raise Refused(call, errno.EOPNOTSUPP)
        if (rule := self.rule(key, attr)) is not None:
            raise Refused(call, self.profile.errno_of(rule))
        try:
            made = crypto.key(key, keytag)
        except ValueError:
            raise Refused(call, self.profile.errno_of("dek_key")) from None
        self.keys[handle] = replace(made, opaque=attr.opaque[: crypto.OPAQUE].ljust(crypto.OPAQUE, b"\0"))

    def rule(self, key: bytes, attr: DekAttr) -> str | None:
        """The rule that the attributes break (XCRY-13, XCRY-17 to XCRY-19)."""
        size = attr.key_size
        if size is not None and size not in range(len(KEY_SIZES)):
            return "dek_key_size"
        if attr.key_purpose != crypto.AES_XTS:
            return "dek_purpose"
        if attr.comp_mask & M64 & ~CRYPTO_LOGIN:
            return "dek_comp_mask"
        if not attr.comp_mask & CRYPTO_LOGIN:
            return "dek_login"  # wrapped: this context has no login session
        return "dek_key" if size is not None and len(key) != KEY_SIZES[size] else None

    def query(self, handle: int) -> DekState:
        """The opaque bytes that it was created with (XCRY-14)."""
        found = self.keys.get(handle)
        if found is None:
            raise Refused("mlx5dv_dek_query", errno.EINVAL)
        return DekState(READY, found.opaque)

    def destroy(self, handle: int, used: Iterable[DataKey]) -> None:
        """`used`: what mkeys are configured with. Such a DEK is kept, which the page leaves open (XCRY-20)."""
        call, found = "mlx5dv_dek_destroy", self.keys.get(handle)
        if found is None:
            raise Refused(call, errno.EINVAL)
        if any(one is found for one in used):
            raise Refused(call, self.profile.errno_of("dek_in_use"))
        del self.keys[handle]
