"""Crypto logins: mlx5dv_crypto_login(3), mlx5dv_crypto_login_create(3). No text of these classes has a secret in it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LabLogin:
    """What a device was set up with, and what the rig logs in with: a credential (40 bytes) and an import KEK (16 or 32
    bytes, an AES key), in plaintext, and the ids that they have on the device."""

    credential_id: int
    credential: bytes = field(repr=False)
    import_kek_id: int
    import_kek: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class LoginAttr:
    """struct mlx5dv_crypto_login_attr, and that of login objects. `credential`: 48 bytes, wrapped by the import KEK."""

    credential_id: int
    import_kek_id: int
    credential: bytes = field(repr=False)
    comp_mask: int = 0


@dataclass(frozen=True, slots=True)
class Login:
    """A login object."""

    handle: int
