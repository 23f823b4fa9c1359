"""Rows of steps, the cases they are of, and the suite of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from mkeyspec.plan.location import At
from mkeyspec.plan.step import Step
from mkeyspec.value.live import Live


@dataclass(frozen=True, slots=True)
class Comparison:
    """A need in numbers: `device.max_wr_memcpy_length >= 4096`."""

    live: Live
    operator: str
    value: int


Need = Union[str, Comparison]
"""A name of Capabilities.offers (`signature.crc32c`, `block.4048`, `qp.dci`, `memcpy`, `crypto`…), or a comparison."""


@dataclass(frozen=True, slots=True)
class Row:
    """One expansion: `id` is `n=1,op=send` ("" without parameters)."""

    id: str
    steps: tuple[Step, ...]
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    at: At
    name: str
    title: str
    verifies: tuple[str, ...]
    rows: tuple[Row, ...]
    isolated: bool = False


@dataclass(frozen=True, slots=True)
class Suite:
    """One `.mks` file, lowered. `source` is its path relative to the suite's root, with `/`."""

    source: str
    title: str
    cases: tuple[Case, ...]
