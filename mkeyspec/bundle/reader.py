"""Reads a bundle, and checks the whole file before anything is judged. Its content is not trusted."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from mkeyspec.bundle.entries import WrongRow, check_row
from mkeyspec.bundle.lines import Lines, TooLarge, Unpackable
from mkeyspec.bundle.merge import parts_in
from mkeyspec.bundle.part import SCHEMA
from mkeyspec.device.protocol import Capabilities, Info
from mkeyspec.files.installed import PREFIX


class Unusable(Exception):
    """A bundle that can't be used; `str()` is one line with a code and the fix."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"error[{code}]: {text}")
        self.code = code


class Wrong(Exception):
    """A line that is not what the schema says; `str()` says what is wrong."""


@dataclass(slots=True)
class Source:
    """A file that rows were compiled from."""

    sha256: str
    text: str


@dataclass(slots=True)
class Bundle:
    """A bundle that was read. The rows and the bytes are in a temporary file that has no name."""

    path: Path
    head: dict[str, Any] = field(default_factory=dict)
    """The first line: `device`, `device_kind`, and `run`, as the first line of the stream of results says it."""
    about: dict[str, Any] = field(default_factory=dict)
    """What the device said of itself."""
    sources: dict[str, Source] = field(default_factory=dict)
    """By their paths in the project."""
    cut: bool = False
    """The file ends before its last line, or a process did not end by itself."""
    not_closed: str = ""
    """Of a session that ended with a device that could not be closed: the text of that failure."""
    sha256: str = ""
    """Of the file."""
    _rows: dict[str, tuple[int, int]] = field(default_factory=dict)
    _blobs: dict[str, tuple[int, int]] = field(default_factory=dict)
    _store: BinaryIO = field(default_factory=tempfile.TemporaryFile)

    @property
    def ids(self) -> dict[str, object]:
        """The ids of the rows, in order."""
        return dict.fromkeys(self._rows)

    @property
    def device(self) -> str:
        """As `--device` named it."""
        return str(self.head["device"])

    @property
    def kind(self) -> str:
        return str(self.head["device_kind"])

    @property
    def run(self) -> dict[str, Any]:
        return dict(self.head["run"])

    def info(self) -> Info:
        about = self.about
        return Info(about.get("device", self.device), about.get("firmware", ""), dict(about.get("versions", {})))

    def capabilities(self) -> Capabilities:
        return Capabilities(frozenset(self.about.get("offers", ())), dict(self.about.get("values", {})))

    def row(self, id: str) -> dict[str, Any] | None:
        """What was kept of a row; None of one that is not in the bundle."""
        place = self._rows.get(id)
        if place is None:
            return None
        found: dict[str, Any] = json.loads(self._at(*place))
        return found

    def blob(self, digest: str) -> bytes:
        return self._at(*self._blobs[digest])

    def _at(self, begin: int, length: int) -> bytes:
        self._store.flush()
        return os.pread(self._store.fileno(), length, begin)  # a forked process shares the place in the file

    def _keep(self, data: bytes) -> tuple[int, int]:
        begin = self._store.seek(0, 2)
        self._store.write(data)
        return begin, len(data)

    # Reading ---------------------------------------------------------------------------------

    def take(self, line: dict[str, Any], raw: bytes) -> None:
        """One line. Raises Wrong."""
        kind = line["kind"]
        if kind == "row":
            self._take_row(line, raw)
        elif kind == "blob":
            self._take_blob(line)
        elif kind == "source":
            self._take_source(line)
        elif kind == "device":
            self._take_device(line)
        elif kind == "not_closed":
            if type(line.get("text")) is not str or not line["text"]:
                raise Wrong("that the device could not be closed is not said in words")
            self.not_closed = self.not_closed or line["text"]

    def _take_row(self, line: dict[str, Any], raw: bytes) -> None:
        try:
            check_row(line, lambda digest: self._blobs[digest][1], self.blob)
        except WrongRow as error:
            raise Wrong(f"a row is not what the schema says: {error}") from None
        self._rows.pop(line["id"], None)  # of a row that was run again the last one counts
        self._rows[line["id"]] = self._keep(raw)

    def _take_blob(self, line: dict[str, Any]) -> None:
        digest, data = line.get("sha256"), line.get("data")
        if type(digest) is not str or type(data) is not str:
            raise Wrong("bytes are not what the schema says")
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            raise Wrong("bytes are not what the schema says") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise Wrong(f"the checksum of the bytes {digest[:12]} does not fit")
        if digest not in self._blobs:
            self._blobs[digest] = self._keep(content)

    def _take_source(self, line: dict[str, Any]) -> None:
        path, text, digest = line.get("path"), line.get("text"), line.get("sha256")
        if type(path) is not str or type(text) is not str or type(digest) is not str:
            raise Wrong("a source is not what the schema says")
        if not _is_inside(path):
            raise Wrong(f"the source {ascii(path)[:100]} would be outside of the folder that it is written to")
        if hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest() != digest:
            raise Wrong(f"the checksum of the source {ascii(path)[:100]} does not fit")
        before = self.sources.get(path)
        if before is not None and before.sha256 != digest:
            raise Wrong(f"two sources are called {ascii(path)[:100]}, and differ")
        self.sources[path] = Source(digest, text)

    def _take_device(self, line: dict[str, Any]) -> None:
        about: dict[str, Any] = {
            name: line[name] for name in ("device", "firmware", "pci", "versions", "offers", "values") if name in line
        }
        versions, values, offers = about.get("versions", {}), about.get("values", {}), about.get("offers", [])
        right = (
            all(type(about.get(name, "")) is str for name in ("device", "firmware", "pci"))
            and isinstance(versions, dict)
            and all(type(one) is str for one in versions.values())
            and isinstance(values, dict)
            and all(type(one) is int for one in values.values())
            and isinstance(offers, list)
            and all(type(one) is str for one in offers)
        )
        if not right:
            raise Wrong("what the device says of itself is not what the schema says")
        if self.about and self.about != about:
            raise Wrong("it has rows of two devices; judge the parts of each one apart")
        self.about = about


def read(path: Path) -> Bundle:
    """The bundle in a file, or in the folder that a killed run left. Raises Unusable."""
    bundle = Bundle(path)
    try:
        files = parts_in(path) if path.is_dir() else [path]
        if not files:
            raise Unusable("MKS0950", f"{path} is a folder without a part of a bundle")
        whole = False
        total = hashlib.sha256()
        for file in files:
            with file.open("rb") as stream:
                whole = _fill(bundle, file, stream) or whole
                stream.seek(0)
                while data := stream.read(1 << 20):
                    total.update(data)
        bundle.sha256 = total.hexdigest()
        bundle.cut = bundle.cut or not whole
        if bundle.cut and not bundle.ids:
            raise Unusable("MKS0953", f"{path}: the bundle is cut before the end of its first row")
    except FileNotFoundError:
        raise Unusable("MKS0903", f"no such file: {path}") from None
    except OSError as error:
        raise Unusable("MKS0950", f"{path}: can't read the bundle: {error.strerror}") from None
    return bundle


@cache
def opened(path: Path) -> Bundle:
    """As `read`, once in a process; `path` is absolute."""
    return read(Path(os.path.relpath(path)))


def _fill(bundle: Bundle, path: Path, stream: BinaryIO) -> bool:
    """Take the lines of a file; whether its last line is there."""
    lines = Lines(stream)
    number, parts, ends, rows, whole = 0, 0, 0, 0, False
    try:
        for number, raw in enumerate(lines, 1):
            line = _parsed(raw)
            if number == 1 or line["kind"] == "bundle":
                head = _head(path, line, number)
                bundle.head = bundle.head or head
                if head["device"] != bundle.head["device"]:
                    raise Wrong("it has rows of two devices; judge the parts of each one apart")
                parts, rows = parts + 1, 0
            whole = line["kind"] == "whole"
            rows += line["kind"] == "row"
            if line["kind"] == "end":
                ends += 1
                if line.get("rows") != rows:
                    raise Wrong(f"it ends a part of {line.get('rows')} rows, and {rows} are there")
            bundle.take(line, raw)
    except Wrong as error:
        raise Unusable("MKS0950", f"{path}:{number}: {error}") from None
    except Unpackable:
        stream.seek(0)
        if stream.read(2) != b"\x1f\x8b":
            raise _not_ours(path) from None
        text = f"{path}: it was changed after line {number}: what is packed does not fit its checksum"
        raise Unusable("MKS0950", text) from None
    except TooLarge as error:
        raise Unusable("MKS0952", f"{path}: {error}") from None
    if number == 0 and not lines.cut:
        raise _not_ours(path)
    # A process that was killed has no end: its last row is lost, and rows after it may be.
    bundle.cut = bundle.cut or lines.cut or ends < parts
    return whole


def _not_ours(path: Path) -> Unusable:
    return Unusable("MKS0950", f"{path}: it is not a bundle, as `mkeyspec run --bundle FILE` writes it")


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        raise Wrong("it is not JSON") from None
    if not isinstance(line, dict) or type(line.get("kind")) is not str:
        raise Wrong("it is not an object with a `kind`")
    return line


def _head(path: Path, line: dict[str, Any], number: int) -> dict[str, Any]:
    if line["kind"] != "bundle" or type(line.get("schema")) is not int:
        raise _not_ours(path)
    if line["schema"] > SCHEMA:
        text = f"{path}: the bundle has version {line['schema']} of the schema, and this mkeyspec reads {SCHEMA}"
        raise Unusable("MKS0951", f"{text}; judge it with the mkeyspec that wrote it, or a later one")
    words = all(type(line.get(name)) is str for name in ("device", "device_kind"))
    if line["schema"] < 1 or not words or not isinstance(line.get("run"), dict):
        raise Wrong("its first line is not what the schema says")
    return line


def _is_inside(path: str) -> bool:
    """Whether a path stays in the folder that it is taken from; that of a library, in the folder of its packages."""
    path = path.removeprefix(PREFIX)
    parts = PurePosixPath(path).parts
    plain = path.isprintable() and "\\" not in path and ":" not in path and len(path) < _LONGEST_PATH
    return plain and bool(parts) and not path.startswith("/") and ".." not in parts and path == "/".join(parts)


_LONGEST_PATH = 1000
