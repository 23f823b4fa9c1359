"""Overrides (`but`): members of a struct that are wrong on purpose."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.device.protocol import NoSuchCall
from mkeyspec.run.case_state import CaseState


class Members:
    """Overrides (`but`) of one struct, evaluated; each must be taken by a member of that struct."""

    __slots__ = ("left",)

    def __init__(self, overrides: plan.Overrides, state: CaseState, of: str = "") -> None:
        """`of`: the kind of record, where two have a member of one name (`constants.MEMBER_BITS`)."""
        self.left = {name: state.member(value, name, of) for name, value in overrides} if overrides else None

    def take(self, name: str, otherwise: int) -> int:
        return otherwise if self.left is None else self.left.pop(name, otherwise)

    def retag(self, lkey: int, rkey: int) -> tuple[int, int]:
        """Both keys with the tag (lowest byte) of `but tag`, if there is one; it is then taken."""
        if self.left is None or "tag" not in self.left:
            return lkey, rkey
        tag = self.left.pop("tag")
        return lkey & ~0xFF | tag, rkey & ~0xFF | tag

    def done(self, what: str) -> None:
        if self.left:
            raise NoSuchCall(f"`but {next(iter(self.left))}` of {what}")
