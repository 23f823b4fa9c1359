"""Where each word goes: how far its line is indented, and the blanks before it.

A statement is indented by four blanks for the case it is in and for each block around it. The lines that go on with a
statement keep their distance from it, four blanks at least; or, where their first word stood below a word of the line
before, they stand below it again. A line that only closes a bracket stands below the statement, and so does `else`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mkeyspec.formatter.columns import columns, find_partners
from mkeyspec.formatter.spacing import gap
from mkeyspec.formatter.words import COMMENT, Line

STEP = 4

ROUNDS = 50
"""Times that the columns of a file are made wider at most; each is as wide as what is before it asks for."""
_OPENS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_CLOSES = frozenset(_OPENS.values())


@dataclass(slots=True)
class _Begun:
    """A statement: the column at which it began, and the one at which it begins."""

    was: int = 0
    now: int = 0


@dataclass(slots=True)
class _Block:
    """An open block: the column of the line that opened it; of the word after its brace, where it was and is."""

    line: int
    was: int = -1
    now: int = -1


@dataclass(slots=True)
class _State:
    """What surrounds the next line."""

    base: int = 0
    blocks: list[_Block] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    statement: _Begun = field(default_factory=_Begun)
    previous: dict[int, int] = field(default_factory=dict)
    """The columns of the words of the line before: as they were, and as they are. Not of a word that begins a
    statement."""

    @property
    def inside(self) -> int:
        return self.blocks[-1].line + STEP if self.blocks else self.base


def place_words(lines: Sequence[Line]) -> dict[int, int]:
    """The column of each word, by its place in the text."""
    rounds = _in_round_brackets(lines)
    find_partners(lines, rounds)
    shared = columns(lines)
    at_least: dict[int, int] = {}
    for _ in range(ROUNDS):
        placed = _placed(lines, rounds, shared, at_least)
        grown = dict(at_least)
        for place, number in shared.items():
            grown[number] = max(grown.get(number, 0), placed[place])
        if grown == at_least:
            return placed
        at_least = grown
    # Columns that push one another, by lines that begin left of the block they are in: none is kept.
    return _placed(lines, rounds, {}, {})


def _placed(
    lines: Sequence[Line], rounds: Sequence[Sequence[bool]], shared: dict[int, int], at_least: dict[int, int]
) -> dict[int, int]:
    placed: dict[int, int] = {}
    state = _State()
    comments: list[Line] = []
    for line, inside_round in zip(lines, rounds, strict=True):
        if line.is_comment:
            comments.append(line)
            continue
        column = _indent(line, state)
        _place_comments(comments, placed, line, column, state)
        now: dict[int, int] = {}
        for at, word in enumerate(line.words):
            if at:
                column += gap(line.words, at, inside_round[at])
                if word.place in shared:
                    column = max(column, at_least.get(shared[word.place], 0))
            if not word.begins:
                now[word.column] = column
            placed[word.place] = column
            column += len(word.text)
        state.previous = now
        _follow(line, placed, state)
    for line in comments:
        placed[line.first.place] = state.inside if line.first.column else 0
    return placed


def _place_comments(comments: list[Line], placed: dict[int, int], line: Line, column: int, state: _State) -> None:
    """Comments stand where the line after them does; those that stood further right are of what was before."""
    inner = state.inside
    ends = line.first.kind in ("CASE", "RBRACE")
    for comment in comments:
        placed[comment.first.place] = inner if ends and comment.first.column > line.first.column else column
    comments.clear()


def _indent(line: Line, state: _State) -> int:
    first = line.first
    if first.kind == "CASE":
        return 0
    if first.kind == "RBRACE":
        closed = next((at for at, word in enumerate(line.words) if word.kind != "RBRACE"), len(line.words))
        return state.blocks[max(0, len(state.blocks) - closed)].line if state.blocks else state.base
    if first.begins:
        # Below the first of the block's lines, where that is in the line of the brace.
        below_first = state.blocks and state.blocks[-1].was == first.column
        return state.blocks[-1].now if below_first else state.inside
    begun = state.statement
    if first.kind == "ELSE":
        return begun.now
    below = state.previous.get(first.column)
    if first.kind in _CLOSES:
        return below if below is not None else begun.now + max(0, first.column - begun.was)
    if below is not None and below >= begun.now + STEP:
        return below
    return begun.now + max(STEP, first.column - begun.was)


def _follow(line: Line, placed: dict[int, int], state: _State) -> None:
    """Take note of what the line opens and closes, and of the statements that begin in it."""
    indent = placed[line.first.place]
    for at, word in enumerate(line.words):
        if word.kind == "CASE":
            state.base, state.blocks, state.open = STEP, [], []
            state.statement = _Begun()
        elif word.begins and at == 0:
            state.statement = _Begun(word.column, indent)
        if word.kind in _OPENS:
            state.open.append(word.kind)
            if word.kind == "LBRACE":
                after = line.words[at + 1] if at + 1 < len(line.words) else None
                if after is None or after.kind == COMMENT:
                    state.blocks.append(_Block(indent))
                else:
                    state.blocks.append(_Block(indent, after.column, placed[after.place]))
        elif word.kind in _CLOSES and state.open and state.open.pop() == "LBRACE":
            state.blocks.pop()
            if at == 0:
                state.statement = _Begun(word.column, indent)


def _in_round_brackets(lines: Sequence[Line]) -> list[list[bool]]:
    """Of each word, whether the innermost bracket around it is a round one."""
    found: list[list[bool]] = []
    open_brackets: list[str] = []
    for line in lines:
        of_line: list[bool] = []
        for word in line.words:
            of_line.append(bool(open_brackets) and open_brackets[-1] == "LPAR")
            if word.kind in _OPENS:
                open_brackets.append(word.kind)
            elif word.kind in _CLOSES and open_brackets:
                open_brackets.pop()
        found.append(of_line)
    return found
