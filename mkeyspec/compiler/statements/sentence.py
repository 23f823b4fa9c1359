"""Sentences: a statement, or a line in braces, with its parts by name."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.statements.shape import Place, Shape
from mkeyspec.diagnostics.diagnostic import Fault
from mkeyspec.diagnostics.source import Span
from mkeyspec.plan import At
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import named


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """A step whose parts are all known to its verb. `phrases` and `modifiers` are by name, `but` in order."""

    node: ast.Step
    verb: Shape
    at: At
    phrases: dict[str, ast.Expr]
    modifiers: dict[str, ast.Modifier]
    but: tuple[ast.Modifier, ...]

    @property
    def span(self) -> Span:
        return self.node.span

    @property
    def operand(self) -> ast.Expr:
        """The operand of a verb that must have one."""
        operand = self.node.operand
        if operand is None:  # check_sentences has refused it
            raise AssertionError(f"{self.verb.name} without operand")
        return operand

    def value_of(self, name: str) -> ast.Expr | None:
        """The value after a modifier; None where the sentence lacks it."""
        modifier = self.modifiers.get(name)
        return None if modifier is None else modifier.value

    def new_name(self) -> ast.Name:
        """The name that the operand of a declaration (or of `record`) introduces."""
        operand = self.operand
        name = named(operand)
        if name is not None:
            return name
        what = "nothing" if self.verb.operand is None else self.verb.operand.what
        raise fault(
            "MKS0213",
            f"`{self.verb.name}` takes {what} here",
            operand.span,
            help=self.verb.example,
            page=self.verb.page,
        )


class Sentences:
    """The sentences of one case by their nodes, or what is wrong with one; all rows share it."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        # By identity: nodes are compared by value, which would walk their whole text.
        self._found: dict[int, tuple[ast.Step, Sentence | Fault]] = {}

    def put(self, node: ast.Step, shape: Shape) -> None:
        """Node has the parts that `shape` says."""
        location = node.span.source.location(node.span.start)
        sentence = Sentence(
            node,
            shape,
            At(location.line, location.column),
            {phrase.preposition.text: phrase.value for phrase in node.phrases},
            {modifier.name.text: modifier for modifier in node.modifiers if not modifier.but},
            tuple(modifier for modifier in node.modifiers if modifier.but),
        )
        self._found[id(node)] = node, sentence

    def put_fault(self, node: ast.Step, wrong: Fault) -> None:
        self._found[id(node)] = node, wrong

    def read(self, node: ast.Step) -> Sentence:
        """The sentence of `node`. Raises `Fault` if its parts are wrong."""
        sentence = self._found[id(node)][1]
        if isinstance(sentence, Fault):
            raise sentence
        return sentence


def not_a_line(line: ast.Statement, place: Place) -> Fault:
    """A `let`, `for`, `where` or `expect` between braces."""
    word = type(line).__name__.lower()
    return fault(
        "MKS0215",
        f"`{word}` is not allowed in {place.name}",
        line.span,
        help=f"`{word}` belongs to the case's own lines; `if` and statements are allowed here",
    )
