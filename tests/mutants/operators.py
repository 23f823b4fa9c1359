"""What may be changed in Python: cosmic-ray's operators but some, and two of our own with the same interface."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

from cosmic_ray.ast import get_ast
from cosmic_ray.operators.provider import OperatorProvider

Span = tuple[tuple[int, int], tuple[int, int]]
"""Line, from 1, and column, from 0, of where it begins and where it ends."""

LEFT_OUT = re.compile(
    r"""ReplaceComparisonOperator_( # equal and identical are one for members of an enumeration, None and small numbers
            Eq_Is | Is_Eq | NotEq_IsNot | IsNot_NotEq )
      | VariableReplacer | VariableInserter # ask for names, and draw numbers with no seed""",
    re.VERBOSE,
)


class Operator(Protocol):
    """As cosmic_ray.operators.operator.Operator has it."""

    def mutation_positions(self, node: Any) -> Iterator[Span]: ...

    def mutate(self, node: Any, index: int) -> Any: ...


class RemoveStatement:
    """A call whose result nobody takes, an assignment with an operator, or a `raise` is left out."""

    def mutation_positions(self, node: Any) -> Iterator[Span]:
        if node.type == "simple_stmt" and self._goes(node.children[0]):
            yield (node.start_pos, node.children[0].end_pos)

    def mutate(self, node: Any, index: int) -> Any:
        nothing = get_ast("pass").children[0]
        nothing.get_first_leaf().prefix = node.children[0].get_first_leaf().prefix
        node.children[0] = nothing
        return node

    def _goes(self, statement: Any) -> bool:
        if statement.type == "expr_stmt":
            return (
                str(statement.children[1].get_code()).strip() not in ("=", ":")
                and statement.children[1].type != "annassign"
            )
        if statement.type == "atom_expr":
            return str(statement.children[-1].get_code()).startswith("(")
        return bool(statement.type == "raise_stmt")


class ReplaceInWithNotIn:
    """`in` becomes `not in`. A `not in` is a comparison too, and cosmic-ray changes neither."""

    def mutation_positions(self, node: Any) -> Iterator[Span]:
        if node.type == "comparison":
            for word in node.children[1::2]:
                if word.type == "keyword" and word.value == "in":
                    yield (word.start_pos, word.end_pos)

    def mutate(self, node: Any, index: int) -> Any:
        words = [word for word in node.children[1::2] if word.type == "keyword" and word.value == "in"]
        words[index].value = "not in"
        return node


@cache
def operators() -> dict[str, Operator]:
    """Each by its name."""
    provider = OperatorProvider()
    theirs = {name: provider[name]() for name in provider if not LEFT_OUT.fullmatch(name)}
    return {**theirs, "RemoveStatement": RemoveStatement(), "ReplaceInWithNotIn": ReplaceInWithNotIn()}
