"""Bytes that were read, kept as a zstd frame. Its dictionary is what the host wrote in the row before: most bytes that
a device moves are copies of these, and the bundle does not hold them. Who unpacks a frame must have written the same.
"""

from __future__ import annotations

import zstandard

MOST = 1 << 26
"""Bytes of a dictionary: the first ones that the host wrote."""
_LEVEL = 4
_MOST_WINDOW = 27
"""Log of the largest window that every zstd unpacks."""


class WrongFrame(Exception):
    """Not a zstd frame, or one that has another length or was packed with another dictionary; `str()` says which."""


class Written:
    """What the host wrote in a row so far."""

    def __init__(self) -> None:
        self.count = 0
        """How many writes."""
        self._parts: list[bytes] = []
        self._length = 0
        self._dictionary: zstandard.ZstdCompressionDict | None = None

    def add(self, data: bytes) -> None:
        self.count += 1
        part = data[: MOST - self._length]
        if part:
            self._parts.append(part)
            self._length += len(part)
            self._dictionary = None

    def pack(self, data: bytes) -> bytes:
        """The frame of these bytes, with its length and a checksum."""
        window = min(_MOST_WINDOW, max(10, (len(data) + self._length).bit_length()))
        parameters = zstandard.ZstdCompressionParameters.from_level(
            _LEVEL, source_size=len(data), dict_size=self._length, window_log=window,
            write_checksum=True, write_content_size=True,
        )  # fmt: skip
        return zstandard.ZstdCompressor(compression_params=parameters, dict_data=self._known()).compress(data)

    def unpack(self, frame: bytes, length: int) -> bytes:
        """The bytes of a frame that has `length` of them. Raises WrongFrame."""
        if length_of(frame) != length:
            raise WrongFrame("it does not have as many bytes as it says")
        try:
            return zstandard.ZstdDecompressor(dict_data=self._known()).decompress(frame)
        except zstandard.ZstdError:
            raise WrongFrame("they were packed with other bytes of the host, or were changed") from None

    def _known(self) -> zstandard.ZstdCompressionDict | None:
        if self._parts and self._dictionary is None:
            self._parts = [b"".join(self._parts)]
            self._dictionary = zstandard.ZstdCompressionDict(self._parts[0], zstandard.DICT_TYPE_RAWCONTENT)
        return self._dictionary


def length_of(frame: bytes) -> int:
    """How many bytes a frame has. Raises WrongFrame."""
    try:
        return zstandard.frame_content_size(frame)
    except zstandard.ZstdError:
        raise WrongFrame("they are no zstd frame") from None
