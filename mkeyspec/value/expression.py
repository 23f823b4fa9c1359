"""How a value is written down: `repr` is the constructor call that makes it again."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, ClassVar

_MEMBERS: dict[type[Any], tuple[tuple[str, object], ...]] = {}


def _members(cls: type[Any]) -> tuple[tuple[str, object], ...]:
    """Name and default of each constructor argument of a dataclass, in order."""
    found = _MEMBERS.get(cls)
    if found is None:
        found = _MEMBERS[cls] = tuple((member.name, member.default) for member in fields(cls) if member.init)
    return found


def written(value: object, hexadecimal: bool = False) -> str:
    """`value` as Python source. Enum members are written as their number, since only class names are in scope."""
    if isinstance(value, int) and not isinstance(value, bool):
        number = int(value)
        return hex(number) if hexadecimal and number > 9 else str(number)
    if type(value) is tuple:
        items = [written(item, hexadecimal) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    return repr(value)


class Expression:
    """Base of all values: a dataclass whose `repr` is positional and leaves out trailing defaults."""

    __slots__ = ()

    hexadecimal: ClassVar[frozenset[str]] = frozenset()
    """Members that are masks, seeds, tags or keys, and are written in base 16."""

    def inside(self) -> tuple[object, ...]:
        """The values that it is made of, of those that may be large."""
        return ()

    def __repr__(self) -> str:
        members = _members(type(self))
        values = [getattr(self, name) for name, _ in members]
        count = len(members)
        while count and members[count - 1][1] is not MISSING and values[count - 1] == members[count - 1][1]:
            count -= 1
        texts = (written(values[i], members[i][0] in self.hexadecimal) for i in range(count))
        return f"{type(self).__name__}({', '.join(texts)})"
