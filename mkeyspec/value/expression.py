"""How a value is written down: `repr` is the constructor call that makes it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, ClassVar

_MEMBERS: dict[type[Any], tuple[tuple[str, object], ...]] = {}


def _members(cls: type[Any]) -> tuple[tuple[str, object], ...]:
    """Name and default of each constructor argument of a dataclass, in order."""
    found = _MEMBERS.get(cls)
    if found is None:
        found = _MEMBERS[cls] = tuple((member.name, member.default) for member in fields(cls) if member.init)
    return found


Style = str
"""How a number is written: `PLAIN` or `HEX`."""

PLAIN: Style = ""
HEX: Style = "hex"


def number(value: int, style: Style) -> str:
    """A number as Python source."""
    return hex(value) if style == HEX and value > 9 else str(int(value))


def written(value: object, style: Style = PLAIN) -> str:
    """`value` as Python source. Enum members are written as their number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return number(value, style)
    if type(value) is tuple:
        items = [written(item, style) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    return repr(value)


class Expression:
    """Base of all values: a dataclass whose `repr` is positional and leaves out trailing defaults."""

    __slots__ = ()

    styles: ClassVar[Mapping[str, Style]] = {}
    """How the numbers of members are written, where not as plain decimals."""

    def inside(self) -> tuple[object, ...]:
        """The values that it is made of, of those that may be large."""
        return ()

    def __repr__(self) -> str:
        members = _members(type(self))
        values = [getattr(self, name) for name, _ in members]
        count = len(members)
        while count and members[count - 1][1] is not MISSING and values[count - 1] == members[count - 1][1]:
            count -= 1
        texts = (written(values[i], self.styles.get(members[i][0], PLAIN)) for i in range(count))
        return f"{type(self).__name__}({', '.join(texts)})"
