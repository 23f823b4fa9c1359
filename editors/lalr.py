"""LALR(1) tables of a grammar: what an LR parser does in each state at each word.

The construction of DeRemer and Pennello (1982). The compiler's own parser is Lark's, whose tables are its own affair; a
parser that is no Python needs tables of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

END = "$END"
"""The terminal behind the last word."""


@dataclass(frozen=True)
class Production:
    """One alternative of the rule `origin`. `name`: of the node that it makes; None if it makes none."""

    origin: str
    parts: tuple[str, ...]
    name: str | None


class Conflict(Exception):
    """In a state a word may be shifted and end a rule, or end two rules."""


class Automaton:
    """The states, numbered from 0, the first one, in an order that depends on the grammar alone.

    `moves`: of each state, the next one for a terminal or rule; `ends`: the production that ends there for a terminal;
    `accepts`: the state in which the text may end. Raises Conflict.
    """

    def __init__(self, productions: Sequence[Production], start: str) -> None:
        self.productions = productions
        self.of: dict[str, list[int]] = {}
        for at, one in enumerate(productions):
            self.of.setdefault(one.origin, []).append(at)
        self.nullable = self._nullable()
        self.moves: list[dict[str, int]] = []
        self.closures: list[list[tuple[int, int]]] = []
        self._states(start)
        self.accepts = self.moves[0][start]
        self.ends = self._ends(start)

    def _nullable(self) -> frozenset[str]:
        found: set[str] = set()
        while True:
            more = {one.origin for one in self.productions if all(part in found for part in one.parts)}
            if more <= found:
                return frozenset(found)
            found |= more

    def _closed(self, kernel: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """A state's items, a production and a place in it each, with those of the rules that may begin there."""
        found = list(kernel)
        seen: set[str] = set()
        for production, dot in found:
            parts = self.productions[production].parts
            if dot < len(parts) and parts[dot] in self.of and parts[dot] not in seen:
                seen.add(parts[dot])
                found += [(each, 0) for each in self.of[parts[dot]]]
        return found

    def _states(self, start: str) -> None:
        first = tuple((each, 0) for each in self.of[start])
        numbers: dict[tuple[tuple[int, int], ...], int] = {first: 0}
        kernels = [first]
        for kernel in kernels:
            closure = self._closed(kernel)
            next_: dict[str, list[tuple[int, int]]] = {}
            for production, dot in closure:
                parts = self.productions[production].parts
                if dot < len(parts):
                    next_.setdefault(parts[dot], []).append((production, dot + 1))
            moves = {}
            # Of the start rule there is always a state, though nothing may follow it.
            for symbol, items in sorted({**({start: []} if kernel is first else {}), **next_}.items()):
                key = tuple(sorted(set(items)))
                if key not in numbers:
                    numbers[key] = len(kernels)
                    kernels.append(key)
                moves[symbol] = numbers[key]
            self.moves.append(moves)
            self.closures.append(closure)

    def _ends(self, start: str) -> list[dict[str, int]]:
        follow: dict[tuple[int, str], set[str]] = {}
        for state, moves in enumerate(self.moves):
            for symbol, after in moves.items():
                if symbol in self.of:
                    follow[state, symbol] = {one for one in self.moves[after] if one not in self.of}
        follow[0, start].add(END)
        includes: list[tuple[tuple[int, str], tuple[int, str]]] = []
        back: list[tuple[int, int, tuple[int, str]]] = []
        for state, symbol in follow:
            after = self.moves[state][symbol]
            includes += [((state, symbol), (after, one)) for one in self.moves[after] if one in self.nullable]
            for production in self.of[symbol]:
                at, parts = state, self.productions[production].parts
                for place, part in enumerate(parts):
                    if part in self.of and all(one in self.nullable for one in parts[place + 1 :]):
                        includes.append(((at, part), (state, symbol)))
                    at = self.moves[at][part]
                back.append((at, production, (state, symbol)))
        more = True
        while more:
            more = False
            for mine, theirs in includes:
                if not follow[theirs] <= follow[mine]:
                    follow[mine] |= follow[theirs]
                    more = True
        ends: list[dict[str, int]] = [{} for _ in self.moves]
        for state, production, place in back:
            for word in follow[place]:
                if word in self.moves[state] or ends[state].setdefault(word, production) != production:
                    raise Conflict(f"{self.productions[production]} before {word}")
        return ends
