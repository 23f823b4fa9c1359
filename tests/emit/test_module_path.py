"""Where modules lie, and what makes one stale."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from mkeyspec.emit.header import Header, digest_of_files, read_header, with_header
from mkeyspec.emit.module_path import module_name, source_name


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("cases/signature/crc.mks", "cases/signature/test_crc.py"),
        ("crc.mks", "test_crc.py"),
        ("cases/two words.mks", "cases/test_two_words_{}.py"),
        ("class/a.mks", "class_{}/test_a.py"),
    ],
)
def test_a_module_is_where_its_source_is(source: str, module: str) -> None:
    part = "two words" if "two" in source else "class"
    assert str(module_name(source)) == module.format(hashlib.sha256(part.encode()).hexdigest()[:8])


def test_no_two_sources_have_one_module() -> None:
    plain = ["a.mks", "b/a.mks", "b_a.mks", "a b.mks", "a_b.mks", "a-b.mks", "a.b.mks", "A.mks", "é.mks", "x/../a.mks"]
    sources = [*plain, "/elsewhere/a.mks", "/other/a.mks", "a" * 200 + ".mks", "a" * 201 + ".mks"]
    sources += [str(module_name("a b.mks").with_suffix(".mks")).removeprefix("test_")]
    assert len({module_name(source) for source in sources}) == len(sources)
    for source in sources:
        assert all(part.removesuffix(".py").isidentifier() for part in module_name(source).parts)


def test_a_source_is_named_from_the_project(tmp_path: Path) -> None:
    assert source_name(tmp_path / "cases" / "a.mks", tmp_path) == "cases/a.mks"
    assert source_name(Path("/elsewhere/a.mks"), tmp_path) == "/elsewhere/a.mks"
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert source_name(tmp_path / "real" / "a.mks", tmp_path / "link") == "a.mks"


def test_a_header_is_read_back() -> None:
    header = Header("cases/a\nb.mks", ("cases/'c'.mks",), "1" * 64, "2" * 64, "0.1.0", ("a\nb.mks:1:1: warning[…]: …",))
    module = with_header(header, "x = 1\n")
    assert read_header(module) == header
    assert len(module.split("\n")) == 9


@pytest.mark.parametrize(
    ("old", "new"), [("x = 1", "x = 2"), ("# inputs", "# imputs"), ("# source   '", "# source   x'")]
)
def test_an_edited_module_is_nobodys(old: str, new: str) -> None:
    module = with_header(Header("a.mks", (), "1" * 64, "2" * 64, "0.1.0"), "x = 1\n")
    assert read_header(module) is not None
    assert read_header(module.replace(old, new)) is None


def test_names_and_contents_do_not_run_together() -> None:
    assert digest_of_files([("ab", b"c")]) != digest_of_files([("a", b"bc")])
    assert digest_of_files([("a", b""), ("b", b"")]) != digest_of_files([("a", b"b")])
