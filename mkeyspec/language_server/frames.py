"""Messages out of a stream of bytes: a header with `Content-Length`, an empty line, and so many bytes.

Whatever comes, it is cut into messages and into garbage, and each byte of garbage is reported once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_HEADER = 4096
MOST_BODY = 64 << 20
"""Bytes of a message that is kept; a longer one is passed over."""

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_END = re.compile(rb"\r?\n\r?\n")
_START = re.compile(rb"content-length[ \t]*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Garbage:
    """What is not a message: why."""

    why: str


class Frames:
    """The cutter: `feed` it what was read."""

    __slots__ = ("_buffer", "_over", "_wanted")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted: int | None = None
        """The length of the body that is being read."""
        self._over = 0
        """Bytes of a body that is too long, which are still to come."""

    def feed(self, data: bytes) -> list[bytes | Garbage]:
        """The bodies of the messages that are complete now, and what was no message."""
        self._buffer += data
        found: list[bytes | Garbage] = []
        while True:
            if self._over:
                taken = min(self._over, len(self._buffer))
                del self._buffer[:taken]
                self._over -= taken
                if self._over:
                    return found
            if self._wanted is not None:
                if len(self._buffer) < self._wanted:
                    return found
                found.append(bytes(self._buffer[: self._wanted]))
                del self._buffer[: self._wanted]
                self._wanted = None
            if not self._header(found):
                return found

    def _header(self, found: list[bytes | Garbage]) -> bool:
        """Take a header from the buffer; False: it is not complete."""
        end = _END.search(self._buffer)
        if end is None or end.start() > MOST_HEADER:
            if len(self._buffer) > MOST_HEADER:
                self._skip(found, "no header of a message")
                return bool(self._buffer) and _END.search(self._buffer) is not None
            return False
        header = bytes(self._buffer[: end.start()])
        lengths = _LENGTH.findall(header)
        if not lengths:
            del self._buffer[: end.end()]
            if header.strip():
                found.append(Garbage("a header without Content-Length"))
            return True
        del self._buffer[: end.end()]
        length = int(lengths[-1])
        if length > MOST_BODY:
            found.append(Garbage(f"a message of {length} bytes is too long"))
            self._over = length
        else:
            self._wanted = length
        return True

    def _skip(self, found: list[bytes | Garbage], why: str) -> None:
        """Go on at the next thing that looks like a header."""
        found.append(Garbage(why))
        start = _START.search(self._buffer, 1)
        if start is not None and start.start() > 0:
            del self._buffer[: start.start()]
        else:
            del self._buffer[: max(len(self._buffer) - 32, 0)]
