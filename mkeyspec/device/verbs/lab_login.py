"""What to log in to a NIC with: a TOML file of the lab, which `MKEYSPEC_CRYPTO_LOGIN` names.

    credential_id = 0x2b
    credential = "…"       # 80 hexadecimal digits: 40 bytes, in plaintext
    import_kek_id = 0x1c
    import_kek = "…"       # 32 or 64 hexadecimal digits: an AES key, in plaintext

The variable has the name of a file, not the secrets, so that no list of processes or environment has them. No message
about the file quotes what is in it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mkeyspec.device.protocol import LabLogin, Unavailable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VARIABLE = "MKEYSPEC_CRYPTO_LOGIN"
CODE = "MKS0946"
IDS = ("credential_id", "import_kek_id")
SECRETS = {"credential": (40,), "import_kek": (16, 32)}
"""Bytes of each."""
_ADVICE = "docs/verbs-device.md has the form of the file (Crypto logins)"


def of_environment(environment: Mapping[str, str] = os.environ) -> LabLogin | None:
    """None where the variable is not set, or empty. Raises Unavailable (MKS0946) for a file that can't be used."""
    named = environment.get(VARIABLE)
    return load(Path(named)) if named else None


def load(path: Path) -> LabLogin:
    """Raises Unavailable (MKS0946)."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _unusable(path, f"can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _unusable(path, "is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at ([^)]*)\)", str(error))
        raise _unusable(path, f"is not TOML ({place[1] if place else 'at its end'})") from None
    names = (*IDS, *SECRETS)
    strange = [key for key in table if key not in names]
    missing = [name for name in names if name not in table]
    if missing:
        raise _unusable(path, f"lacks {', '.join(missing)}")
    if strange:
        raise _unusable(path, f"has a key that is none of {', '.join(names)}")
    ids = {name: _id(path, name, table[name]) for name in IDS}
    secrets = {name: _secret(path, name, table[name]) for name in SECRETS}
    return LabLogin(ids["credential_id"], secrets["credential"], ids["import_kek_id"], secrets["import_kek"])


def _id(path: Path, name: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 24:
        raise _unusable(path, f"{name} is not a number from 0 to 0xffffff")
    return value


def _secret(path: Path, name: str, value: Any) -> bytes:
    lengths = [str(2 * length) for length in SECRETS[name]]
    wanted = f"{' or '.join(lengths)} hexadecimal digits"
    if not isinstance(value, str) or re.fullmatch(r"[0-9A-Fa-f]*", value) is None:
        raise _unusable(path, f"{name} is not {wanted}")
    if len(value) not in [2 * length for length in SECRETS[name]]:
        raise _unusable(path, f"{name} has {len(value)} hexadecimal digits, not {' or '.join(lengths)}")
    return bytes.fromhex(value)


def _unusable(path: Path, why: str) -> Unavailable:
    return Unavailable(CODE, f"{path}, which {VARIABLE} names, {why}; {_ADVICE}")
