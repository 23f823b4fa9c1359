"""How a fault is written for the model: a class that takes the place of one of the model's parts, under a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mkeyspec.device.model.components import PARTS
from mkeyspec.device.model.configuration import Builder
from mkeyspec.device.model.data_path import Movement
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.execution import Execution
from mkeyspec.device.model.key import KeyTable
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.section import DriverSection
from mkeyspec.device.model.signature import Arithmetic
from mkeyspec.device.model.transfer import Transfer
from mkeyspec.device.profile.profile import Profile

Class = TypeVar("Class", bound=type)

PLACES: dict[str, type] = {
    "arithmetic": Arithmetic, "table": KeyTable, "movement": Movement, "transfer": Transfer, "execution": Execution,
    "builder": Builder, "section": DriverSection, "queue": Queue,
}  # fmt: skip


@dataclass(slots=True)
class Faulty:
    """What is different about a model: faulty parts, by their place; the model itself; members of its profile."""

    parts: dict[str, Any] = field(default_factory=dict)
    model: type[Model] = Model
    profile: dict[str, Any] = field(default_factory=dict)

    def make(self, profile: Profile) -> Model:
        """The faulty model. Whoever judges it keeps the profile as it was."""
        wrong = replace(profile, **self.profile) if self.profile else profile
        return self.model(wrong, replace(PARTS, **self.parts))


FAULTY: dict[str, Faulty] = {}
"""By the catalogue's names; filled by the modules of this folder."""


def fault(name: str) -> Callable[[Class], Class]:
    """Put a faulty class in its place. Two classes of one name are one fault."""

    def put(cls: Class) -> Class:
        faulty = FAULTY.setdefault(name, Faulty())
        if issubclass(cls, Model):
            faulty.model = cls
            return cls
        for place, straight in PLACES.items():
            if issubclass(cls, straight):
                faulty.parts[place] = cls
                return cls
        raise TypeError(f"{cls.__name__} takes the place of nothing")

    return put


def profile(name: str, **members: Any) -> None:
    """A fault that is another answer to a point of the profile."""
    FAULTY.setdefault(name, Faulty()).profile.update(members)
