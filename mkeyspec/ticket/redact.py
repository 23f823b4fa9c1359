"""Replaces what names a machine: its host name, MAC and IP addresses, GIDs, GUIDs, serial numbers."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

_COLONS = re.compile(r"(?<![\w:.])[0-9a-fA-F]{0,4}(?::{1,2}[0-9a-fA-F]{0,4}){2,}(?:\d*\.\d+\.\d+\.\d+)?(?![\w:])")
_DOTS = re.compile(r"(?<![\w.])[1-9]\d{1,2}(?:\.\d{1,3}){3}(?!\w|\.\d)")
"""An IPv4 address; one below 10.0.0.0 would be a version, as libibverbs 1.14.44.0."""
_MAC = re.compile(r"(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?:(?::[0-9a-fA-F]{2}){14})?")
_GUID = re.compile(r"[0-9a-fA-F]{4}(?::[0-9a-fA-F]{4}){3}")
_SERIAL = re.compile(r"(?i)(\b(?:serial[_ ]?number|board[_ ]serial[_ ]number|asset[_ ]tag)\b[\"':= ]+)([\w.-]+)")


class Redaction:
    """The same word is replaced by the same word everywhere: `address-2`, `host-1`."""

    def __init__(self, hosts: Iterable[str]) -> None:
        names = {name for host in hosts if host for name in (host, host.split(".")[0])}
        self._hosts = [
            re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
            for name in sorted(names, key=lambda name: (-len(name), name))
        ]
        self._words: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        for host in self._hosts:
            text = host.sub(lambda found: self._word("host", found[0].split(".")[0]), text)
        text = _SERIAL.sub(lambda found: found[1] + self._word("serial", found[2]), text)
        text = _COLONS.sub(lambda found: self._word("address", found[0]) if _is_address(found[0]) else found[0], text)
        return _DOTS.sub(lambda found: self._word("address", found[0]) if _is_ip(found[0]) else found[0], text)

    def _word(self, kind: str, word: str) -> str:
        key = f"{kind} {word.lower()}"
        if key not in self._words:
            number = 1 + sum(1 for other in self._words if other.startswith(f"{kind} "))
            self._words[key] = f"{kind}-{number}"
        return self._words[key]


def _is_address(text: str) -> bool:
    """Not a time, a PCI address or a place in a file."""
    return bool(_MAC.fullmatch(text) or _GUID.fullmatch(text)) or (text not in ("::",) and _is_ip(text))


def _is_ip(text: str) -> bool:
    try:
        return not ipaddress.ip_address(text).is_unspecified
    except ValueError:
        return False
