"""What editors are told of a file that uses an installed library."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.cli.watch import used_by
from mkeyspec.language_server.document import Document
from mkeyspec.language_server.hover import hover
from mkeyspec.language_server.navigation import definition
from mkeyspec.language_server.rename import Refused, rename
from tests.language_server.marked import document, unmarked

USER = """\
mks 1
use "pkg:vendor_suite/common.mks"

case a
    verifies LAY-05
    memory m = counter(size)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "site/vendor_suite/common.mks"
    file.parent.mkdir(parents=True)
    (file.parent / "__init__.py").write_text("raise RuntimeError\n")
    file.write_text('mks 1\nuse "more.mks"\nlet size = 64 + more\n', "utf-8")
    (file.parent / "more.mks").write_text("mks 1\nlet more = 0\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return file


def marked(tmp_path: Path, where: str, text: str = USER) -> tuple[Document, int]:
    text, offset = unmarked(text.replace(where.replace("‸", ""), where))
    path = tmp_path / "suite/a.mks"
    path.parent.mkdir(exist_ok=True)
    return document(text, path, whole=True), offset


def test_a_name_leads_into_the_library(tmp_path: Path, library: Path) -> None:
    found, offset = marked(tmp_path, "‸size)")
    assert not found.findings()
    [target] = definition(found, offset)
    assert target.path == library
    assert target.text[target.start : target.end] == "size"
    told = hover(found, offset)
    assert told is not None
    assert "let size = 64 + more" in told.text
    assert "`64`" in told.text


def test_the_use_leads_to_the_file(tmp_path: Path, library: Path) -> None:
    found, offset = marked(tmp_path, 'use "‸pkg:')
    assert [one.path for one in definition(found, offset)] == [library]
    told = hover(found, offset)
    assert told is not None
    assert told.text == f"`{library}`\n\ndeclares `size`"


@pytest.mark.parametrize(
    "name", ["pkg:vendor_suite/no.mks", "pkg:nobody_has_this/x.mks", "pkg:", "pkg:os/x.mks", "pkg:/"]
)
@pytest.mark.usefixtures("library")
def test_a_use_that_means_nothing(tmp_path: Path, name: str) -> None:
    found, offset = marked(tmp_path, 'use "‸', USER.replace("pkg:vendor_suite/common.mks", name))
    assert found.findings()[0].code.startswith("MKS08")
    assert definition(found, offset) == []
    assert hover(found, offset) is None


def test_mistakes_in_the_library_are_told_where_it_is_used(tmp_path: Path, library: Path) -> None:
    library.write_text("mks 1\nlet size = countr(4)\n", "utf-8")
    found, _ = marked(tmp_path, 'use "‸pkg:')
    [one] = found.findings()
    assert one.message.startswith("in pkg:vendor_suite/common.mks:2:12: ")
    assert one.start == 0
    assert one.related[0].path == library
    assert one.edits == ()


@pytest.mark.usefixtures("library")
def test_a_name_of_an_installed_library_is_not_renamed(tmp_path: Path) -> None:
    found, offset = marked(tmp_path, "‸size)")
    with pytest.raises(Refused, match=r"pkg:vendor_suite/common\.mks declares it, in an installed package"):
        rename(found, offset, "length")


def test_a_library_is_watched(tmp_path: Path, library: Path) -> None:
    path = tmp_path / "a.mks"
    path.write_text(USER + 'use "pkg:nobody_has_this/x.mks"\nuse "near.mks"\n', "utf-8")
    assert used_by(path) == [library, tmp_path / "near.mks"]
    assert used_by(library) == [library.with_name("more.mks")]
