"""Steps with the numbers of the device in the place of live ones, for the rules of the pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from operator import is_not
from typing import Any, Protocol, TypeVar

from mkeyspec import plan
from mkeyspec.run.case_state import NAMES, CaseState
from mkeyspec.value.live import Int, Live, LiveOp, Read, evaluate, is_known, lives_in

T = TypeVar("T")


class Judge(Protocol):
    """Tells of each step of a row, in order, what is wrong with it when its numbers are known; "" if nothing is."""

    def take(self, step: plan.Step) -> str: ...


Rules = Callable[[], Judge]
"""Makes the judge of a row."""


class NoJudge:
    """Finds nothing."""

    def take(self, step: plan.Step) -> str:
        return ""


_OUTCOMES = frozenset({"claim", "known", "origin"})
"""Members of steps that say what must come of them."""

_PLAIN = frozenset({bool, bytes, int, str, type(None), plan.At})
"""Classes of members that have no live number in them: most of what a step is made of."""


def resolved(step: plan.Step, state: CaseState) -> plan.Step:
    """The step as it is carried out now. Raises what reading a number raises."""
    match step:
        case plan.Mkey(name=name) if name in state.mkeys:
            granted = state.mkeys[name].handle.max_entries
            asked = _known(step.entries, state.read)
            return replace(step, entries=max(granted, asked) if is_known(asked) else asked)
        case plan.Qp(name=name) if name in state.pairs:
            # The room of a configuration follows from what was granted (X-LIM-01).
            granted = state.pairs[name].handle.owner.max_inline_data
            members = [member for member in step.members if member[0] != "max_inline_data"]
            return replace(step, members=(*members, ("max_inline_data", granted)))
        case plan.Mkey() | plan.Post() | plan.Transmit() | plan.Receive() | plan.Recv():
            return _resolve(step, state.read)
        case _:
            return step


def _resolve(value: T, read: Read) -> T:
    """`value` with its live numbers read; the same object where it has none."""
    found: Any = value
    match value:
        case Live() | LiveOp():
            found = _known(value, read)
        case tuple() if type(value) is tuple:
            items = tuple([one if type(one) in _PLAIN else _resolve(one, read) for one in value])
            found = items if any(map(is_not, items, value)) else value
        case _:
            changes: dict[str, Any] = {}
            for name in _members(type(found)):
                old = getattr(value, name)
                new = old if type(old) in _PLAIN else _resolve(old, read)
                if new is not old:
                    changes[name] = new
            found = replace(found, **changes) if changes else value
    return found  # type: ignore[no-any-return]  # of the same kind


_MEMBERS: dict[type[Any], tuple[str, ...]] = {}


def _members(kind: type[Any]) -> tuple[str, ...]:
    """The members of values of a class that may hold a live number."""
    found = _MEMBERS.get(kind)
    if found is None:
        members = fields(kind) if is_dataclass(kind) else ()
        found = tuple(member.name for member in members if member.init and member.name not in _OUTCOMES)
        _MEMBERS[kind] = found
    return found


def _known(value: Int, read: Read) -> Int:
    return (
        evaluate(value, read) if all(live.member.partition("~")[0] not in NAMES for live in lives_in(value)) else value
    )
