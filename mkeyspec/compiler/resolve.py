"""Resolves names once per case: reports unknown ones, also in branches that no row takes.

One namespace per case over one per file over the language's words. A name of a case may hide one of
the file or of the language; it may not be declared twice, nor be used above its declaration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Optional

from typing_extensions import assert_never

from mkeyspec.compiler.declarations import A_VALUE, DECLARED_BY, OBSERVED
from mkeyspec.compiler.meanings import Meanings
from mkeyspec.compiler.names import LANGUAGE, FileNames, Names
from mkeyspec.diagnostics.diagnostic import Diagnostics, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import DECLARING, declared, index_of, label_of, named, refs_of


def resolve(
    file: ast.File,
    library: Iterable[ast.Let],
    diagnostics: Diagnostics,
    verbs: frozenset[str],
    meanings: Optional[Meanings] = None,
) -> None:
    """Report every name of `file` that is unknown or declared twice. `library`: the `let`s of used files, then its
    own; `verbs`: of the statements of a case; `meanings`: gets what each name means."""
    lets = tuple(library)
    outer = FileNames(lets, diagnostics, meanings)
    for let in lets:
        outer.let(let)
        if let.name.span.source is file.source:
            outer.hides(let.name)
    unused: dict[ast.Name, int] = {}
    for case in file.cases:
        diagnostics.around = setups_of(case)
        for name in _Case(case, outer, diagnostics, verbs).check():
            unused[name] = unused.get(name, 0) + 1
        diagnostics.around = ()
    for name, count in unused.items():
        if count == sum(case.holds(name.span) for case in file.cases):  # of a setup: one case may use it, another not
            diagnostics.warning("MKS0610", f"`{name.text}` is never used", name.span, help="drop it")


def setups_of(case: ast.Case) -> tuple[tuple[Span, Note], ...]:
    """The setups that a case uses, each with the note that says where."""
    return tuple((one.setup.span, Note(f"case `{case.name.text}` uses it here", one.span)) for one in case.setups)


class _Case(Names):
    def __init__(self, case: ast.Case, file: FileNames, diagnostics: Diagnostics, verbs: frozenset[str]) -> None:
        super().__init__(diagnostics, {name.text: name.span for name in declared(case.body)}, file.meanings)
        self.case = case
        self.file = file
        self.verbs = verbs
        self.own: dict[str, Span] = {}
        self.used: set[str] = set()
        self.outer: dict[str, Span] = {}
        """Names of the file or the language that a function of this case uses: no name may hide them afterwards."""
        self.of_turns: dict[str, Span] = {}
        """Names that the lines of a `repeat` above declare; those of another one may be the same."""
        self.in_turn = False
        self.watched: list[ast.Name] = []
        """`let` and `for` names: unused ones are worth a warning."""

    def check(self) -> Iterator[ast.Name]:
        """The `let` and `for` names that nothing uses."""
        for need in self.case.needs:
            match need:
                case ast.Binary() | ast.Unary(operand=ast.Binary()) if self.case.span.holds(need.span):
                    self.need(need)  # one of the file is read among its names
        self.statements(self.case.body, False)
        for name in self.watched:
            if name.text not in self.used:
                yield name

    def need(self, expr: ast.Expr) -> None:
        """A need applies to the whole case: no name of its rows is known there."""
        rows = {ref.span.start: ref for ref in refs_of(expr) if ref.name in self.later}
        for ref in rows.values():
            self.used.add(ref.name)
            self.diagnostics.error(
                "MKS0208",
                f"`{ref.name}` is of a row, and `needs` is of the whole case",
                ref.span,
                notes=(Note("declared here", self.later[ref.name]),),
                help="a number, or a `let` of the file; where rows have other needs, write a case for each",
            )
        if not rows:
            self.expr(expr)

    # Names -----------------------------------------------------------------------------------

    def known(self, name: str) -> bool:
        if name in self.own:
            self.used.add(name)
            return True
        return name in self.file.names or name in LANGUAGE

    def place(self, name: str) -> Optional[Span]:
        return self.own.get(name) or self.file.place(name)

    def all_known(self) -> frozenset[str]:
        return LANGUAGE | self.file.names.keys() | self.own.keys()

    def unknown(self, ref: ast.Ref, local: frozenset[str]) -> None:
        self.used.add(ref.name)
        if ref.name in self.of_turns:
            self.diagnostics.error(
                "MKS0227",
                f"`{ref.name}` is of one turn of the `repeat`, and is not known below it",
                ref.span,
                notes=(Note("declared here, anew in each turn", self.of_turns[ref.name]),),
                help="use it in the `repeat`; or declare it above, once",
            )
            return
        super().unknown(ref, local)

    def declare(self, name: ast.Name) -> None:
        first = self.own.get(name.text)
        if first is None and not self.in_turn:
            first = self.of_turns.get(name.text)
        if first is not None:
            self.twice(name.text, name.span, first)
        elif name.text in self.outer:
            self.diagnostics.error(
                "MKS0203",
                f"`{name.text}` has meant something else further up",
                name.span,
                notes=(Note("a function of this case uses it with the other meaning", self.outer[name.text]),),
                help="rename it",
            )
        self.hides(name)
        self.own.setdefault(name.text, name.span)
        if self.meanings is not None:
            self.meanings.declare(name.span, first)

    # Statements ------------------------------------------------------------------------------

    def statements(self, statements: Iterable[ast.Statement], lines: bool) -> None:
        """`lines`: of a step's braces, where `dek d` is a field and declares nothing."""
        for statement in statements:
            match statement:
                case ast.Step():
                    self.step(statement, lines)
                case ast.Let():
                    self.let(statement)
                case ast.For():
                    for item in statement.items:
                        self.texts = ast.items_of(item.value)
                        self.expr(item.value)
                    self.texts = ()
                    for name in statement.names:
                        self.declare(name)
                        self.watched.append(name)
                case ast.Where():
                    self.expr(statement.condition)
                case ast.Expect():
                    self.declaring = OBSERVED
                    self.expr(statement.condition)
                    self.declaring = A_VALUE
                    self.outcome_of(statement.branch)
                    self.known_departure(statement.known)
                case ast.If():
                    self.branches(statement, lines)
                case ast.Repeat():
                    self.repeat(statement)
                case _:
                    assert_never(statement)

    def branches(self, statement: ast.If, lines: bool) -> None:
        """Both branches may declare the same name, since a row takes one of them."""
        self.expr(statement.condition)
        before = self.own.copy()
        self.statements(statement.then.lines, lines)
        if statement.orelse is None:
            return
        then = self.own
        self.own = before
        self.statements(statement.orelse.lines, lines)
        self.own = {**then, **self.own}

    def repeat(self, statement: ast.Repeat) -> None:
        """What the lines declare is known in them alone."""
        sentence = statement.sentence
        self.expr(sentence.operand)
        before, self.in_turn = self.own.copy(), True
        for phrase in sentence.phrases:
            name = label_of(phrase)
            if name is not None:
                self.declare(name)
                self.watched.append(name)
        self.statements(statement.lines, False)
        gone = {name: place for name, place in self.own.items() if name not in before}
        self.own, self.in_turn = before, False
        self.of_turns.update(gone)

    def let(self, let: ast.Let) -> None:
        self.function(let)
        if let.parameters is not None:
            parameters = frozenset(parameter.text for parameter in let.parameters)
            for ref in refs_of(let.value, parameters):
                if ref.name not in self.own:
                    self.outer.setdefault(ref.name, ref.span)
        self.declare(let.name)
        self.watched.append(let.name)

    def step(self, step: ast.Step, line: bool) -> None:
        verb = step.verb.text
        operand = step.operand
        if not line and verb not in self.verbs:
            self.unread(step)
            return
        new: Optional[ast.Name] = None
        if verb == "record":
            operand = None
        elif verb in DECLARING and not line:
            new = named(operand)
            operand = operand if new is None else index_of(operand)
        self.declaring = DECLARED_BY.get((verb, "")) or A_VALUE
        self.expr(operand)
        labels: list[ast.Name] = []
        for phrase in step.phrases:
            label = label_of(phrase)
            if label is not None:
                labels.append(label)
            else:
                self.declaring = DECLARED_BY.get((verb, phrase.preposition.text)) or A_VALUE
                self.expr(phrase.value)
        self.declaring = A_VALUE
        self.expr(step.value)
        self.modifiers(step.modifiers)
        if step.block is not None:
            self.statements(step.block.lines, True)
        if new is not None:
            self.declare(new)
            self.kinds.setdefault(new.text, verb)
        for label in labels:
            self.declare(label)
        if step.claim is not None:
            for outcome in step.claim.outcomes:
                self.outcome(outcome)
            self.expr(step.claim.when)
        self.outcome_of(step.branch)
        self.known_departure(step.known)

    def unread(self, step: ast.Step) -> None:
        """A statement whose verb does not exist: it may declare a name, and its other names are not looked up."""
        name = named(step.operand)
        if name is not None and not self.known(name.text):
            self.own[name.text] = name.span
            self.used.add(name.text)
        for expr in (step.operand, step.value, *(phrase.value for phrase in step.phrases)):
            if expr is not None:
                self.used.update(ref.name for ref in refs_of(expr))

    def outcome_of(self, branch: Optional[ast.Branch]) -> None:
        if branch is not None:
            self.expr(ast.Ref(branch.label.span, branch.label.text))

    def modifiers(self, modifiers: Iterable[ast.Modifier]) -> None:
        for modifier in modifiers:
            self.declaring = DECLARED_BY.get(("", modifier.name.text)) or A_VALUE
            self.expr(modifier.value)
        self.declaring = A_VALUE

    def outcome(self, outcome: ast.Outcome) -> None:
        match outcome:
            case ast.Rejected():
                self.expr(outcome.reason)
            case ast.Completes():
                self.statements(outcome.block.lines, True)
            case ast.Accepted():
                pass
            case _:
                assert_never(outcome)

    def known_departure(self, known: Optional[ast.Known]) -> None:
        if known is None:
            return
        if known.outcome is not None:
            self.outcome(known.outcome)
        self.expr(known.value)
        self.modifiers(known.modifiers)
        self.expr(known.when)
