"""Numbers that only a device knows, with the way to compute them: an address, a key, the number of a QP.

A `Symbol` is an int, the one of the recorded run. Arithmetic with it gives a Symbol, so that the rig computes with it
as with any number, and what arrives in a call can be written into a program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar, Union

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Leaf:
    """`member` of the object `of`, which has this `kind`: buffer, mkey, pair, dct, wc, device, variable, number."""

    kind: str
    of: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class Term:
    """`operator` as C and Python write it (`/` of whole numbers), on one number or two."""

    operator: str
    args: tuple[Union[int, Symbol], ...]


def _binary(operator: str, compute: Callable[[int, int], int]) -> tuple[Any, Any]:
    def forward(self: Symbol, other: object) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        return Symbol(compute(int(self), int(other)), _sum(operator, self, other))

    def backward(self: Symbol, other: object) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        if operator == "+":
            return forward(self, other)
        return Symbol(compute(int(other), int(self)), Term(operator, (other, self)))

    return forward, backward


def _sum(operator: str, left: Symbol, right: int) -> Union[Leaf, Term]:
    """A sum with a number: numbers are added up, as those of an address are."""
    if operator not in "+-" or isinstance(right, Symbol):
        return Term(operator, (left, right))
    more = right if operator == "+" else -right
    match left.term:
        case Term("+", (first, second)) if not isinstance(second, Symbol) and isinstance(first, Symbol):
            more, left = more + second, first
        case _:
            pass
    return Term("+", (left, more)) if more else left.term


class Symbol(int):
    """A number with the way to compute it."""

    term: Union[Leaf, Term]

    def __new__(cls, value: int, term: Union[Leaf, Term]) -> Symbol:
        made = super().__new__(cls, value)
        made.term = term
        return made

    __add__, __radd__ = _binary("+", lambda a, b: a + b)
    __sub__, __rsub__ = _binary("-", lambda a, b: a - b)
    __mul__, __rmul__ = _binary("*", lambda a, b: a * b)
    __floordiv__, __rfloordiv__ = _binary("/", lambda a, b: a // b)
    __mod__, __rmod__ = _binary("%", lambda a, b: a % b)
    __and__, __rand__ = _binary("&", lambda a, b: a & b)
    __or__, __ror__ = _binary("|", lambda a, b: a | b)
    __xor__, __rxor__ = _binary("^", lambda a, b: a ^ b)
    __lshift__, __rlshift__ = _binary("<<", lambda a, b: a << b)
    __rshift__, __rrshift__ = _binary(">>", lambda a, b: a >> b)

    def __neg__(self) -> Symbol:
        return Symbol(-int(self), Term("-", (self,)))

    def __invert__(self) -> Symbol:
        return Symbol(~int(self), Term("~", (self,)))

    def __reduce__(self) -> Any:
        return int, (int(self),)


def plain(value: T) -> T:
    """The same value with plain numbers, for a device that computes with them a lot."""
    result: Any = value
    if isinstance(value, Symbol):
        result = int(value)
    elif isinstance(value, tuple):
        result = tuple(plain(one) for one in value)
    elif is_dataclass(value) and not isinstance(value, type):
        result = type(value)(*[plain(getattr(value, member.name)) for member in fields(value)])
    return result  # type: ignore[no-any-return]
