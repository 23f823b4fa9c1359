"""The kinds of disturbance: what is done, where it can be done, and what forbids or permits it.

`kinds.toml` says of each kind whether it is forbidden, by which sentence, and where that is. The functions under
`@places` say where in a row a kind can be tried, and make the disturbance.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from mkeyspec.device.protocol import AsyncEvent, Completion
from tests.quality.subject import Subject
from tests.quality.tap import Disturbance, Held, Tap

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("kinds.toml")


@dataclass(frozen=True, slots=True)
class Kind:
    """`verdict` is forbidden (the row must not come out green) or legal (it must not come out red)."""

    name: str
    verdict: str
    group: str
    what: str
    sentence: str
    source: str
    trace: bool = False
    """Forbidden only where anything came of it: bytes, completions or answers that the clean run did not have."""
    skips: bool = False
    """The row could be skipped with it, and must not be."""

    @property
    def forbidden(self) -> bool:
        return self.verdict == "forbidden"


@dataclass(frozen=True, slots=True)
class Place:
    """One disturbance of one row: before or in step `step`, `what` in words."""

    step: int
    what: str
    make: Callable[[], Disturbance]


Places = Callable[[Subject], Iterator[Place]]
PLACES: dict[str, Places] = {}


def places(name: str) -> Callable[[Places], Places]:
    def enter(function: Places) -> Places:
        assert name not in PLACES, name
        PLACES[name] = function
        return function

    return enter


@lru_cache(maxsize=1)
def kinds() -> dict[str, Kind]:
    """All kinds, in the order of the file. The modules of places enter them in PLACES."""
    from tests.quality import kinds_bytes, kinds_call, kinds_completion, kinds_late, kinds_report  # noqa: F401

    found: dict[str, Kind] = {}
    for group, entries in tomllib.loads(FILE.read_text("utf-8")).items():
        for name, entry in entries.items():
            found[name] = Kind(name, group=group, **entry)
    assert set(found) == set(PLACES), set(found) ^ set(PLACES)
    return found


# Disturbances --------------------------------------------------------------------------------

Answer = Callable[[Tap, Callable[[], Any], tuple[Any, ...]], Any]


class OnCall(Disturbance):
    """The `number`-th call of a name is answered by `answer(tap, go, args)`."""

    def __init__(self, name: str, number: int, answer: Answer) -> None:
        super().__init__()
        self.name, self.number, self.answer = name, number, answer

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name != self.name or number != self.number:
            return go()
        self.done = True
        return self.answer(tap, go, args)


class AtBoundary(Disturbance):
    """Before step `step`, `act(tap)`."""

    def __init__(self, step: int, act: Callable[[Tap], object]) -> None:
        super().__init__()
        self.step, self.act = step, act

    def boundary(self, tap: Tap, step: int) -> None:
        if step == self.step:
            self.done = True
            self.act(tap)


Change = Callable[[Tap, Completion], Sequence[Held]]


class OnCompletion(Disturbance):
    """The `place`-th completion of a queue becomes what `change(tap, completion)` gives."""

    def __init__(self, at: tuple[int, str, int], change: Change) -> None:
        super().__init__()
        self.at, self.change = at, change

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if (qp, queue, place) != self.at:
            return (Held(completion),)
        self.done = True
        return self.change(tap, completion)


class OnEvents(Disturbance):
    """What `events` returns, from the `number`-th call on."""

    def __init__(self, number: int, change: Callable[[Tap, list[AsyncEvent]], list[AsyncEvent]]) -> None:
        super().__init__()
        self.number, self.change, self.count = number, change, 0

    def events(self, tap: Tap, found: list[AsyncEvent]) -> list[AsyncEvent]:
        self.count += 1
        if self.count <= self.number:
            return found
        self.done = True
        return self.change(tap, found)
