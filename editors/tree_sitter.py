"""Writes the parser of tree-sitter, `editors/tree-sitter/src/parser.c`, from the compiler's grammar.

python editors/tree_sitter.py            writes what differs
python editors/tree_sitter.py --check    writes nothing; exit code 1 if anything differs

tree-sitter runs an LR parser over tables; its own generator makes them from a grammar in JavaScript, which would be a
second grammar. Here they are made from the rules of `grammar/mks.lark` (`lalr.py`), in the form that tree-sitter reads
(ABI 14). What tree-sitter has no filter of line ends for is put into the rules: of each rule there is one copy outside
and one inside of `( )` and `[ ]`, so that a state says whether a line end may end the statement there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lark import Lark
from lark.lexer import PatternStr

from editors.lalr import END as EOF
from editors.lalr import Automaton, Production
from mkeyspec.syntax.lexer import PREPOSITIONS, STARTS, TEXT, Words
from mkeyspec.syntax.terminators import GOES_ON_AFTER, GOES_ON_BEFORE

HERE = Path(__file__).resolve().parent / "tree-sitter"
TEMPLATE = HERE / "parser.template"
PARSER = HERE / "src" / "parser.c"
INSIDE = "inside_"
"""How the rules inside of round and square brackets begin."""

FLAT = frozenset(
    [
        "lines", "block_lines", "names", "items", "tuple_items", "modifiers", "outcomes", "for_items", "sentence",
        "claimed", "blocked", "modified", "assigned", "phrased", "verb",
    ]
)  # fmt: skip
"""Rules that are no node of their own: their parts are those of the rule above."""

LISTS = ("verifies", "needs", "allow")
"""Rules that are their own first part."""

NAMED = {
    "NAME": "name", "INT": "integer", "STRING": "string", "HEX": "hex", "ASCII": "ascii", "REQ": "requirement",
    "CODE": "code", "ERRNO": "error_number", "PREP": "preposition",
}  # fmt: skip
ROUND = frozenset({"LPAR", "LSQB"})
CLOSING = frozenset({"RPAR", "RSQB"})


@dataclass(frozen=True)
class Symbol:
    """One of tree-sitter's. `origin`: the rule whose place in the tables it has; None of a terminal."""

    id: str
    name: str
    visible: bool
    named: bool
    origin: str | None = None


# The rules -----------------------------------------------------------------------------------


def productions(rules: Iterable[Any]) -> list[Production]:
    """Those of the grammar (Lark's), each outside and inside of brackets."""
    found = [Production("block", ("LBRACE", "block_lines", "END", "RBRACE"), "block")]
    for inside in (False, True):
        found += [Production(at(name, inside), (at(f"{name}_list", inside),), name) for name in LISTS]
        found += [production(rule, inside) for rule in rules]
    return found


def production(rule: Any, inside: bool) -> Production:
    origin = rule.origin.name
    found, now = [], inside
    for symbol in rule.expansion:
        if symbol.name in CLOSING:
            now = inside
        name = f"{symbol.name}_list" if symbol == rule.origin and symbol.name in LISTS else symbol.name
        found.append(name if symbol.is_term else at(name, now))
        if symbol.name in ROUND:
            now = True
    passes = rule.options.expand1 and not rule.alias and len(found) == 1
    node = None if passes or origin in (*FLAT, *LISTS) else rule.alias or origin
    return Production(at(f"{origin}_list" if origin in LISTS else origin, inside), tuple(found), node)


def at(rule: str, inside: bool) -> str:
    return INSIDE + rule if inside else rule


# The tables ----------------------------------------------------------------------------------


class Language:
    """The tables with tree-sitter's numbers. Its state 0 is that of recovery, so the others are one more."""

    def __init__(self) -> None:
        lark = Lark(TEXT, start=list(STARTS), parser="lalr", lexer="basic", keep_all_tokens=True)
        self.tables = Automaton(productions(lark.rules), "file")
        self.words = Words(lark.terminals).reserved | dict.fromkeys(PREPOSITIONS, "PREP")
        texts = {one.name: one.pattern.value for one in lark.terminals if isinstance(one.pattern, PatternStr)}
        used = {symbol for row in (*self.tables.moves, *self.tables.ends) for symbol in row}
        self.symbols = [Symbol("end", "end", False, True)]
        for kind in sorted(used - {EOF, *self.tables.of}):
            text = NAMED.get(kind) or texts.get(kind) or kind.lower()
            self.symbols.append(Symbol(kind, text, kind != "END", kind in NAMED))
        self.symbols.append(Symbol("COMMENT", "comment", True, True))
        self.tokens = len(self.symbols)
        ended = {end for row in self.tables.ends for end in row.values()}
        made = {symbol_of(self.tables.productions[end]) for end in ended}
        self.symbols += sorted(made, key=lambda one: one.id)
        self.number = {symbol: number for number, symbol in enumerate(self.symbols)}
        self.kinds = {symbol.id: number for number, symbol in enumerate(self.symbols[: self.tokens])} | {EOF: 0}

    def modes(self) -> list[str]:
        """What a line end and `;` are in each state: STATEMENT, the end of one; OPEN, nothing; INSIDE, nothing and an
        error."""
        by: dict[int, str] = {}
        before: dict[int, set[int]] = {}
        states = range(len(self.tables.moves))
        for state in states:
            for symbol, after in self.tables.moves[state].items():
                by[after] = symbol
                before.setdefault(after, set()).add(state)
        inside = {state for state in states if self._is_inside(state, by.get(state))}
        more = True
        while more:
            reached = {state for state in states if by.get(state) not in CLOSING and before.get(state, {-1}) <= inside}
            more = not reached <= inside
            inside |= reached
        return [
            "INSIDE" if state in inside or by.get(state) in GOES_ON_AFTER
            else "OPEN" if by.get(state) in (None, "END", "LBRACE", "lines")
            else "STATEMENT"
            for state in states
        ]  # fmt: skip

    def _is_inside(self, state: int, by: str | None) -> bool:
        symbols = {*self.tables.moves[state], *self.tables.ends[state]}
        return by in ROUND or bool(symbols & CLOSING) or any(one.startswith(INSIDE) for one in symbols)

    def rows(self, actions: Actions) -> list[dict[int, int]]:
        """What is done in each state: by the number of a symbol, of a terminal the place of its action, of a rule the
        next state."""
        variants: dict[str, list[int]] = {}
        for symbol in self.symbols[self.tokens :]:
            variants.setdefault(symbol.origin or "", []).append(self.number[symbol])
        found = []
        for state, moves in enumerate(self.tables.moves):
            row = {self.kinds["COMMENT"]: actions.of("extra")}
            for symbol, after in moves.items():
                if symbol in self.kinds:
                    row[self.kinds[symbol]] = actions.of("shift", after + 1)
                else:
                    row |= dict.fromkeys(variants.get(symbol, ()), after + 1)
            for kind, end in sorted(self.tables.ends[state].items()):
                one = self.tables.productions[end]
                row[self.kinds[kind]] = actions.of("reduce", 0, len(one.parts), self.number[symbol_of(one)])
            if state == self.tables.accepts:
                row[0] = actions.of("accept")
            found.append(row)
        return found


def symbol_of(one: Production) -> Symbol:
    """A symbol for each node that a rule makes, and one if it makes none."""
    name = one.name or one.origin.removeprefix(INSIDE)
    return Symbol(f"{one.origin}.{one.name or ''}", name, one.name is not None, True, one.origin)


# The text ------------------------------------------------------------------------------------


def parser_c() -> str:
    """The whole of `parser.c`."""
    language = Language()
    actions = Actions()
    modes = language.modes()
    recovery: dict[int, int] = {
        at: actions.of("extra" if at == language.kinds["COMMENT"] else "recover") for at in range(language.tokens)
    }
    states = language.rows(actions)
    first = {}
    for at, symbol in enumerate(language.symbols):
        first.setdefault((symbol.name, symbol.visible), at)
    small, places = packed(states[1:])
    values = {
        "STATES": str(len(states) + 1),
        "SYMBOLS": str(len(language.symbols)),
        "TOKENS": str(language.tokens),
        "KINDS": lines(f"{constant(one)} = {at}," for one, at in language.kinds.items() if one != EOF),
        "NAMES": lines(f"{quoted(one.name)}," for one in language.symbols),
        "METADATA": lines(f"{{{c(one.visible)}, {c(one.named)}, false}}," for one in language.symbols),
        "PUBLIC": lines(f"{first[one.name, one.visible]}," for one in language.symbols),
        "LARGE": lines(dense(row, len(language.symbols)) for row in (recovery, states[0])),
        "SMALL": lines(f"{', '.join(map(str, row))}," for row in small),
        "PLACES": lines(f"{place}," for place in places),
        "ACTIONS": lines(actions.texts),
        "MODES": lines(f"{{{mode}, 0}}," for mode in ("RECOVERY", *modes)),
        "PRIMARY": lines(f"{at}," for at in range(len(states) + 1)),
        "WORDS": lines(f"{{{quoted(word)}, {constant(kind)}}}," for word, kind in sorted(language.words.items())),
        "GOES_ON": lines(f"[{constant(kind)}] = true," for kind in sorted(GOES_ON_BEFORE)),
    }
    text = TEMPLATE.read_text("utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


class Actions:
    """The list of actions; each action is in it once.

    None is said to hold for a word that was read in a state of another mode: what is before a word, a line end or `;`,
    was read in that mode as well.
    """

    def __init__(self) -> None:
        self.texts = ["{.entry = {0, false}},"]
        self.places: dict[str, int] = {}
        self.size = 1

    def of(self, kind: str, state: int = 0, children: int = 0, symbol: int = 0) -> int:
        """The place of an action that is done alone."""
        text = {
            "shift": f"{{.action.shift = {{SHIFT, {state}, false, false}}}}",
            "extra": "{.action.shift = {SHIFT, 0, true, false}}",
            "reduce": f"{{.action.reduce = {{REDUCE, {children}, {symbol}, 0, 0}}}}",
            "accept": "{.action.type = ACCEPT}",
            "recover": "{.action.type = RECOVER}",
        }[kind]
        if text not in self.places:
            self.places[text] = self.size
            self.size += 2
            self.texts.append(f"{{.entry = {{1, false}}}}, {text},")
        return self.places[text]


def packed(rows: Iterable[dict[int, int]]) -> tuple[list[list[int]], list[int]]:
    """Rows as groups of symbols with the same value, and where each row begins."""
    found: list[list[int]] = []
    places: list[int] = []
    size = 0
    for row in rows:
        groups: dict[int, list[int]] = {}
        for symbol, value in sorted(row.items()):
            groups.setdefault(value, []).append(symbol)
        places.append(size)
        found.append([len(groups)])
        found += [[value, len(symbols), *symbols] for value, symbols in groups.items()]
        size += 1 + sum(2 + len(symbols) for symbols in groups.values())
    return found, places


def dense(row: dict[int, int], size: int) -> str:
    return f"{{{', '.join(str(row.get(at, 0)) for at in range(size))}}},"


def lines(each: Iterable[str]) -> str:
    """As many in a line as fit."""
    found, line = [], ""
    for one in each:
        if line and len(line) + len(one) > 116:
            found.append(line)
            line = ""
        line = f"{line} {one}" if line else f"    {one}"
    return "\n".join([*found, line])


def constant(kind: str) -> str:
    return f"T_{kind}"


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def c(value: bool) -> str:
    return "true" if value else "false"


def main(arguments: Sequence[str]) -> int:
    if any(argument != "--check" for argument in arguments):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    text = parser_c()
    if PARSER.exists() and PARSER.read_text("utf-8") == text:
        return 0
    if arguments:
        print(f"{PARSER.name} is out of date: python editors/tree_sitter.py", file=sys.stderr)
        return 1
    PARSER.parent.mkdir(parents=True, exist_ok=True)
    PARSER.write_text(text, "utf-8")
    print(PARSER.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
