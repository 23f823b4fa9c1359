"""How a work request uses a key: which part, how many bytes, in which direction, with which right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Optional

from mkeyspec.abi.constants import Access
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, is_known, known_number


class Use(NamedTuple):
    """A way to use a key.

    `verb`: as the case says it. `remote`: as an rkey, by the other end. `writes`: data arrives; what it takes is
    `right` (ibv_access_flags), 0 for a local read, which is always granted (ibv_reg_mr(3)).
    """

    verb: str
    remote: bool
    writes: bool
    right: int

    @property
    def reason(self) -> str:
        """The class of completion status of a protection error (X-OPEN-18)."""
        return "remote_access" if self.remote else "local_protection"


def local_read(verb: str) -> Use:
    return Use(verb, False, False, 0)


def local_write(verb: str) -> Use:
    return Use(verb, False, True, int(Access.LOCAL_WRITE))


def remote_read(verb: str) -> Use:
    return Use(verb, True, False, int(Access.REMOTE_READ))


def remote_write(verb: str) -> Use:
    return Use(verb, True, True, int(Access.REMOTE_WRITE))


def remote_atomic(verb: str) -> Use:
    return Use(verb, True, True, int(Access.REMOTE_ATOMIC))


class End(NamedTuple):
    """One buffer or mkey of a request: the part, the bytes that the request moves there, and how it is used."""

    part: Part
    length: Int
    use: Use


TRANSMIT: Mapping[str, Use] = {
    "send": local_read("send"),
    "send_imm": local_read("send_imm"),
    "write": local_read("write"),
    "write_imm": local_read("write_imm"),
    "peer_read": remote_read("peer_read"),
}
"""How `transmit k by …` uses its mkey."""

RECEIVE: Mapping[str, Use] = {
    "recv": local_write("recv"),
    "read": local_write("read"),
    "peer_write": remote_write("peer_write"),
    "peer_write_imm": remote_write("peer_write_imm"),
}
"""How `receive … into k by …` uses its mkey."""


TAKES_RECEIVE = frozenset({"send", "send_imm", "write_imm", "recv", "peer_write_imm"})
"""The ways of TRANSMIT and RECEIVE whose message takes a receive."""


def total(parts: tuple[Part, ...]) -> Int:
    """Bytes of parts together; the first live length where one is live."""
    found = 0
    for part in parts:
        if not is_known(part.length):
            return part.length
        found += part.length
    return found


def known_total(parts: tuple[Part, ...]) -> Optional[int]:
    """Bytes of parts together; None where one is live."""
    return known_number(total(parts))
