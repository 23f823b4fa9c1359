"""The syntax tree of a `.mks` file, before names are resolved.

Every node is frozen and carries the span of text it came from. A line inside a block is a
`Step` like any other (`access remote_read` is the verb `access` with an operand), so the tree
knows one sentence form only; what a verb takes is a table in `verbs.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from mkeyspec.diagnostics.source import Source, Span


@dataclass(frozen=True, slots=True)
class Name:
    """A word with its span; `text` is as written."""

    span: Span
    text: str


# Expressions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Int:
    span: Span
    value: int


@dataclass(frozen=True, slots=True)
class Ref:
    """A name used as a value: a parameter, a `let`, a declared object or a word of the language."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class Errno:
    """An errno by its name, e.g. `EINVAL`."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted string; `value` is without quotes and escapes."""

    span: Span
    value: str


@dataclass(frozen=True, slots=True)
class Bytes:
    """`hex"…"` or `ascii"…"`. `mask`: the bits that the digits of a `hex` with `?` say; None: all."""

    span: Span
    value: bytes
    mask: Optional[bytes] = None


@dataclass(frozen=True, slots=True)
class Tuple:
    span: Span
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`count 512` after an argument or list item."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Argument:
    """A call's argument or a list's item: `a count 512 skip 4`, `seed=7`."""

    span: Span
    value: Expr
    keyword: Optional[Name] = None
    pairs: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True)
class List:
    span: Span
    items: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`[item for name in over]`."""

    span: Span
    item: Argument
    name: Name
    over: Expr


@dataclass(frozen=True, slots=True)
class Call:
    span: Span
    function: Expr
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """`a[i]`, `a[x +: n]`, `a[x..y]`, `a[x..]`, `a[field_at(d, 3)]`."""

    span: Span
    of: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Attribute:
    """`d.block`, `k.max_entries`, `t.wire`."""

    span: Span
    of: Expr
    name: Name


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `~x`, `not x`."""

    span: Span
    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, bits, `++`, `every`, `and`, `or`; comparisons `==` … `in`, `not in`."""

    span: Span
    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Range:
    """`start..end` (half-open; `end` may be left out inside an index) or `start +: length`."""

    span: Span
    start: Expr
    end: Optional[Expr] = None
    length: Optional[Expr] = None


@dataclass(frozen=True, slots=True)
class But:
    """`value but member override`: wrong on purpose."""

    span: Span
    value: Expr
    member: Name
    override: Expr


Expr = Union[
    Int, Ref, Errno, Text, Bytes, Tuple, List, Comprehension, Call, Index, Attribute, Unary, Binary, Range, But
]


def items_of(expr: Expr) -> tuple[Expr, ...]:
    """The values of a tuple as they are written; of another expression, itself."""
    return expr.items if isinstance(expr, Tuple) else (expr,)


# Claims --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rejected:
    """`rejected at PHASE [with REASON]`."""

    span: Span
    phase: Name
    reason: Optional[Expr] = None


@dataclass(frozen=True, slots=True)
class Accepted:
    span: Span


@dataclass(frozen=True, slots=True)
class Completes:
    """`completes { driver1, id 41 }`: each line is one completion, a `Step` whose verb is the opcode."""

    span: Span
    block: Block
    any_order: bool = False


Outcome = Union[Rejected, Accepted, Completes]


@dataclass(frozen=True, slots=True)
class Claim:
    """Outcomes joined by `or`, and the condition under which they are claimed."""

    span: Span
    outcomes: tuple[Outcome, ...]
    when: Optional[Expr] = None

    def lists(self) -> tuple[Block, ...]:
        """The lists of completions among its outcomes."""
        return _lists(self.outcomes)


@dataclass(frozen=True, slots=True)
class Known:
    """`known ID …`: how a known driver departs from the page; bare = any failure of this statement."""

    span: Span
    requirement: Name
    outcome: Optional[Outcome] = None
    value: Optional[Expr] = None
    modifiers: tuple[Modifier, ...] = ()
    when: Optional[Expr] = None
    """The rows in which it departs; None: all."""

    def lists(self) -> tuple[Block, ...]:
        """The list of completions that comes instead, if it is one."""
        return _lists((self.outcome,))


def _lists(outcomes: tuple[Optional[Outcome], ...]) -> tuple[Block, ...]:
    return tuple(outcome.block for outcome in outcomes if isinstance(outcome, Completes))


# Statements ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Let:
    span: Span
    name: Name
    parameters: Optional[tuple[Name, ...]]
    """None: a value; a tuple: a function."""
    value: Expr


@dataclass(frozen=True, slots=True)
class ForItem:
    label: Optional[Name]
    value: Expr


@dataclass(frozen=True, slots=True)
class For:
    span: Span
    names: tuple[Name, ...]
    items: tuple[ForItem, ...]


@dataclass(frozen=True, slots=True)
class Where:
    span: Span
    condition: Expr


@dataclass(frozen=True, slots=True)
class If:
    """`if c { … } else { … }`; `else if` is an `orelse` block of one `If`."""

    span: Span
    condition: Expr
    then: Block
    orelse: Optional[Block] = None

    def blocks(self) -> tuple[Block, ...]:
        """The blocks of its branches, in order."""
        return (self.then,) if self.orelse is None else (self.then, self.orelse)


@dataclass(frozen=True, slots=True)
class Branch:
    """`when accepted t`, `when rejected t`: the outcome of a labelled statement that an `expect` or a `check` is of."""

    span: Span
    accepted: bool
    label: Name


@dataclass(frozen=True, slots=True)
class Expect:
    """`expect left == right`: the comparison is the tree's `Binary`."""

    span: Span
    condition: Expr
    known: Optional[Known] = None
    branch: Optional[Branch] = None


@dataclass(frozen=True, slots=True)
class Phrase:
    """A preposition and what follows it: `into k`, `by send`, `as r`."""

    preposition: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Modifier:
    """`, signaled`, `, id 5`, `, but num_setters 3`."""

    span: Span
    name: Name
    value: Optional[Expr] = None
    but: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """The one sentence form: `[peer] VERB [operand] {PREP value} [= value] {, modifier} [block] [claim] [known]`; one
    without a claim may have a `branch`."""

    span: Span
    verb: Name
    operand: Optional[Expr] = None
    phrases: tuple[Phrase, ...] = ()
    value: Optional[Expr] = None
    modifiers: tuple[Modifier, ...] = ()
    block: Optional[Block] = None
    claim: Optional[Claim] = None
    known: Optional[Known] = None
    peer: bool = False
    branch: Optional[Branch] = None


@dataclass(frozen=True, slots=True)
class Repeat:
    """`repeat 100 as i { … }`: the lines are carried out so many times. `sentence`: the same as a sentence."""

    span: Span
    sentence: Step

    @property
    def lines(self) -> tuple[Statement, ...]:
        """The lines of a turn."""
        return () if self.sentence.block is None else self.sentence.block.lines


Statement = Union[Let, For, Where, If, Expect, Step, Repeat]


@dataclass(frozen=True, slots=True)
class Block:
    """Lines between braces: steps, fields (which are steps too) and `if`s."""

    span: Span
    lines: tuple[Statement, ...]


# File ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Covering:
    """`covering 2`: rows in which all tuples of so many values occur, instead of all combinations."""

    span: Span
    strength: int


@dataclass(frozen=True, slots=True)
class Setup:
    """`setup NAME { … }` before the cases: lines that several cases begin with."""

    span: Span
    name: Name
    lines: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class UsedSetup:
    """`setup NAME` in a case, at `span`: the lines are in the body of the case, in its place."""

    span: Span
    setup: Setup


@dataclass(frozen=True, slots=True)
class Case:
    span: Span
    name: Name
    title: Optional[Text]
    verifies: tuple[Name, ...]
    needs: tuple[Expr, ...]
    isolated: bool
    body: tuple[Statement, ...]
    allows: tuple[Name, ...] = ()
    covering: Optional[Covering] = None
    tags: tuple[str, ...] = ()
    level: str = "mandatory"
    setups: tuple[UsedSetup, ...] = ()

    def holds(self, span: Span) -> bool:
        """Whether `span` begins in the case, or in a setup that it uses."""
        return self.span.holds(span) or any(used.setup.span.holds(span) for used in self.setups)


@dataclass(frozen=True, slots=True)
class File:
    """One `.mks` file. `comments` keeps what a formatter needs: (span of `# …`) in order.

    `allows` of a file and of a case: codes of warnings that are not shown there.
    """

    source: Source
    edition: int
    suite: Optional[Text]
    uses: tuple[Text, ...]
    lets: tuple[Let, ...]
    cases: tuple[Case, ...]
    comments: tuple[Span, ...] = ()
    allows: tuple[Name, ...] = ()
    setups: tuple[Setup, ...] = ()
