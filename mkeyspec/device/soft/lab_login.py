"""What to log in to the software NIC with: its personality says it, as nothing of it is secret."""

from __future__ import annotations

import os
from collections.abc import Mapping

from mkeyspec.device.protocol import LabLogin
from mkeyspec.device.soft.personality import VARIABLE, personality


def of_environment(environment: Mapping[str, str] = os.environ) -> LabLogin | None:
    """Of the personality that this process's library has read; None if its keys are not imported wrapped."""
    given = environment.get(VARIABLE, "")
    items = [item.partition("=") for item in given.split(";") if item]
    own = {name: value for name, equal, value in items if equal}
    name = own.pop("name", None) or next((name for name, equal, _ in items if not equal), None)
    members = {**dict(personality(name).members if name else personality().members), **own}
    if members["crypto"] != "wrapped":
        return None
    credential, kek = bytes.fromhex(members["credential"]), bytes.fromhex(members["kek"])
    return LabLogin(int(members["credential_id"], 0), credential, int(members["kek_id"], 0), kek)
