"""A condition on one dimension: "kind=crc32", "block>=8"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mkeyspec.requirements.space import Fact, dimensions
from mkeyspec.sabotage.conditions.facts import Facts, some

_FORM = re.compile(r"([a-z_]+)(>=|=)(.+)")


class UnknownConditionError(ValueError):
    """Text that is not a condition; `str()` is one line."""


@dataclass(frozen=True, slots=True)
class Condition:
    dimension: str
    operator: str
    value: Fact

    def __str__(self) -> str:
        return f"{self.dimension}{self.operator}{self.value}"

    def holds_for(self, fact: Fact) -> bool:
        if self.operator == ">=":
            assert isinstance(fact, int)
            assert isinstance(self.value, int)
            return fact >= self.value
        return fact == self.value

    def holds(self, facts: Facts) -> bool:
        """For any of them."""
        return any(self.holds_for(fact) for fact in some(facts))

    @property
    def what(self) -> str:
        """In words: "only where block >= 8: which block of the message"."""
        operator = "is" if self.operator == "=" else "is at least"
        return f"only where {self.dimension} {operator} {self.value} ({dimensions()[self.dimension].what})"


def parse(text: str) -> Condition:
    """Raises UnknownConditionError."""
    found = _FORM.fullmatch(text)
    if found is None or found[1] not in dimensions():
        raise UnknownConditionError(f"{text!r} is not a condition on a dimension of requirements/space/dimensions.toml")
    dimension = dimensions()[found[1]]
    if dimension.values:
        if found[2] != "=" or found[3] not in dimension.values:
            raise UnknownConditionError(f"{text!r}: {dimension.name} is one of {', '.join(dimension.values)}")
        return Condition(dimension.name, "=", found[3])
    if not found[3].isdigit():
        raise UnknownConditionError(f"{text!r}: {dimension.name} is a number")
    return Condition(dimension.name, found[2], int(found[3]))
