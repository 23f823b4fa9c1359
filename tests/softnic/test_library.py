"""Where the library of the software NIC is found, and what is said where it is not."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from mkeyspec.device.soft import softnic

C = '__attribute__((visibility("default"))) int softnic_says(void) { return 42; }\n'
needs_compiler = pytest.mark.skipif(softnic.compiler() is None, reason="no C compiler")


def _tree(directory: Path, text: str = C) -> Path:
    for room in softnic.FOLDERS:
        (directory / room).mkdir(parents=True, exist_ok=True)
        (directory / room / "one.c").write_text("int softnic_" + room + "(void) { return 0; }\n")
    (directory / "shim" / "says.c").write_text(text)
    return directory


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No checkout, no packaged library, an empty cache."""
    monkeypatch.delenv("MKEYSPEC_SOFTNIC_LIBRARY", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(softnic, "_CHECKOUT", tmp_path / "checkout" / "softnic")
    monkeypatch.setattr(softnic, "_PACKAGED", tmp_path / "package" / "softnic")
    return tmp_path


def test_nothing_there(away: Path) -> None:
    assert softnic.library() is None
    assert "without its C sources" in (softnic.missing() or "")


def test_packaged_library(away: Path) -> None:
    packaged = _tree(away / "package" / "softnic")
    (packaged / softnic.NAME).write_bytes(b"")
    assert softnic.library() == packaged / softnic.NAME
    assert softnic.missing() is None


def test_packaged_sources_without_a_compiler(away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tree(away / "package" / "softnic")
    monkeypatch.setenv("PATH", str(away))
    monkeypatch.delenv("CC", raising=False)
    assert softnic.library() is None
    assert "no C compiler" in (softnic.missing() or "")


@needs_compiler
def test_built_once_into_the_cache(away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = _tree(away / "package" / "softnic")
    built = softnic.library()
    assert built is not None
    assert built.is_relative_to(away / "cache" / "mkeyspec")
    assert ctypes.CDLL(str(built)).softnic_says() == 42
    before = built.stat().st_mtime_ns
    assert softnic.library() == built
    assert built.stat().st_mtime_ns == before
    # The cache is read where there is no compiler any more.
    with monkeypatch.context() as without:
        without.setenv("PATH", str(away))
        assert softnic.library() == built
    # Other sources, another library.
    _tree(packaged, C.replace("42", "43"))
    other = softnic.library()
    assert other is not None
    assert ctypes.CDLL(str(other)).softnic_says() == 43


@needs_compiler
def test_checkout_is_used_while_it_is_fresh(away: Path) -> None:
    checkout = _tree(away / "checkout" / "softnic")
    (checkout / "Makefile").write_text("")
    built = checkout / "build" / softnic.NAME
    built.parent.mkdir()
    built.write_bytes(b"")
    assert softnic.library() == built
    os.utime(built, (1, 1))
    cached = softnic.library()
    assert cached is not None
    assert cached.is_relative_to(away / "cache")


@needs_compiler
def test_what_the_compiler_says(away: Path) -> None:
    _tree(away / "package" / "softnic", "int broken(void) { return ; }}\n")
    assert softnic.library() is None
    reason = softnic.missing() or ""
    assert "could not be built" in reason
    assert "says.c" in reason
    assert "\n" not in reason
    assert not list((away / "cache").rglob("*.so"))


@needs_compiler
def test_what_make_refuses_is_refused_in_a_checkout(away: Path) -> None:
    """An old library in build/ and a source with a warning: neither that library nor another one is taken."""
    text = C + "static int unused(void) { return 1; }\n"
    checkout = _tree(away / "checkout" / "softnic", text)
    (checkout / "Makefile").write_text("")
    built = checkout / "build" / softnic.NAME
    built.parent.mkdir()
    built.write_bytes(b"")
    os.utime(built, (1, 1))
    assert softnic.library() is None
    reason = softnic.missing() or ""
    assert "could not be built" in reason
    assert "shim/says.c:2:12: error" in reason
    assert "unused" in reason
    assert not list((away / "cache").rglob("*.so"))
    (checkout / "Makefile").unlink()  # installed: the same sources do
    _tree(away / "package" / "softnic", text)
    assert softnic.library() is not None


def test_named_library(away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MKEYSPEC_SOFTNIC_LIBRARY", str(away / "mine.so"))
    assert softnic.library() is None
    assert "mine.so" in (softnic.missing() or "")
    (away / "mine.so").write_bytes(b"")
    assert softnic.library() == away / "mine.so"


@needs_compiler
def test_the_real_one_is_built_without_make(tmp_path: Path) -> None:
    """The wheel's way: by the compiler alone, from the sources of this checkout."""
    command = softnic.compiler()
    assert command is not None
    output = tmp_path / softnic.NAME
    softnic.build(Path(__file__).parents[2] / "softnic", output, command)
    environment = {"LD_PRELOAD": str(output), "TMPDIR": str(tmp_path)}
    true = shutil.which("true")
    assert true
    done = subprocess.run([true], env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [path.name for path in tmp_path.iterdir()] == [softnic.NAME]
