"""What lowering knows of a case, and at a point of one row: the steps so far, the ledger, the abstract state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.eval.buffer_contents import BufferContents
from mkeyspec.compiler.eval.coercion import as_handle, as_live_int, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.undecided import NOTHING
from mkeyspec.compiler.eval.values import Handle
from mkeyspec.compiler.statements.capabilities import check_contradiction, written_need
from mkeyspec.compiler.statements.claims import claim, known, shown
from mkeyspec.compiler.statements.sentence import Sentence, Sentences
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault
from mkeyspec.diagnostics.source import Span
from mkeyspec.reference.layout import Segment
from mkeyspec.syntax import ast
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Layout
from mkeyspec.value.live import known_number
from mkeyspec.value.regions import Regions


class CaseState:
    """What the rows of a case share. `scope`: of the file's `let`s, in which the case's `needs` are read."""

    __slots__ = ("budget", "case", "diagnostics", "held", "lacks", "needs", "sentences")

    def __init__(self, case: ast.Case, sentences: Sentences, diagnostics: Diagnostics, scope: Scope) -> None:
        self.case = case
        self.budget = scope.budget
        self.diagnostics = diagnostics
        self.held = Diagnostics()
        """Warnings of all rows that are worth saying only if there is no error."""
        self.sentences = sentences
        self.needs: list[plan.Need] = []
        """Those that the case writes."""
        for expr in case.needs:
            if any(expr.span.holds(found.span) for found in diagnostics.errors):
                continue  # its names were reported as wrong
            try:
                need = written_need(expr, scope)
                check_contradiction([*self.needs, need], expr)
                self.needs.append(need)
            except Fault as found:
                diagnostics.add(found.diagnostic)
        self.lacks = plan.lacked(self.needs)
        """Capabilities that the device must not have: no step needs them."""


class Moved(NamedTuple):
    """Where the statement at `span` writes."""

    regions: Regions
    span: Span


class Brought(NamedTuple):
    """What the request at `span` writes there; `data` None: it is unknown."""

    regions: Regions
    data: ByteString | None
    span: Span
    step: int
    """How many steps were before it: requests of one section have the same number."""


class Unreceived(NamedTuple):
    """A SEND of this id on a QP that no receive waits for: nothing is wrong if it is cancelled before it runs."""

    qp: str | None
    id: int
    fault: Fault


class HeldBack(NamedTuple):
    """`first`: the number of the first step whose requests may wait in a queue; `before`: the state before it; `gone`:
    what was cancelled since, by the numbers of the step and of the request in its section."""

    first: int
    before: AbstractState
    gone: frozenset[tuple[int, int]] = frozenset()


class TurnState(NamedTuple):
    """A turn that is lowered, `span` of its `repeat`; `begin`: the number of steps before it, and before the first."""

    turn: plan.Turn
    span: Span
    begin: int
    first: int

    def position(self, step: int) -> int:
        """Where a step would be in the first turn, if that has the same steps."""
        return step - self.begin + self.first


class RowState(ABC):
    """State of one row."""

    __slots__ = (
        "apart",
        "brought",
        "budget",
        "case",
        "default_qp",
        "diagnostics",
        "echoes",
        "entries",
        "first",
        "held",
        "held_back",
        "lacks",
        "ledger",
        "moved",
        "needs",
        "origin",
        "records",
        "said",
        "sentences",
        "state",
        "steps",
        "stopped",
        "turn",
        "undecided",
        "unreceived",
        "writers",
    )

    def __init__(self, of: CaseState) -> None:
        self.case = of.case
        self.budget = of.budget
        self.diagnostics = of.diagnostics
        self.held = of.held
        self.origin = Origin(of.case.name.span, of.case.name.span)
        """Of the statement that is lowered, or of a request of its section."""
        self.sentences = of.sentences
        self.state = AbstractState()
        self.ledger = BufferContents(self.state)
        self.steps: list[plan.Step] = []
        self.needs = dict.fromkeys(of.needs)
        self.lacks = of.lacks
        self.default_qp: str | None = None
        """The QP of statements without `on`; None: the pair with the defaults."""
        self.moved: tuple[Moved, ...] = ()
        """What statements have written and no statement has looked at since."""
        self.stopped: tuple[tuple[str | None, Moved], ...] = ()
        """By QP, what requests have written that signature pipelining may hold back until a `resume`."""
        self.brought: tuple[Brought, ...] = ()
        """What requests write, in order, and no statement has looked at since."""
        self.held_back: dict[str | None, HeldBack] = {}
        """By QP, what signature pipelining may hold back, and `cancel` take away."""
        self.unreceived: tuple[Unreceived, ...] = ()
        self.undecided = NOTHING
        """What depends on an outcome that the case leaves open."""
        self.writers: dict[Span, plan.At] = {}
        """Transfers that may be refused, and that have moved all that they say if they are not."""
        self.echoes: tuple[tuple[tuple[Segment, ...], tuple[Segment, ...], Span | None], ...] = ()
        """Bytes that an expectation compares with those at a `let` which are not known: both by the
        buffers that hold them. Without a span: what a transmit has put on the wire."""
        self.apart: tuple[tuple[tuple[Segment, ...], tuple[Segment, ...], Span], ...] = ()
        """Bytes that an expectation has differ from those at a `let`, or from anything: both by the buffers that hold
        them."""
        self.said: tuple[Segment, ...] = ()
        """Bytes whose content an expectation states."""
        self.records: dict[str, Span] = {}
        """Names of `record`s, and where each is."""
        self.entries: dict[str, tuple[int, int]] = {}
        """Of mkeys without `entries`: index of their step, and the entries their largest layout needs so far."""
        self.turn: TurnState | None = None
        """Of the `repeat` that is lowered."""
        self.first = 0
        """The number of steps before the first turn of the last `repeat`."""

    # Places ------------------------------------------------------------------------------------

    def at(self, span: Span) -> plan.At:
        """The place of a statement; in a `repeat`, that of this turn."""
        location = span.source.location(span.start)
        turn = self.turn
        inside = turn is not None and turn.span.holds(span)
        return plan.At(location.line, location.column, turn.turn if turn is not None and inside else None)

    def read(self, node: ast.Step) -> Sentence:
        """The sentence of a statement, or of a line in its braces. Raises `Fault` if its parts are wrong."""
        sentence = self.sentences.read(node)
        return sentence if self.turn is None else replace(sentence, at=sentence.at._replace(turn=self.turn.turn))

    @property
    def position(self) -> int:
        """The number of the next step; in each turn of a `repeat` the same, if its turns have the same steps."""
        return len(self.steps) if self.turn is None else self.turn.position(len(self.steps))

    def name(self, called: str) -> str:
        """What the rig calls bytes that are taken here: in each turn something else."""
        return called if self.turn is None else plan.of_turn(called, self.turn.turn)

    # Steps -------------------------------------------------------------------------------------

    @abstractmethod
    def add(self, step: plan.Step, sentence: Sentence) -> plan.Step:
        """Check a step against the pages, apply it, put it into the plan; returns it with its claim settled."""

    @abstractmethod
    def add_expect(self, step: plan.Expect, span: Span) -> None:
        """Check an expectation and put it into the plan."""

    @abstractmethod
    def apply(self, state: AbstractState, step: plan.Step) -> None:
        """Change `state` to what it is after `step`."""

    @abstractmethod
    def tried(self, step: plan.Step) -> Diagnostics:
        """What would be wrong with a step that is not added."""

    def claim(self, sentence: Sentence, scope: Scope) -> plan.Claim:
        return claim(sentence.node.claim, scope, self.sentences, sentence.verb.name)

    def known(self, sentence: Sentence, scope: Scope) -> plan.Known | None:
        return known(sentence.node.known, scope, self.sentences, sentence.verb.name == "await")

    def signals_all(self, qp: str) -> bool:
        """Whether the QP was declared with sq_sig_all."""
        return any(isinstance(s, plan.Qp) and s.name == qp and ("sq_sig_all", True) in s.members for s in self.steps)

    def state_ahead(self) -> AbstractState:
        """A copy of the state, in which the requests of a section are carried out as they are lowered: until the step
        is added, the ledger finds the mkeys as they are there."""
        ahead = self.state.copy()
        self.ledger.mkeys = ahead
        return ahead

    # Parts of sentences ------------------------------------------------------------------------

    def handle(self, expr: ast.Expr, scope: Scope, kind: str, what: str) -> Handle:
        """The declared object of `kind` that `expr` names."""
        return as_handle(evaluate(expr, scope), scope, expr.span, (kind,), what)

    def qp(self, sentence: Sentence, scope: Scope) -> str | None:
        """The QP after `on`; None: the case's default one."""
        expr = sentence.phrases.get("on")
        return self.default_qp if expr is None else self.handle(expr, scope, "qp", "`on`").name

    def label(
        self, sentence: Sentence, scope: Scope, claim: plan.Claim = (), shows: tuple[str, ...] | None = None
    ) -> str | None:
        """The label after `as`, declared from here on. `claim`: what the case says of the statement; `shows`: the
        members that it has, where they are fewer than its verb's."""
        expr = sentence.phrases.get("as")
        if expr is None:
            return None
        if not isinstance(expr, ast.Ref):
            raise fault("MKS0213", "`as` takes a name for this step", expr.span, help="as r")
        verb = sentence.verb
        members = shown(verb.shows if shows is None else shows, claim)
        scope.bind(expr.name, Handle("label", expr.name, step=verb.name, shows=members), expr.span)
        return expr.name

    def overrides(self, sentence: Sentence, scope: Scope) -> plan.Overrides:
        """The `but` modifiers of a sentence."""
        found = []
        for modifier in sentence.but:
            if modifier.value is None:
                raise fault("MKS0213", f"`but {modifier.name.text}` lacks its value", modifier.span)
            what = f"`but {modifier.name.text}`"
            span = modifier.value.span
            value = as_live_int(evaluate(modifier.value, scope), scope, span, what)
            found.append((modifier.name.text, fitting(value, modifier.name.text, span, sentence.verb.name)))
        return tuple(found)

    def put_overrides(self, thing: object, sentence: Sentence) -> None:
        for modifier in sentence.but:
            self.origin.put_member(thing, modifier.name.text, modifier.span)

    def declare(self, name: ast.Name, handle: Handle, scope: Scope) -> None:
        scope.bind(name.text, handle, name.span)

    # Entries of mkeys --------------------------------------------------------------------------

    def want_entries(self, mkey: str, layout: Layout) -> None:
        """An mkey without `entries` gets what its largest layout needs (one more for the strided header)."""
        pending = self.entries.get(mkey)
        if pending is None:
            return
        count = 0
        for entry in layout.given():
            count += known_number(entry.repetitions()) or 0
        count += layout.strided
        if count > pending[1]:
            self.entries[mkey] = (pending[0], count)


def span_of_value(node: ast.Step) -> Span:
    """The span of a line's value, or of the line."""
    return node.operand.span if node.operand is not None else node.span
