"""Steps with the numbers of the device in the place of live ones, for the rules of the pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
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
            items = tuple([_resolve(one, read) for one in value])
            found = items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        case _ if is_dataclass(value):
            changes: dict[str, Any] = {}
            for member in fields(value):
                if member.init and member.name not in _OUTCOMES:
                    old = getattr(value, member.name)
                    new = _resolve(old, read)
                    if new is not old:
                        changes[member.name] = new
            found = replace(found, **changes) if changes else value
        case _:
            pass
    return found  # type: ignore[no-any-return]  # of the same kind


def _known(value: Int, read: Read) -> Int:
    return (
        evaluate(value, read) if all(live.member.partition("~")[0] not in NAMES for live in lives_in(value)) else value
    )
