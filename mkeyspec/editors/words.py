"""The words of the language by what they are, from the tables that the compiler reads."""

from __future__ import annotations

from mkeyspec.compiler.eval.builtins import WORDS
from mkeyspec.compiler.eval.functions.table import FUNCTIONS
from mkeyspec.compiler.statements.check_shapes import BEGINNINGS
from mkeyspec.compiler.statements.registry import BODIES, PLACES
from mkeyspec.syntax.parser import reserved_words


def keywords() -> frozenset[str]:
    """Reserved words, and those that begin the lines of a head."""
    return reserved_words() | {word for word in BEGINNINGS if word.isidentifier()}


def verbs() -> frozenset[str]:
    """The words that statements begin with."""
    section = PLACES["section"]
    return frozenset(word for place in (*BODIES, section) for word in place.shapes) - keywords()


def fields() -> frozenset[str]:
    """The words that lines between braces begin with, and modifiers."""
    found = {word for place in PLACES.values() for word in place.shapes}
    found |= {word for place in PLACES.values() for shape in place.shapes.values() for word in shape.modifiers}
    return frozenset(found) - verbs() - keywords()


def functions() -> frozenset[str]:
    return frozenset(FUNCTIONS) - verbs() - fields()


def values() -> frozenset[str]:
    """The words that are values: flags, operations, statuses."""
    return frozenset(WORDS) - verbs() - fields() - functions() - keywords()


def classes() -> dict[str, frozenset[str]]:
    """Every word once, by its kind."""
    return {
        "keyword": keywords(),
        "verb": verbs(),
        "field": fields(),
        "function": functions(),
        "value": values(),
    }
