"""Chooses the walks of cases/crypto/login_chains.mks: what happens to a context, so that few rows have most threes.

`python -m tests.quality.login_walks ROWS LENGTH` prints them. Greedy, with a fixed seed: the next event is one that can
happen then, and that leads to the most threes that no walk has yet.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

NONE, SESSION, OBJECT = range(3)
EVENTS = {
    NONE: ("login", "bad_login", "logout", "object", "bad_object", "dek", "query", "use", "destroy"),
    SESSION: ("login", "logout", "dek", "damaged", "query", "use", "destroy"),
    OBJECT: ("logout", "object", "gone", "dek", "unnamed", "damaged", "query", "use", "destroy"),
}
DEPTH = 4
"""Events that are looked ahead."""

State = tuple[int, bool]
"""The login of the context, and whether a DEK was made since the first one."""
Three = tuple[int, str, str, str]
"""The login before them, and three events in a row."""


def after(state: State, event: str) -> State:
    login, made = state
    if event in ("login", "object") and login == NONE:
        login = SESSION if event == "login" else OBJECT
    elif event == "gone" or (event == "logout" and login == SESSION):
        login = NONE
    return login, event != "destroy" and (made or (event == "dek" and state[0] != NONE))


def can(state: State) -> Iterator[str]:
    return (event for event in EVENTS[state[0]] if event != "destroy" or state[1])


def threes() -> set[Three]:
    """All that can come in a row."""
    states, todo = {(NONE, False)}, [(NONE, False)]
    while todo:
        state = todo.pop()
        new = {after(state, event) for event in can(state)} - states
        states |= new
        todo += new
    found = set[Three]()
    for state in states:
        for one in can(state):
            for two in can(second := after(state, one)):
                found |= {(state[0], one, two, three) for three in can(after(second, two))}
    return found


class Walks:
    def __init__(self) -> None:
        self.done = set[Three]()
        self._rng = random.Random(7)

    def walk(self, length: int) -> list[str]:
        state: State = (NONE, False)
        past: list[tuple[int, str]] = []
        for _ in range(length):
            _, event = self._best(state, past[-2:], DEPTH, frozenset())
            if len(past) > 1:
                self.done.add((past[-2][0], past[-2][1], past[-1][1], event))
            past.append((state[0], event))
            state = after(state, event)
        return [event for _, event in past]

    def _best(self, state: State, past: list[tuple[int, str]], depth: int, new: frozenset[Three]) -> tuple[float, str]:
        """What the best next event gains, and which it is."""
        best = -1.0, ""
        for event in can(state):
            three = (past[0][0], past[0][1], past[1][1], event) if len(past) == 2 else None
            gains = three is not None and three not in self.done and three not in new
            gain = float(gains) + self._rng.random() * 1e-3
            if depth > 1:
                seen = new | {three} if three is not None else new
                gain += 0.9 * self._best(after(state, event), [*past[-1:], (state[0], event)], depth - 1, seen)[0]
            best = max(best, (gain, event))
        return best


def main(rows: int, length: int) -> None:
    walks = Walks()
    for number in range(1, rows + 1):
        print(f"w{number}: " + ", ".join(walks.walk(length)))
    print(f"{len(walks.done)} of {len(threes())} threes", file=sys.stderr)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
