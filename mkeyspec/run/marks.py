"""Annotations of the tests in a generated module: `suite`, `case`, `rows` and `row`.

They only annotate. `case` leaves a `CaseMark` on the test function, where the fixtures of
`mkeyspec.plugin` find it, and the marks and keywords that a pytest user selects by; `rows` is
`pytest.mark.parametrize` with the case's own ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from mkeyspec.plan import At, Need

Function = TypeVar("Function", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class SuiteMark:
    """The `.mks` source file of a module: its path, its title, and the sha256 of everything it was compiled from."""

    source: str
    title: str
    digest: str


@dataclass(frozen=True, slots=True)
class CaseMark:
    """The properties of a case, without its steps."""

    suite: SuiteMark
    at: At
    name: str
    title: str = ""
    verifies: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    isolated: bool = False
    tags: tuple[str, ...] = ()
    level: str = "mandatory"

    @property
    def place(self) -> str:
        """`cases/crc.mks:12`."""
        return f"{self.suite.source}:{self.at.line}"


class Row:
    """The values in which one expansion of a case differs from the others, as attributes."""

    __slots__ = ("__dict__", "_id", "_needs")

    def __init__(self, id: str, needs: tuple[Need, ...], columns: dict[str, Any]) -> None:
        self._id = id
        self._needs = needs
        self.__dict__ = columns

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"row {self._id!r} has no column {name!r}")

    def __repr__(self) -> str:
        return f"row({self._id!r}, …)"


def row(id: str, needs: tuple[Need, ...] = (), /, **columns: Any) -> Row:
    """One expansion; `needs` are those that not every row of the case has."""
    return Row(id, needs, columns)


def rows(*all: Row) -> pytest.MarkDecorator:
    """The expansions of a case, in order."""
    return pytest.mark.parametrize("row", all, ids=[one._id for one in all])


def row_needs(row: Row | None) -> tuple[Need, ...]:
    return () if row is None else row._needs


def suite(source: str, *, title: str = "", digest: str = "") -> SuiteMark:
    return SuiteMark(source, title, digest)


def case(
    suite: SuiteMark,
    at: At,
    name: str,
    *,
    title: str = "",
    verifies: tuple[str, ...] = (),
    needs: tuple[Need, ...] = (),
    isolated: bool = False,
    negative: bool = False,
    tags: tuple[str, ...] = (),
    level: str = "mandatory",
) -> Callable[[Function], Function]:
    """Mark a test function as the case `name`.

    pytest selects by `-m positive` and `-m negative` (a case that claims a rejection or an error),
    by `-m isolated`, and by `-k CRC-02`: pytest matches `-k` against names set on the function, which
    costs nothing per item, so each requirement id is set there. `requirement` marks carry the ids too.
    """
    mark = CaseMark(suite, at, name, title, verifies, needs, isolated, tags, level)

    def annotate(function: Function) -> Function:
        names = function.__dict__
        names["mkeyspec_case"] = mark
        for identifier in verifies:
            names[identifier] = True
        if verifies:
            pytest.mark.requirement(*verifies)(function)
        (pytest.mark.negative if negative else pytest.mark.positive)(function)
        if isolated:
            pytest.mark.isolated(function)
        return function

    return annotate


def row_count(function: object) -> int:
    """How many rows a case has."""
    marks = getattr(function, "pytestmark", ())
    return next((len(mark.args[1]) for mark in marks if mark.name == "parametrize"), 1)


def case_of(function: object) -> CaseMark | None:
    """The mark that `case` left on a test function, or None."""
    mark = getattr(function, "mkeyspec_case", None)
    return mark if isinstance(mark, CaseMark) else None
