"""An archive whose bytes depend on what is in it alone: files in their order, without times and owners."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping

_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file can say."""
SUFFIXES = (".tar.gz", ".tgz", ".zip")


def packed(name: str, files: Mapping[str, bytes], folder: str) -> bytes:
    """`files` in a folder of this name, as the suffix of `name` says: a zip file, or else a gzipped tar file."""
    if name.endswith(".zip"):
        return _zip(files, folder)
    return _tar(files, folder)


def _tar(files: Mapping[str, bytes], folder: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in files.items():
            about = tarfile.TarInfo(f"{folder}/{path}")
            about.size, about.mode = len(data), 0o644
            archive.addfile(about, io.BytesIO(data))
    return gzip.compress(out.getvalue(), mtime=0)


def _zip(files: Mapping[str, bytes], folder: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            about = zipfile.ZipInfo(f"{folder}/{path}", _EARLIEST)
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(about, data)
    return out.getvalue()
