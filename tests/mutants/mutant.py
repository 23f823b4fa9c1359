"""A module with one change: where, what, and its text. Drawn by a seed."""

from __future__ import annotations

import ast
import difflib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from tests.mutants.operators import operators

ROOT = Path(__file__).resolve().parents[2]
LEAVES = ("name", "string", "newline", "endmarker", "fstring_string", "fstring_start", "fstring_end")
"""Kinds of nodes at which no operator changes anything; left out for speed alone."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """`module` from the root of the checkout. `inside` is the qualified name of the definition around it, or "". `was`
    and `becomes`: the lines that differ, without blanks at their ends."""

    module: str
    operator: str
    line: int
    column: int
    inside: str
    was: str
    becomes: str
    code: str = field(repr=False)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The same when the lines of the module move."""
        return (self.module, self.inside, self.was, self.becomes)

    def __str__(self) -> str:
        lines = [f"{self.module}:{self.line}: {self.operator} in {self.inside or 'the module'}"]
        lines += [f"    - {line}" for line in self.was.splitlines()]
        lines += [f"    + {line}" for line in self.becomes.splitlines()]
        return "\n".join(lines)


class Source:
    """A module as it is, with all that may be changed in it."""

    def __init__(self, module: str, text: str | None = None) -> None:
        self.module = module
        self.text = (ROOT / module).read_text("utf-8") if text is None else text

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def meaning(self) -> str:
        return meaning(self.text)

    @cached_property
    def places(self) -> dict[tuple[int, int], list[tuple[str, int]]]:
        """By line and column: operators, each with the number of its change in the module."""
        found: dict[tuple[int, int], list[tuple[str, int]]] = {}
        nodes = [node for node in ast_nodes(get_ast(self.text)) if node.type not in LEAVES]
        for name, operator in operators().items():
            number = 0
            for node in nodes:
                for start, _ in operator.mutation_positions(node):
                    found.setdefault(start, []).append((name, number))
                    number += 1
        return found

    def mutant(self, place: tuple[int, int], operator: str, number: int) -> Mutant | None:
        """None if the change is no Python, or means the same."""
        try:
            code = mutate_code(self.text, operators()[operator], number)
            if code is None or meaning(code) == self.meaning:
                return None
        except (SyntaxError, ValueError):
            return None
        was, becomes = _difference(self.text, code)
        return Mutant(self.module, operator, *place, _around(self.tree, place[0]), was, becomes, code)

    def drawn(self, chance: random.Random) -> Iterator[Mutant]:
        """At most one of each place, in an order by chance."""
        places = sorted(self.places)
        chance.shuffle(places)
        for place in places:
            found = self.mutant(place, *chance.choice(self.places[place]))
            if found is not None:
                yield found

    def all(self) -> Iterator[Mutant]:
        for place, changes in sorted(self.places.items()):
            for change in changes:
                found = self.mutant(place, *change)
                if found is not None:
                    yield found


def sample(modules: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """So many of the modules together, as many of each as of the others; a module with few gives the rest to others."""
    draws = [Source(module).drawn(random.Random(f"{seed} {module}")) for module in modules]
    random.Random(seed).shuffle(draws)
    found: list[Mutant] = []
    while draws and len(found) < number:
        for draw in list(draws):
            mutant = next(draw, None)
            if mutant is None:
                draws.remove(draw)
            elif len(found) < number:
                found.append(mutant)
    return sorted(found, key=lambda mutant: (mutant.module, mutant.line, mutant.column))


def meaning(code: str) -> str:
    """The syntax tree without what no test could see: annotations, which are never evaluated; `frozen`, `slots` and
    `strict`, which only forbid; decorators for the checker of types, and caches; and assertions and `assert_never`,
    which hold."""
    return ast.dump(_Plain().visit(ast.parse(code)))


class _Plain(ast.NodeTransformer):
    UNSEEN_DECORATORS = ("override", "final", "cache", "lru_cache", "overload")
    UNSEEN_ARGUMENTS = ("frozen", "slots", "strict")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        node.decorator_list = [each for each in node.decorator_list if _name(each) not in self.UNSEEN_DECORATORS]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [each for each in node.decorator_list if _name(each) not in self.UNSEEN_DECORATORS]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.keywords = [each for each in node.keywords if each.arg not in self.UNSEEN_ARGUMENTS]
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        is_never = isinstance(node.value, ast.Call) and _name(node.value) == "assert_never"
        return ast.Pass() if is_never else self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return ast.Pass()


def _name(decorator: ast.expr) -> str:
    while isinstance(decorator, ast.Call):
        decorator = decorator.func
    return decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")


def _around(tree: ast.Module, line: int) -> str:
    names: list[str] = []
    body: list[ast.stmt] = list(tree.body)
    while True:
        for node in body:
            if node.lineno <= line <= (node.end_lineno or node.lineno):
                break
        else:
            return ".".join(names)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        body = [child for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node]
        body = [child for child in body if child.lineno <= line <= (child.end_lineno or child.lineno)][:1]


def _difference(was: str, becomes: str) -> tuple[str, str]:
    lines = list(difflib.ndiff(was.splitlines(), becomes.splitlines()))
    return _of(lines, "- "), _of(lines, "+ ")


def _of(lines: Sequence[str], sign: str) -> str:
    return "\n".join(line[2:].strip() for line in lines if line.startswith(sign))


def listed_mutants(keys: Sequence[tuple[str, str, str, str]]) -> list[Mutant]:
    """Those that have a key of these; one that can't be made any more is not among them."""
    found: dict[tuple[str, str, str, str], Mutant] = {}
    for module in sorted({key[0] for key in keys}):
        source = Source(module)
        lines = source.text.splitlines()
        wanted = {line for key in keys if key[0] == module for line in key[2].splitlines()}
        for place, changes in sorted(source.places.items()):
            if lines[place[0] - 1].strip() not in wanted:
                continue
            for change in changes:
                mutant = source.mutant(place, *change)
                if mutant is not None and mutant.key in keys:
                    found.setdefault(mutant.key, mutant)
    return list(found.values())
