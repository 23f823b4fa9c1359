"""Rows of steps, the cases they are of, and the suite of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Union

from mkeyspec.plan.location import At
from mkeyspec.plan.step import Step
from mkeyspec.value.live import Live


@dataclass(frozen=True, slots=True)
class Comparison:
    """A need in numbers: `device.max_wr_memcpy_length >= 4096`."""

    live: Live
    operator: str
    value: int

    def __str__(self) -> str:
        return f"{self.live.subject}.{self.live.member} {self.operator} {self.value}"


@dataclass(frozen=True, slots=True)
class Lacks:
    """A need of a device without a capability: `needs not memcpy`."""

    name: str

    def __str__(self) -> str:
        return f"not {self.name}"


Need = Union[str, Comparison, Lacks]
"""A name of Capabilities.offers (`signature.crc32c`, `block.4048`, `qp.dci`, `memcpy`, `crypto`…), its absence, or a
comparison."""


def lacked(needs: Iterable[Need]) -> tuple[str, ...]:
    """The capabilities that the device must not have."""
    return tuple(need.name for need in needs if isinstance(need, Lacks))


def offered(needs: Iterable[Need]) -> tuple[str, ...]:
    """The capabilities that it must have."""
    return tuple(need for need in needs if isinstance(need, str))


class Binding(NamedTuple):
    """What a variable of the case means in one row: of a `for`, or of a `let`.

    `value`: as the steps of a plan have it (a number, a string, bytes, a signature), its text where they have no such
    thing. `text` of a `for` variable: as the row's id says it, a label or the value as it is written.
    """

    name: str
    value: object
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One expansion: `id` is `n=1,op=send` ("" without parameters), `bindings` of its `for`s come first."""

    id: str
    steps: tuple[Step, ...]
    needs: tuple[Need, ...] = ()
    bindings: tuple[Binding, ...] = ()


@dataclass(frozen=True, slots=True)
class Covered:
    """The rows of a case with `covering` are so few: every `strength` values that occur together in one of
    `combinations` occur together in a row. `combinations`: those that the case's `where`s leave."""

    strength: int
    combinations: int
    fors: tuple[tuple[str, ...], ...]
    """The names of each `for`, in order."""

    def values_of(self, row: Row) -> tuple[str, ...]:
        """Of each `for`, the values of its names in a row, as the row's id says them."""
        texts = {one.name: one.text for one in row.bindings if one.text is not None}
        return tuple([_called(names, texts) for names in self.fors])


@dataclass(frozen=True, slots=True)
class Case:
    at: At
    name: str
    title: str
    verifies: tuple[str, ...]
    rows: tuple[Row, ...]
    isolated: bool = False
    covered: Covered | None = None
    """None: a row for each combination."""
    tags: tuple[str, ...] = ()
    """The author's own words, to select by."""
    level: str = "mandatory"
    """Or `recommended`, `optional`: a failure is reported, and the run does not fail."""


def _called(names: tuple[str, ...], texts: Mapping[str, str]) -> str:
    return ",".join([f"{name}={texts[name]}" for name in names])


@dataclass(frozen=True, slots=True)
class Suite:
    """One `.mks` file, lowered. `source` is its path relative to the suite's root, with `/`."""

    source: str
    title: str
    cases: tuple[Case, ...]
