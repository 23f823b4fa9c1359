"""The lines of a file of gzip members, within bounds: none is held whole but the longest line."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import BinaryIO

from mkeyspec.bundle.part import GZIP

LONGEST_LINE = 1 << 28
"""Bytes of one line: those of a buffer of 128 MiB, and more."""
MOST_BYTES = 1 << 32
"""Bytes of a bundle when it is unpacked."""
_CHUNK = 1 << 20


class Unpackable(Exception):
    """What is not a gzip, or was changed."""


class TooLarge(Exception):
    """More than the bounds allow; `str()` says which."""


class Lines:
    """Iterates over the lines, each with its newline. `cut` afterwards: the file ends before its last member does."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._most, self._longest = MOST_BYTES, LONGEST_LINE
        self.cut = False

    def __iter__(self) -> Iterator[bytes]:
        rest = bytearray()
        for chunk in self._unpacked():
            begin = len(rest)
            rest += chunk
            if (end := rest.rfind(b"\n", begin)) >= 0:
                whole, rest = bytes(rest[: end + 1]), rest[end + 1 :]
                yield from (line + b"\n" for line in whole[:-1].split(b"\n"))
            if len(rest) > self._longest:
                raise TooLarge(f"a line is longer than {self._longest >> 20} MiB")
        self.cut = self.cut or bool(rest)

    def _unpacked(self) -> Iterator[bytes]:
        total, data = 0, self._stream.read(_CHUNK)
        unpacker = zlib.decompressobj(GZIP)
        begun = False
        while True:
            if not data:
                data = self._stream.read(_CHUNK)
            last = not data
            if last and not begun:
                return
            begun = True
            try:
                found = unpacker.decompress(data, _CHUNK)  # of no more data: what it still holds
            except zlib.error as error:
                raise Unpackable(str(error)) from None
            total += len(found)
            if total > self._most:
                raise TooLarge(f"it has more than {self._most >> 20} MiB when it is unpacked")
            if found:
                yield found
            data = unpacker.unconsumed_tail
            if last and not found and not unpacker.eof:
                self.cut = True
                return
            if unpacker.eof:
                data, unpacker, begun = unpacker.unused_data, zlib.decompressobj(GZIP), False
