"""What one process of a run writes: one member of gzip, of which each row is in the file before the next one begins.

Each line is a JSON object; docs/design/bundles.md describes them. A process that is killed leaves a member
without its end; the rows before that are whole.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import zlib
from pathlib import Path
from typing import Any

SCHEMA = 2
"""Version of the schema. A reader refuses a higher one."""

SUFFIX = ".part"
GZIP = 31
"""zlib's number of window bits for members of gzip."""
_LEVEL = 3


class Part:
    """The file of one process. After the first error nothing more is written; `error` is that error."""

    def __init__(self, folder: Path, head: dict[str, Any]) -> None:
        """`head`: device, kind of device and run, as the first line says them."""
        self.error: OSError | None = None
        self.pid = os.getpid()
        self.path = folder / f"{self.pid}{SUFFIX}"
        self._file = -1
        self._rows = 0
        self._kept: set[str] = set()
        """Checksums of the bytes that are in this file."""
        self._sources: set[str] = set()
        self._waiting: list[bytes] = []
        self._packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, GZIP)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        except OSError as error:
            self.error = error
        self._put({"kind": "bundle", "schema": SCHEMA, **head})
        self._flush()

    def device(self, about: dict[str, Any]) -> None:
        """What the device says of itself."""
        self._put({"kind": "device", **about})

    def has_source(self, path: str) -> bool:
        return path in self._sources

    def source(self, path: str, text: str) -> None:
        """A file that rows were compiled from, once."""
        self._sources.add(path)
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        self._put({"kind": "source", "path": path, "sha256": digest, "text": text})

    def row(self, row: dict[str, Any]) -> None:
        self._rows += 1
        self._put(row)
        self._flush()

    def blob(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self._kept:
            self._kept.add(digest)
            self._put({"kind": "blob", "sha256": digest, "data": base64.b64encode(data).decode()})
        return digest

    def not_closed(self, text: str) -> None:
        """The device could not be closed at the end of the session: the text of the failure."""
        self._put({"kind": "not_closed", "text": text})

    def close(self) -> None:
        if self._file < 0:
            return
        self._put({"kind": "end", "rows": self._rows})
        self._flush(zlib.Z_FINISH)
        with contextlib.suppress(OSError):
            os.close(self._file)
        self._file = -1

    def _put(self, line: dict[str, Any]) -> None:
        if self.error is None:
            self._waiting.append(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")

    def _flush(self, how: int = zlib.Z_SYNC_FLUSH) -> None:
        data = self._packer.compress(b"".join(self._waiting)) + self._packer.flush(how)
        self._waiting.clear()
        while data and self.error is None:
            try:
                data = data[os.write(self._file, data) :]
            except OSError as error:
                self.error = error


def line_of(line: dict[str, Any]) -> bytes:
    """A line in a member of gzip of its own."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, GZIP)
    return packer.compress(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n") + packer.flush()
