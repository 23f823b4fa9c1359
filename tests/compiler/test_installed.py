"""Libraries that are installed as Python packages: `use "pkg:vendor_suite/common.mks"`."""

from __future__ import annotations

import sys
import zipfile
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import NoReturn

import pytest

from mkeyspec.files import installed
from mkeyspec.files.installed import RECORDED, file_of
from tests.compiler.test_loader import CASE, lets, loaded, write

FAILS = "raise RuntimeError('a package was imported')\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages; importing any of them fails."""
    place = tmp_path / "site"
    write(
        place,
        vendor_suite__common='mks 1\nuse "inner/sizes.mks"\nlet common = size\n',
        vendor_suite__inner__sizes='mks 1\nuse "../base.mks"\nlet size = base\n',
        vendor_suite__base="mks 1\nlet base = 1\n",
        vendor_suite__other='mks 1\nuse "pkg:second_suite/x.mks"\nlet other = second\n',
        vendor_suite__out='mks 1\nuse "../second_suite/x.mks"\nlet o = second\n',
        vendor_suite__ring='mks 1\nuse "pkg:second_suite/ring.mks"\nlet a = 1\n',
        second_suite__ring='mks 1\nuse "pkg:vendor_suite/ring.mks"\nlet b = 1\n',
        second_suite__x="mks 1\nlet second = 2\n",
        of_two__x="mks 1\nlet x = 1\n",
    )
    for name in ("vendor_suite", "second_suite", "no_files"):
        (place / name).mkdir(exist_ok=True)
        (place / name / "__init__.py").write_text(FAILS)
    (place / "vendor_suite/link.mks").symlink_to("base.mks")
    (place / "vendor_suite/away.mks").symlink_to("../second_suite/x.mks")
    (place / "vendor_suite/folder.mks").mkdir()
    (place / "a_module.py").write_text(FAILS)
    with zipfile.ZipFile(place / "packed.zip", "w") as packed:
        packed.writestr("zipped_suite/__init__.py", FAILS)
        packed.writestr("zipped_suite/common.mks", "mks 1\nlet a = 1\n")
    monkeypatch.syspath_prepend(place / "packed.zip")
    monkeypatch.syspath_prepend(place)
    return place


def using(tmp_path: Path, name: str) -> Path:
    path = tmp_path / "suite/cases/a.mks"
    write(path.parent, a=f'mks 1\nuse "{name}"\n' + CASE)
    return path


@pytest.mark.parametrize(
    ("name", "found", "read"),
    [
        ("pkg:vendor_suite/base.mks", ["base"], ["base"]),
        ("pkg:vendor_suite/common.mks", ["base", "size", "common"], ["common", "inner/sizes", "base"]),
        ("pkg:vendor_suite/./inner/../base.mks", ["base"], ["base"]),
        ("pkg:vendor_suite/link.mks", ["base"], ["base"]),
    ],
)
@pytest.mark.usefixtures("site")
def test_a_library_of_a_package(tmp_path: Path, name: str, found: list[str], read: list[str]) -> None:
    result, codes, text = loaded(using(tmp_path, name), tmp_path / "suite")
    assert not codes, text
    assert lets(result) == found
    assert result is not None
    assert [one.name for one in result.inputs[1:]] == [f"pkg:vendor_suite/{one}.mks" for one in read]


@pytest.mark.usefixtures("site")
def test_a_library_of_one_package_uses_that_of_another(tmp_path: Path) -> None:
    result, codes, text = loaded(using(tmp_path, "pkg:vendor_suite/other.mks"))
    assert not codes, text
    assert lets(result) == ["second", "other"]


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("pkg:", "MKS0812", "write `\"pkg:PACKAGE/FILE.mks\"`"),
        ("pkg:x.mks", "MKS0812", "`pkg:x.mks` names no file of a package"),
        ("pkg:/x.mks", "MKS0812", "there is no package after `pkg:`"),
        ("pkg://vendor_suite/x.mks", "MKS0812", "there is no package after `pkg:`"),
        ("pkg:vendor_suite", "MKS0812", "write `\"pkg:PACKAGE/FILE.mks\"`"),
        ("pkg:vendor_suite/", "MKS0812", "write `\"pkg:PACKAGE/FILE.mks\"`"),
        ("pkg:vendor_suite/common", "MKS0812", "write `\"pkg:PACKAGE/FILE.mks\"`"),
        ("pkg:vendor_suite\\\\common.mks", "MKS0812", "is not the name of a package's file"),
        ("pkg:vendor-suite/common.mks", "MKS0812", 'write `"pkg:vendor_suite/common.mks"`'),
        ("pkg: vendor_suite/common.mks", "MKS0812", 'write `"pkg:vendor_suite/common.mks"`'),
        ("pkg:vendor_suite.inner/sizes.mks", "MKS0812", 'write `"pkg:vendor_suite/inner/sizes.mks"`'),
        ("pkg:größe/common.mks", "MKS0812", "`größe` is not the name of a package"),
        ("pkg:𝓋endor_suite/common.mks", "MKS0812", "is not the name of a package"),
        ("pkg:../vendor_suite/common.mks", "MKS0812", "`..` is not the name of a package"),
        ("pkg:pkg:vendor_suite/common.mks", "MKS0812", "is not the name of a package"),
        ("pkg:vendor_suite/../b.mks", "MKS0808", "does not leave the package `vendor_suite`"),
        ("pkg:vendor_suite/inner/../../b.mks", "MKS0808", "does not leave the package `vendor_suite`"),
        ("pkg:vendor_suite//base.mks", "MKS0808", "does not leave the package `vendor_suite`"),
        ("pkg:vendor_suite//etc/../../b.mks", "MKS0808", "does not leave the package `vendor_suite`"),
        ("pkg:vendor_suite/away.mks", "MKS0808", "is a link out of the package `vendor_suite`"),
        ("pkg:vendor_suite/out.mks", "MKS0808", "its own package, or `pkg:` again"),
        ("pkg:vendor_suite/nowhere_at_all.mks", "MKS0807", "it would be pkg:vendor_suite/nowhere_at_all.mks"),
        ("pkg:vendor_suite/commn.mks", "MKS0807", 'did you mean `"pkg:vendor_suite/common.mks"`?'),
        ("pkg:vendor_suite/inner/size.mks", "MKS0807", 'did you mean `"pkg:vendor_suite/inner/sizes.mks"`?'),
        ("pkg:vendor_suite/Common.mks", "MKS0807", "there is `common.mks`"),
        ("pkg:vendor_suite/größe.mks", "MKS0807", "there is no file"),
        ("pkg:vendor_suite/folder.mks", "MKS0807", "there is no file"),
        ("pkg:vendor_suite/" + "x" * 300 + ".mks", "MKS0807", "there is no file"),
        ("pkg:no_files/x.mks", "MKS0807", "does its wheel include them?"),
        ("PKG:vendor_suite/common.mks", "MKS0807", "begins with `pkg:`"),
        ("./pkg:vendor_suite/common.mks", "MKS0807", "there is no file"),
        ("pkg:mkeyspec/no_such_folder/x.mks", "MKS0807", "it would be pkg:mkeyspec/no_such_folder/x.mks"),
        ("pkg:nobody_has_this/x.mks", "MKS0813", "install it with pip"),
        ("pkg:vendor_siute/x.mks", "MKS0813", "did you mean `vendor_suite`?"),
        ("pkg:Vendor_suite/x.mks", "MKS0813", "did you mean `vendor_suite`?"),
        ("pkg:os/x.mks", "MKS0814", "a module without a folder"),
        ("pkg:sys/x.mks", "MKS0814", "a module without a folder"),
        ("pkg:a_module/x.mks", "MKS0814", "a module without a folder"),
        ("pkg:of_two/x.mks", "MKS0814", "add an empty `__init__.py`"),
        ("pkg:zipped_suite/common.mks", "MKS0814", "packed.zip holds it"),
        ("pkg:json/x.mks", "MKS0807", "does its wheel include them?"),
        ("pkg:__main__/x.mks", "MKS0813", "install it with pip"),
        ("pkg:vendor_suite/ring.mks", "MKS0809",
         "pkg:vendor_suite/ring.mks -> pkg:second_suite/ring.mks -> pkg:vendor_suite/ring.mks"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("site")
def test_names_that_mean_no_library(tmp_path: Path, name: str, code: str, says: str) -> None:
    _, codes, text = loaded(using(tmp_path, name))
    assert codes == [code], text
    assert says in text


@pytest.mark.usefixtures("site")
def test_a_finder_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Editable installations bring finders of their own."""

    class Broken:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
            def fail() -> NoReturn:
                raise OSError("its folder is gone")

            return fail() if name == "vendor_suite" else None

    monkeypatch.setattr(sys, "meta_path", [Broken, *sys.meta_path])
    _, codes, text = loaded(using(tmp_path, "pkg:vendor_suite/common.mks"))
    assert codes == ["MKS0814"]
    assert "the package `vendor_suite` can't be found: OSError: its folder is gone" in text


def test_a_package_that_is_gone_since_it_was_found(site: Path, tmp_path: Path) -> None:
    path = using(tmp_path, "pkg:second_suite/x.mks")
    assert not loaded(path)[1]
    for file in (*(site / "second_suite").glob("*.*"),):
        file.unlink()
    (site / "second_suite").rmdir()
    assert loaded(path)[1] == ["MKS0813"]


def test_mistakes_in_a_library_are_named_by_its_package(site: Path, tmp_path: Path) -> None:
    write(site, vendor_suite__common="mks 1\nlet common =\n")
    _, codes, text = loaded(using(tmp_path, "pkg:vendor_suite/common.mks"))
    assert codes == ["MKS0100"]
    assert "--> pkg:vendor_suite/common.mks:2:13" in text


def test_a_package_of_the_suite_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its path and by its package it is one file; by its path it may use more of the suite."""
    home = tmp_path / "suite"
    write(
        home,
        shared="mks 1\nlet shared = 1\n",
        vendor_suite__common='mks 1\nuse "../shared.mks"\nlet common = shared\n',
        vendor_suite__alone="mks 1\nlet alone = 1\n",
        near='mks 1\nuse "vendor_suite/alone.mks"\nuse "pkg:vendor_suite/alone.mks"\n' + CASE,
        both='mks 1\nuse "vendor_suite/common.mks"\nuse "pkg:vendor_suite/common.mks"\n' + CASE,
    )
    (home / "vendor_suite/__init__.py").write_text(FAILS)
    monkeypatch.syspath_prepend(home)
    result, codes, _ = loaded(home / "near.mks", home)
    assert not codes
    assert lets(result) == ["alone"]
    assert loaded(home / "both.mks", home)[1] == ["MKS0808"]


def test_what_a_bundle_kept_comes_first(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / RECORDED, vendor_suite__base="mks 1\nlet recorded = 1\n")
    assert file_of("pkg:vendor_suite/base.mks") == (site / "vendor_suite/base.mks", site / "vendor_suite")
    monkeypatch.syspath_prepend(tmp_path / RECORDED)
    assert lets(loaded(using(tmp_path, "pkg:vendor_suite/base.mks"))[0]) == ["recorded"]


@pytest.mark.usefixtures("site")
def test_no_package_is_imported(tmp_path: Path) -> None:
    loaded(using(tmp_path, "pkg:vendor_suite/common.mks"))
    assert not {"vendor_suite", "second_suite", "a_module"} & sys.modules.keys()
    assert installed.file_of("pkg:vendor_suite/no.mks") is None
    assert installed.file_of("pkg:vendor_suite/away.mks") is None
    assert installed.file_of("pkg:") is None
