"""The machine's pyverbs in an environment that does not see it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from mkeyspec.device.verbs import pyverbs_location


def _loaded() -> list[str]:
    return [name for name in sys.modules if name.split(".")[0] == "pyverbs"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The machine's pyverbs, built for no Python yet; this process has loaded none."""
    package = tmp_path / "dist" / "pyverbs"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "pd.py").write_text("answer = 42\n")
    monkeypatch.setattr(pyverbs_location, "PLACES", (f"{tmp_path}/dist",))
    kept = {name: sys.modules.pop(name) for name in _loaded()}
    yield package
    for name in _loaded():
        del sys.modules[name]
    sys.modules.update(kept)


@pytest.fixture
def none_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


@pytest.mark.usefixtures("none_of_its_own")
def test_it_is_adopted_if_it_was_built_for_this_python(place: Path) -> None:
    (place / f"device{EXTENSION_SUFFIXES[0]}").write_bytes(b"")
    pyverbs_location.adopt()
    assert list(sys.modules["pyverbs"].__path__) == [str(place)]
    assert pyverbs_location.adopted()
    assert importlib.import_module("pyverbs.pd").answer == 42


@pytest.mark.usefixtures("none_of_its_own")
def test_it_is_left_alone_if_it_was_built_for_another(place: Path) -> None:
    (place / "device.cpython-399-x86_64-linux-gnu.so").write_bytes(b"")
    pyverbs_location.adopt()
    assert "pyverbs" not in sys.modules
    assert not pyverbs_location.adopted()


def test_an_environments_own_comes_first(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / f"device{EXTENSION_SUFFIXES[0]}").write_bytes(b"")
    own = tmp_path / "own" / "pyverbs"
    own.mkdir(parents=True)
    (own / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(own.parent))
    pyverbs_location.adopt()
    assert "pyverbs" not in sys.modules
    assert list(importlib.import_module("pyverbs").__path__) == [str(own)]
    assert not pyverbs_location.adopted()
