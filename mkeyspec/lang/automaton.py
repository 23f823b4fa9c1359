"""Lark's LALR table, run without its bookkeeping: the way a file without a mistake is parsed.

Four of five reductions in a grammar with a rule for each level of precedence only pass their one
child on (`?sum: product`). For a state below, a state on top and a word ahead, a chain of those
always ends in the same state; the end is remembered the first time, and a chain costs one look-up.
The rest is the textbook's loop. Where the table has no entry, `Stuck` is raised, and Lark itself,
which can say what it expected, is asked about that line (parse.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lark import Lark
from lark.parsers.lalr_analysis import Shift

from mkeyspec.lang.lexer import Token

Reduction = tuple[int, Callable[[list[Any]], Any], dict[int, int]]
"""How many children, what makes the value of them, and where to go on by the state below."""


class Stuck(Exception):
    """The words are not of the language."""


class _Pass(dict[int, int]):
    """A reduction that passes its child on: by the state below, the state in which the chain ends. Filled in as met."""


class Automaton:
    """The parser of one start rule. It has no state between two runs but what it remembers of the table."""

    def __init__(self, lark: Lark, start: str) -> None:
        inner: Any = lark.parser
        table, callbacks = inner.parser.parser.parse_table, inner.parser.parser.callbacks
        self._start: int = table.start_states[start]
        self._end: int = table.end_states[start]
        self._gotos: dict[str, dict[int, int]] = {}
        """By rule: from the state below to the state after."""
        self._rows: dict[int, dict[str, Any]] = {}
        """By state and terminal: the state to shift to, a `Reduction` or a `_Pass`."""
        self._passed: dict[tuple[int, str], str] = {}
        """By state and terminal: the rule of a `_Pass`."""
        for state, actions in table.states.items():
            row = self._rows.setdefault(state, {})
            for symbol, (kind, argument) in actions.items():
                if kind is Shift and symbol.isupper():
                    row[symbol] = argument
                elif kind is Shift:
                    self._gotos.setdefault(symbol, {})[state] = argument
                else:
                    row[symbol] = self._reduction(argument, callbacks, state, symbol)

    def _reduction(self, rule: Any, callbacks: Any, state: int, symbol: str) -> Any:
        size = len(rule.expansion)
        if size == 1 and rule.options.expand1 and not rule.alias:
            self._passed[state, symbol] = rule.origin.name
            return _Pass()
        return size, callbacks[rule], self._gotos.setdefault(rule.origin.name, {})

    def _chain(self, state: int, below: int, ahead: str) -> int:
        """The state on top of `below` after all reductions that only pass on."""
        while (origin := self._passed.get((state, ahead))) is not None:
            state = self._gotos[origin][below]
        return state

    def run(self, tokens: list[Token]) -> Any:
        """The value of the start rule; raises `Stuck`."""
        rows = self._rows
        states = [self._start]
        values: list[Any] = []
        state = self._start
        for token in (*tokens, Token("$END", "", 0, 0)):
            ahead = token.type
            while True:
                action: Any = rows[state].get(ahead)
                kind = action.__class__
                if kind is _Pass:
                    below = states[-2]
                    after = action.get(below)
                    if after is None:
                        after = action[below] = self._chain(state, below, ahead)
                    states[-1] = state = after
                elif kind is tuple:
                    size, callback, goto = action
                    if size:
                        children = values[-size:]
                        del values[-size:]
                        del states[-size:]
                    else:
                        children = []
                    values.append(callback(children))
                    state = goto[states[-1]]
                    states.append(state)
                elif kind is int:
                    state = action
                    states.append(state)
                    values.append(token)
                    break
                elif state == self._end:
                    return values[-1]
                else:
                    raise Stuck
        raise Stuck
