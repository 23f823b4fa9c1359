"""Paths of mkeyspec's own data files: grammar, templates, requirements, explanations.

A checkout keeps `grammar/` and `requirements/` at its top, where people look for them; a wheel
has everything inside the package, under `mkeyspec/_data/`. `directory("grammar")` is right in both.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]

_PLACES: dict[str, tuple[Path, ...]] = {
    "cases": (_PACKAGE / "_data" / "cases", _PACKAGE.parent / "cases"),
    "docs": (_PACKAGE / "_data" / "docs", _PACKAGE.parent / "docs"),
    "grammar": (_PACKAGE / "_data" / "grammar", _PACKAGE.parent / "grammar"),
    "requirements": (_PACKAGE / "_data" / "requirements", _PACKAGE.parent / "requirements"),
    "expectations": (_PACKAGE / "_data" / "expectations", _PACKAGE.parent / "expectations"),
    "templates": (_PACKAGE / "emit" / "templates", _PACKAGE / "_data" / "templates"),
    "explanations": (_PACKAGE / "explanations", _PACKAGE / "_data" / "explanations"),
    "mistakes": (_PACKAGE / "mistakes", _PACKAGE / "_data" / "mistakes"),
    "personalities": (_PACKAGE / "personalities", _PACKAGE / "_data" / "personalities"),
}


@cache
def directory(kind: str) -> Path:
    """The directory of `kind`: cases, docs, grammar, requirements, expectations, templates, explanations, mistakes or
    personalities.

    Raises KeyError for another kind, FileNotFoundError where the installation is incomplete.
    """
    places = _PLACES[kind]
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"mkeyspec is not installed completely: no {kind} directory at {places[0]}")


def text(kind: str, name: str) -> str:
    """The text of the file `name` of `kind`: `text("grammar", "mks.lark")`."""
    return (directory(kind) / name).read_text(encoding="utf-8")
