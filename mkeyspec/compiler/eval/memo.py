"""Values of expressions that the rows of a case share: what depends on the same values is evaluated once.

Only expressions of which every name means a plain value are kept: what is declared in a row (a buffer, an mkey, a
label) and `wire` mean other bytes at each point of each row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mkeyspec.compiler.eval.values import Errno, Flags, Function, UserFunction, Value, Word
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import refs_of
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif

if TYPE_CHECKING:
    from mkeyspec.compiler.eval.scope import Scope

_PLAIN = frozenset({bool, int, str, type(None), Word, Flags, Errno, Function, Range, Crc, T10Dif, Domain})
"""Kinds of values that mean the same at each point of each row. Byte strings and tuples of such values do too."""

_NEW = ("",)
"""In place of the names of an expression that were not collected yet."""

_MOST_ITEMS = 64
"""Items of a tuple that are looked at."""


class Memo:
    """Of one case; its scopes have it. Nodes and functions are known by their identity, and live as long as it."""

    __slots__ = ("_names", "_plain", "_values")

    def __init__(self) -> None:
        self._names: dict[int, tuple[str, ...] | None] = {}
        """The names in an expression; None: one of them means something that differs from point to point."""
        self._plain: dict[int, tuple[UserFunction, bool]] = {}
        """Whether all names in a function mean plain values."""
        self._values: dict[tuple[object, ...], tuple[list[Value], Value]] = {}
        """Values by the expression and what its names mean; those meanings are kept, so that their identity stays."""

    def clear(self) -> None:
        """The case is done. Functions that are kept hold scopes, which hold this: only the collector would free it."""
        self._plain.clear()
        self._values.clear()

    def value(self, expr: ast.Expr, scope: Scope, evaluate: Callable[[Any, Scope], Value]) -> Value:
        """The value of `expr` in `scope`, by `evaluate` if it is new; raises what that raises."""
        known = id(expr)
        names = self._names.get(known, _NEW)
        if names is _NEW:
            names = self._names[known] = tuple(dict.fromkeys([ref.name for ref in refs_of(expr)]))
        if names is None:
            return evaluate(expr, scope)
        key: tuple[object, ...] = (known,)
        meanings: list[Value] = []
        for name in names:
            try:
                meaning = scope.find(name)
            except KeyError:
                return evaluate(expr, scope)
            if type(meaning) is int:
                # Equal numbers are one meaning, though not one object; a tuple is never the identity of another.
                key += ((meaning,),)
                continue
            if type(meaning) not in _PLAIN and not self._is_plain(meaning):
                self._names[known] = None
                return evaluate(expr, scope)
            meanings.append(meaning)
            key += (id(meaning),)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = (meanings, evaluate(expr, scope))
        return found[1]

    def _is_plain(self, value: Value) -> bool:
        if type(value) in _PLAIN or isinstance(value, ByteString):
            return True
        if type(value) is tuple:
            return len(value) <= _MOST_ITEMS and all(self._is_plain(item) for item in value)
        return isinstance(value, UserFunction) and self._is_plain_function(value)

    def _is_plain_function(self, function: UserFunction) -> bool:
        known = self._plain.get(id(function))
        if known is None:
            known = self._plain[id(function)] = (function, self._has_plain_names(function))
        return known[1]

    def _has_plain_names(self, function: UserFunction) -> bool:
        try:
            names = {ref.name for ref in refs_of(function.body)}.difference(function.parameters)
            return all(self._is_plain(function.scope.find(name)) for name in names)
        except KeyError:
            return False
