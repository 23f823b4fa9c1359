"""What each rule is given: the step, the state before it, and where to report that the rule is broken."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.rules import RULES, BrokenRule
from mkeyspec.compiler.check.state import AbstractMkey, AbstractState, QpState
from mkeyspec.diagnostics.diagnostic import Note

UNRELIABLE = frozenset({"uc", "ud"})
"""QP types without acknowledgement: what the other end refuses it drops, and the request succeeds (IBTA 9.8.3)."""


class Context:
    """A step compared with the rules. `found`: those that it breaks, in order; `state`: what holds before it.

    The requests of a section share one `Context`, and each changes its state.
    """

    __slots__ = ("found", "origin", "peer", "qp", "state", "step")

    def __init__(self, state: AbstractState, step: plan.Step, origin: Origin, qp: QpState, peer: bool = False) -> None:
        self.state = state
        self.step = step
        self.origin = origin
        self.qp = qp
        self.peer = peer
        self.found: list[BrokenRule] = []

    @property
    def qp_name(self) -> str:
        """What the help calls the QP of the step: its name, or one for a QP that the case may declare."""
        return self.step.queue()[0] or "q"

    def broken(
        self,
        rule: str,
        message: str,
        thing: object,
        member: str = "",
        *,
        fallback: object = None,
        notes: tuple[Note, ...] = (),
        help: str = "",
        by_but: bool = False,
        definite: bool = True,
        reason: str | None = None,
        phases: tuple[str, ...] | None = None,
    ) -> None:
        """Record that `rule` is broken at `member` of `thing`. `phases`: if narrower than the rule's.

        The responder of an unreliable connection drops what it refuses, and the requester's completion is a success
        (IBTA 9.8.3). Such a rule has no effect there.
        """
        dropped = reason == "remote_access" and self.qp.type in UNRELIABLE
        span = self.origin.get(thing, member, self.step if fallback is None else fallback)
        row = RULES[rule] if phases is None else RULES[rule]._replace(phases=phases)
        certain = definite and not dropped
        self.found.append(
            BrokenRule(row, span, message, notes, help, by_but, certain, reason, None, dropped, not definite)
        )

    def origin_of(self, earlier: plan.Step | None) -> Origin:
        """The origin of an earlier step, whose parts are looked at here."""
        found = None if earlier is None else earlier.origin
        return found if isinstance(found, Origin) else self.origin

    def declared(self, name: str) -> tuple[Note, ...]:
        """A note that says where `name` was declared."""
        thing = self.state.things.get(name)
        if thing is None or thing.at is None:
            return ()
        return (Note(f"`{name}` is declared at {place(thing.at)}"),)

    def mkey(self, name: str) -> AbstractMkey | None:
        """The mkey of that name if it is one and was created; a name of another kind is for others to report."""
        return self.state.mkey(name)


def place(at: plan.At) -> str:
    """`12:5`, as the diagnostics write a place of the same file."""
    return f"{at}"


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 byte`, `2 bytes`, `4 entries`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
