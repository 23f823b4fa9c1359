"""What must be known of a row before anything is put around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from random import Random

from mkeyspec import plan
from mkeyspec.abi.constants import QpOps
from mkeyspec.plan.claim import may_be_rejected
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Live

_EXACT = (plan.Poll, plan.Await, plan.Cancel, plan.Resume)
_DEFAULT_MEMBERS = frozenset({"max_send_sge", "max_recv_sge"})
PAIR = "other pair of qps"
"""What stands for the default pair of QPs: a name that the language can't write."""


class Row:
    """The steps of a row, and what several variations ask of them."""

    def __init__(self, steps: Sequence[plan.Step]) -> None:
        self.steps = tuple(steps)
        self.keys = {step.name: step for step in steps if isinstance(step, plan.Mkey)}
        self.memories = {step.name: step for step in steps if isinstance(step, plan.Memory)}
        self.qps = {step.name: step for step in steps if isinstance(step, plan.Qp)}
        self.refuses = any(may_be_rejected(getattr(step, "claim", ())) for step in steps)
        """Whether a claim names a refusal: what breaks a rule by its size must keep its size."""
        self.departs = any(getattr(step, "known", None) is not None for step in steps)
        self.read = frozenset(live.member for step in steps for live in _lives(step))
        """Members of live numbers: `max_entries`, `rkey`."""
        self.retags = any(isinstance(step, plan.Retag) for step in steps)
        self.exact = any(isinstance(step, _EXACT) for step in steps) or any(
            isinstance(step, plan.Post) and not step.wait for step in steps
        )
        """Whether completions are counted apart from the sections that they are of."""
        self.lists = any(one.listed() is not None for step in steps for one in getattr(step, "claim", ()))
        """Whether a claim lists completions."""
        self.signs = any(isinstance(one, plan.SetSignature) for one in self._setters())
        """Whether a signature is set."""
        self.repeats = not (self.refuses or self.departs or self.exact or self.lists) and not any(
            _looks_back(step) for step in steps
        )
        """Whether a transfer can be made twice: nothing is asked of how many there were, or of what was before one."""

    def is_usual(self, qp: str | None) -> bool:
        """Whether a pair of QPs is an RC pair with the room and the operations of the default one."""
        if qp is None or qp == PAIR:
            return True
        step = self.qps.get(qp)
        return step is not None and step.pd is None and {name for name, _ in step.members} <= _DEFAULT_MEMBERS

    def configures(self, qp: str | None) -> bool:
        """Whether the QP is made for mlx5dv_wr_mkey_configure."""
        step = self.qps.get(qp) if qp is not None else None
        operations = dict(step.members).get("send_ops") if step is not None else None
        return not isinstance(operations, int) or bool(operations & QpOps.MKEY_CONFIGURE)

    def _setters(self) -> Iterator[plan.Setter]:
        for step in self.steps:
            for request in step.requests if isinstance(step, plan.Post) else ():
                yield from request.setters if isinstance(request, plan.Configure) else ()

    def requests_of(self, *kinds: type[plan.Wr]) -> list[plan.Wr]:
        """The requests of these classes."""
        return [
            one for step in self.steps if isinstance(step, plan.Post) for one in step.requests if isinstance(one, kinds)
        ]


def _looks_back(step: plan.Step) -> bool:
    """Whether it looks at what was there before the last transfer, or at an error that is kept for an mkey."""
    if isinstance(step, plan.Check):
        return step.kind != ("ok",)
    if isinstance(step, plan.Expect):
        return any(isinstance(one, plan.Unchanged) for one in plan.alternatives_of(step.expected))
    return isinstance(step, plan.Snapshot)


def _lives(thing: object) -> Iterator[Live]:
    if isinstance(thing, Live):
        yield thing
    elif isinstance(thing, (tuple, list)):
        for one in thing:
            if not isinstance(one, (int, str, bytes)):
                yield from _lives(one)
    elif is_dataclass(thing) and not isinstance(thing, ByteString):
        for member in fields(thing):
            if member.name != "origin":
                value = getattr(thing, member.name)
                if not isinstance(value, (int, str, bytes)) and value is not None:
                    yield from _lives(value)


class Draw:
    """What the variations of one row draw from, and the objects that they share."""

    def __init__(self, row: Row, random: Random, offers: frozenset[str]) -> None:
        self.row = row
        self.random = random
        self.offers = offers
        self.notes: list[str] = []
        """What differs from the row's text, each as one phrase."""
        self.written = 0
        """WRITEs of other memory so far."""
        self.last: list[plan.Step] = []
        """What is expected at the end of the row of what was put around it."""
        self._made: dict[str, int] = {}
        self.shared: set[str] = set()

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def one(self, values: Sequence[int]) -> int:
        return self.random.choice(values)

    def name(self, what: str) -> str:
        """A name that the language can't write, so that it is nobody's."""
        number = self._made[what] = self._made.get(what, 0) + 1
        return f"other {what} {number}"

    def once(self, step: plan.Step) -> Iterable[plan.Step]:
        """The declaration of an object that several variations use, where it is not there yet."""
        name = getattr(step, "name", "")
        if name in self.shared:
            return ()
        self.shared.add(name)
        return (step,)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
