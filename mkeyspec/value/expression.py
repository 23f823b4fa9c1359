"""The text form of a value: `repr` is the constructor call that makes it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from enum import IntEnum, IntFlag
from functools import cache
from typing import Any, ClassVar

from mkeyspec.abi.constants import ONES, Access, BgType, CrcType, CryptoOrder, MkeyFlag, QpOps, T10difFlag

_MEMBERS: dict[type[Any], tuple[tuple[str, object], ...]] = {}


def _members(cls: type[Any]) -> tuple[tuple[str, object], ...]:
    """Name and default of each constructor argument of a dataclass, in order."""
    found = _MEMBERS.get(cls)
    if found is None:
        found = _MEMBERS[cls] = tuple((member.name, member.default) for member in fields(cls) if member.init)
    return found


Style = str
"""How a number is written: `PLAIN`, `HEX`, `SEED`, or the name of one of `ENUMS`."""

PLAIN: Style = ""
HEX: Style = "hex"
SEED: Style = "seed"
"""As `HEX`, and all ones by name."""

ENUMS: Mapping[Style, type[IntEnum] | type[IntFlag]] = {
    one.__name__: one for one in (Access, BgType, CrcType, CryptoOrder, MkeyFlag, QpOps, T10difFlag)
}
"""The enums of the pages whose members are written by name."""


def number(value: int, style: Style) -> str:
    """A number as Python source. Members of an enum, and `ONES_32`, are names of `mkeyspec.runtime`."""
    enum = ENUMS.get(style)
    if enum is not None and value > -1:
        return _by_name(enum, value)
    if style == SEED and value in ONES:
        return ONES[value]
    return hex(value) if style in (HEX, SEED) and value > 9 else str(int(value))


@cache
def _by_name(enum: type[IntEnum] | type[IntFlag], value: int) -> str:
    """A member, or flags joined by `|`; what has no name stays a number."""
    if issubclass(enum, IntEnum):
        return next((f"{enum.__name__}.{one.name}" for one in enum if one == value), str(value))
    names = [f"{enum.__name__}.{one.name}" for one in enum if one & value]
    rest = value & ~sum(enum)
    return " | ".join(names + ([hex(rest) if rest > 9 else str(rest)] if rest or not names else []))


def written(value: object, style: Style = PLAIN) -> str:
    """`value` as Python source, its numbers in `style`."""
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
