"""What `--peer` names: how a Python is started for the peer's side, and its device. The form is near that of execnet's
gateways (XSpec): `KEY=VALUE//KEY=VALUE`.

    popen                                        another process of this host, the device of --device
    popen//mlx5_1:1                              the same, another device
    ssh=lab@host2//mlx5_1//python=/opt/v/bin/python
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from mkeyspec.device.protocol import Unavailable

CODE = "MKS0980"
FORM = "popen, or ssh=[USER@]HOST; then //DEVICE[:PORT], //python=COMMAND, //gid-index=N, //ssh_config=FILE"
KEYS = ("popen", "ssh", "device", "python", "gid-index", "ssh_config")

_DEVICE = re.compile(r"(soft)(?::([^:]+))?\Z|([A-Za-z][A-Za-z0-9_.-]*)(?::([0-9]{1,3}))?\Z")


@dataclass(frozen=True, slots=True)
class PeerSpec:
    text: str
    """As it was written."""
    kind: Literal["popen", "ssh"]
    host: str = ""
    """What ssh is given: a host, perhaps with options before it."""
    device: str = ""
    """"" is that of the owner."""
    python: str = ""
    """The command that starts Python, for a shell of that host; "" is this Python, or python3 of another host."""
    gid_index: int | None = None
    ssh_config: str = ""

    @property
    def where(self) -> str:
        """In messages."""
        return "this host" if self.kind == "popen" else self.host.split()[-1]


def parse(text: str) -> PeerSpec:
    """Raises Unavailable (MKS0980); starts nothing."""
    given: dict[str, str] = {}
    for position, part in enumerate(text.split("//")):
        key, equals, value = part.partition("=")
        if not equals:
            key, value = ("popen", "") if part == "popen" else ("device", part)
        if position == 0 and key not in ("popen", "ssh"):
            raise _wrong(text, f"it begins with {part!r}", part)
        if key not in KEYS:
            raise _wrong(text, f"there is no {key!r}", key)
        if key in given or (position and key in ("popen", "ssh")):
            raise _wrong(text, f"{key!r} is there twice" if key in given else f"{key!r} stands first")
        if key != "popen" and not value.strip():
            raise _wrong(text, f"{key}= has no value" if equals else "a part of it is empty")
        if key == "popen" and equals:
            raise _wrong(text, "popen has no value")
        given[key] = value.strip()
    index = given.get("gid-index")
    if index is not None and not (index.isascii() and index.isdigit() and int(index) < 1 << 16):
        raise _wrong(text, f"gid-index={index} is no number from 0")
    if "device" in given and _DEVICE.match(given["device"]) is None:
        raise _wrong(text, f"{given['device']!r} is no device: say NAME[:PORT], as mlx5_1:1")
    if "ssh" not in given and "ssh_config" in given:
        raise _wrong(text, "ssh_config= is of ssh=")
    return PeerSpec(
        text,
        "ssh" if "ssh" in given else "popen",
        given.get("ssh", ""),
        given.get("device", ""),
        given.get("python", ""),
        None if index is None else int(index),
        given.get("ssh_config", ""),
    )


def port_of(device: str) -> tuple[str, int, str | None]:
    """Name, port (0: the first active one) and personality (of the software NIC) of a device."""
    found = _DEVICE.match(device)
    assert found is not None
    if found[1]:
        return "soft", 0, found[2]
    return found[3], int(found[4] or 1), None


def _wrong(text: str, why: str, near: str = "") -> Unavailable:
    close = get_close_matches(near, KEYS, n=1)
    advice = f"did you mean {close[0]}?" if close else f"say {FORM}"
    return Unavailable(CODE, f"--peer {text}: {why}; {advice}")
