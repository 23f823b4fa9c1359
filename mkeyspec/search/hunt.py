"""What is common to all ways to search: budget, the first disagreement that can be repeated, and those that can't."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from mkeyspec.generate.operations import Grown
from mkeyspec.search.three import Disagreement, Three

RUNS = 10
"""How often a case is run before its disagreement counts."""


@dataclass(frozen=True, slots=True)
class Unsteady:
    """A case on which the three disagree now and then: `failed` times in RUNS."""

    text: str
    failed: int
    found: Disagreement


class Parted(Exception):
    """The three disagree on the case that was just run."""


@dataclass(slots=True)
class Hunt:
    """`cases` None: as many as the time allows. `seconds` None: until they are all run."""

    three: Three
    cases: int | None
    seconds: float | None
    clock: Callable[[], float] = monotonic
    ran: int = 0
    text: str = ""
    """The smallest case so far on which they disagree."""
    found: Disagreement | None = None
    unsteady: list[Unsteady] = field(default_factory=list)
    _end: float = 0.0
    _failed: dict[str, Disagreement] = field(default_factory=dict)
    """Cases that were run after the first disagreement, and show it."""

    def __post_init__(self) -> None:
        self._end = self.clock() + (self.seconds if self.seconds is not None else float("inf"))

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.clock() >= self._end

    @property
    def over(self) -> bool:
        """Whether the budget is."""
        return self.late or (self.cases is not None and self.ran >= self.cases)

    @property
    def idle(self) -> bool:
        """Whether no further case is run: hypothesis goes on to the end of its round."""
        return self.found is None and self.over

    def take(self, grown: Grown) -> None:
        """Run a case. Raises Parted for the first disagreement; after it, for each case that shows the same one."""
        if self.idle:
            return
        text = grown.text()
        if self._first(text) if self.found is None else self._again(text):
            raise Parted  # from one place: hypothesis tells failures apart by it

    def _first(self, text: str) -> bool:
        self.ran += 1
        found = self.three.disagreement(text)
        if found is None:
            return False
        again = [self.three.disagreement(text) for _ in range(RUNS - 1)]
        failed = 1 + sum(one is not None and one.kind == found.kind for one in again)
        if failed < RUNS:
            self.unsteady.append(Unsteady(text, failed, found))
            return False
        self.text, self.found = text, found
        self._failed[text] = found
        return True

    def _again(self, text: str) -> bool:
        """The time ends a search for smaller cases; what is known to fail fails still."""
        assert self.found is not None
        found = self._failed.get(text)
        if found is None and not self.late:
            found = self.three.disagreement(text)
        if found is None or found.kind != self.found.kind:
            return False
        self.text, self.found = text, found
        self._failed[text] = found
        return True
