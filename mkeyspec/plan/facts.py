"""The facts about a step's class, which every pass reads."""

from __future__ import annotations

from typing import Optional

from mkeyspec.plan.location import Located
from mkeyspec.plan.request import Wr
from mkeyspec.plan.use import End


class Facts(Located):
    """The facts about a step's class that every pass reads. A subclass is a frozen dataclass."""

    __slots__ = ()

    def needs(self) -> tuple[str, ...]:
        """What a device must offer, by the names of `Capabilities.offers`: only what some device may lack."""
        return ()

    def ends(self) -> tuple[End, ...]:
        """The buffers and mkeys whose bytes its requests move, but for those of a receive that waits."""
        return ()

    def posted(self) -> tuple[Wr, ...]:
        """The requests that it posts by hand."""
        return ()

    def moves_data(self) -> bool:
        """Whether data may go over its QP."""
        return False

    def queue(self) -> tuple[Optional[str], bool]:
        """The end of a pair of QPs that it is about: the pair's name (None: the default one), and whether it is the
        peer's."""
        return None, False
