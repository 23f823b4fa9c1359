"""A worker of `mkeyspec run -n`, as the process sees it that has started it, and the rows that are its own."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest

from mkeyspec.plugin.messages import Reader


@dataclass
class Gateway:
    """As of pytest-xdist."""

    id: str


@dataclass(eq=False)
class Node:
    """A worker, and what plugins know of it: the attributes of a node of pytest-xdist."""

    config: pytest.Config
    gateway: Gateway
    pid: int = 0
    orders: int = -1
    answers: int = -1
    workerinput: dict[str, Any] = field(default_factory=dict)
    workeroutput: dict[str, Any] = field(default_factory=dict)
    reader: Reader = field(default_factory=Reader)
    given: deque[int] = field(default_factory=deque)
    """Rows that it was given and has not begun."""
    row: int | None = None
    """The row that it has begun and not ended."""
    ended: bool = False
    """It has said all."""
    fed: bool = False
    """It has been given its row, of a shard of rows that run alone."""


@dataclass(eq=False)
class Shard:
    number: int
    rest: deque[int]
    """Rows that no worker was given."""
    node: Node | None = None
    refused: bool = False
    """The device of its worker is another one: no worker takes its place."""
    alone: bool = False
    """Each of its rows has a worker of its own."""
    blocked: bool = False
    """The device of its worker is not healthy: what it takes is blocked."""
