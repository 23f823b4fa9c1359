"""The bytes of buffers, as the run knew them where a row is in its recording."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from mkeyspec.bundle.entries import Entry
from mkeyspec.bundle.frames import Written

Bytes = npt.NDArray[np.uint8]


class Images:
    """Of one row. `blob`: the bytes with a checksum."""

    def __init__(self, blob: Callable[[str], bytes]) -> None:
        self._blob = blob
        self._images: dict[int, Bytes] = {}
        """By the handle of a buffer."""
        self._written = Written()

    def register(self, handle: int, length: int) -> None:
        """A buffer of zeros."""
        self._images[handle] = np.zeros(length, np.uint8)

    def write(self, handle: int, offset: int, data: Bytes, *, own: bool) -> None:
        """The host has written. `own`: the rig for itself."""
        if not own:
            self._written.add(data.tobytes())
        image = self._images.get(handle)
        if image is not None:
            image[offset : offset + len(data)] = data

    def of(self, handle: int) -> Bytes | None:
        """The whole buffer; None of one that is not known."""
        return self._images.get(handle)

    def apply(self, entry: Entry, image: Bytes | None = None) -> None:
        """What a read of the run saw is so from here on; in `image` alone, if it is given. Raises WrongFrame."""
        gave = entry.get("gave")
        image = self._images.get(entry["args"][0]) if image is None else image
        if gave is None or gave.get("all") or image is None:
            return
        at, length = gave["at"], self._length(entry)
        if at + length <= len(image):
            image[at : at + length] = np.frombuffer(self._bytes(entry), np.uint8)

    def read(self, entry: Entry) -> Bytes | None:
        """What a read gave that was applied. Raises WrongFrame."""
        _, offset, length = entry["args"]
        if entry.get("gave", {}).get("all"):
            whole: Bytes = np.frombuffer(self._bytes(entry), np.uint8).copy()
            return whole
        image = self._images.get(entry["args"][0])
        if image is None:
            return None
        part: Bytes = image[offset : offset + length].copy()
        return part

    def _length(self, entry: Entry) -> int:
        gave = entry["gave"]
        return int(gave["length"]) if "frame" in gave else len(self._blob(gave["sha256"]))

    def _bytes(self, entry: Entry) -> bytes:
        gave = entry["gave"]
        if "frame" in gave:
            return self._written.unpack(self._blob(gave["frame"]), gave["length"])
        return self._blob(gave["sha256"])  # the whole of a read; and every read in version 1 of the schema
