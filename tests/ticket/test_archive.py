"""The same files give the same archive, whenever and by whomever it is made."""

from __future__ import annotations

import io
import tarfile
import zipfile

import pytest

from mkeyspec.ticket.archive import packed

FILES = {"README.md": b"b", "a/z.txt": b"2", "a/b.txt": b"\xff"}


@pytest.mark.parametrize("name", ["t.tar.gz", "t.tgz", "t.zip"])
def test_files_come_in_their_order_and_without_times(name: str) -> None:
    data = packed(name, FILES, "t")
    assert packed(name, FILES, "t") == data
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = {one.filename: archive.read(one) for one in archive.infolist()}
            assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            members = archive.getmembers()
            found = {one.name: archive.extractfile(one).read() for one in members}  # type: ignore[union-attr]
            assert {(one.mtime, one.uid, one.uname) for one in members} == {(0, 0, "")}
    assert list(found.items()) == [(f"t/{path}", text) for path, text in FILES.items()]
