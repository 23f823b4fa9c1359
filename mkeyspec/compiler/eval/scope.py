"""Names and what they mean: one namespace per case over one per file over the language's words.

A scope also has the known contents of the row that is being expanded, because a buffer used as bytes means its
expected content *at that point* (language reference, "Time").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Optional, Protocol, Union

from mkeyspec.compiler.eval.branches import Outcomes
from mkeyspec.compiler.eval.memo import Memo
from mkeyspec.compiler.eval.values import Moment, Reference, Value, WireRef
from mkeyspec.diagnostics.diagnostic import Diagnostic, Fault
from mkeyspec.diagnostics.limits import EVALUATION_STEPS
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import LiveContent


class Reads(NamedTuple):
    """Effects of evaluating expressions on the known contents: bytes of a `let` that are used, and bytes of a wire
    that no statement has checked."""

    saved: Mapping[str, Moment] = {}
    unseen: Mapping[str, Any] = {}


class Contents(Protocol):
    """The expected contents of every buffer, mkey and wire at this point of a row."""

    def content(self, of: Reference, span: Span) -> ByteString:
        """The expected bytes; raises `Fault` (at `span`) if they are unknown."""
        ...

    def then(self, of: Reference, moment: Moment, span: Span) -> Union[ByteString, LiveContent]:
        """The bytes that were there at a `let`, known now or by the rig."""
        ...

    def length(self, of: Reference) -> Optional[int]:
        """In bytes: of a buffer, of an mkey's layout, of what a transmit put on the wire; None: unknown or live."""
        ...

    def wire_place(self, of: WireRef, span: Span) -> tuple[str, int, int]:
        """The bytes of a wire that a reference means: its buffer, the first byte, how many."""
        ...

    def is_mkey(self, name: str) -> bool:
        """Whether the name is an mkey's."""
        ...

    def reads(self) -> Reads:
        """What expressions have looked at so far."""
        ...

    def restore_reads(self, reads: Reads) -> None:
        """Expressions that had looked at these are not evaluated again in this row."""
        ...


class NoLedger:
    """The contents if no buffer exists: for `let`s of a file."""

    def content(self, of: Reference, span: Span) -> ByteString:
        raise Fault(Diagnostic("MKS0302", "there are no buffers outside a case", span))

    def then(self, of: Reference, moment: Moment, span: Span) -> Union[ByteString, LiveContent]:
        return self.content(of, span)

    def length(self, of: Reference) -> Optional[int]:
        return None

    def wire_place(self, of: WireRef, span: Span) -> tuple[str, int, int]:
        raise Fault(Diagnostic("MKS0302", "there are no transmits outside a case", span))

    def is_mkey(self, name: str) -> bool:
        return False

    def reads(self) -> Reads:
        return Reads()

    def restore_reads(self, reads: Reads) -> None:
        """There is nothing to look at."""


ROW_STEPS = 200
"""Steps of evaluation that a row has for itself, besides those that a file has."""


class Budget:
    """The remaining steps of evaluation of a file; one for all of its scopes."""

    __slots__ = ("device_numbers", "left", "measured", "outcomes", "spent")

    def __init__(self, left: int = EVALUATION_STEPS.most) -> None:
        self.left = left
        self.outcomes = Outcomes()
        """Which way conditions went."""
        self.measured: dict[int, tuple[object, int, int]] = {}
        """Parts and depth of large values (`value_size`), by identity; the value is kept, so that it stays its own."""
        self.device_numbers = False
        """Whether the file reads a number that not every device reports: a need of the rows that use it."""
        self.spent: Optional[Diagnostic] = None
        """Where it was used up; reported once, though nothing can be evaluated after it."""

    def row(self) -> None:
        """A row is done: its steps are not counted, since the number of rows is limited."""
        self.left = min(self.left + ROW_STEPS, EVALUATION_STEPS.most)

    def spend(self, steps: int, span: Span) -> None:
        self.left -= steps
        if self.left < 0:
            if self.spent is None:
                self.spent = Diagnostic(EVALUATION_STEPS.code, EVALUATION_STEPS.broken(), span)
            raise Fault(self.spent)


class Scope:
    """Names of one level and the scope around it.

    `places` remembers where a name was declared, for notes; words of the language have no place.
    An inner scope sees everything declared around it, and keeps what is declared in it to itself.
    """

    __slots__ = ("around", "budget", "depth", "ledger", "memo", "names", "places")

    def __init__(self, around: Optional[Scope] = None, ledger: Optional[Contents] = None) -> None:
        self.names: dict[str, Value] = {}
        self.places: dict[str, Span] = {}
        self.around = around
        self.depth: int = around.depth if around is not None else 0
        self.budget: Budget = around.budget if around is not None else Budget()
        self.memo: Optional[Memo] = around.memo if around is not None else None
        """Values that the rows of the case share; None: expressions are evaluated each time."""
        self.ledger: Contents = ledger if ledger is not None else around.ledger if around is not None else NoLedger()

    def inner(self, ledger: Optional[Contents] = None) -> Scope:
        return Scope(self, ledger)

    def bind(self, name: str, value: Value, place: Optional[Span] = None) -> None:
        """Declare `name` here; `place` is where the case declares it."""
        self.names[name] = value
        if place is not None:
            self.places[name] = place

    def leave(self, until: Optional[Scope] = None) -> None:
        """Nothing is evaluated here any more, nor in the scopes around this one up to `until`, which stays.

        A function and the scope that declares it hold each other, and with them all values of a row. Only the
        collector would free them.
        """
        scope: Optional[Scope] = self
        while scope is not None and scope is not until:
            scope.names.clear()
            scope = scope.around

    def find(self, name: str) -> Value:
        """The meaning of `name`; KeyError where it has none (`None` is a meaning: the word `none`)."""
        scope: Optional[Scope] = self
        while scope is not None:
            names = scope.names
            if name in names:
                return names[name]
            scope = scope.around
        raise KeyError(name)

    def place(self, name: str) -> Optional[Span]:
        """Where the nearest `name` was declared; None for a word of the language or an unknown name."""
        scope: Optional[Scope] = self
        while scope is not None:
            if name in scope.names:
                return scope.places.get(name)
            scope = scope.around
        return None

    def hidden_place(self, name: str) -> Optional[Span]:
        """Where another `name` was declared, that the nearest one hides; None if there is none."""
        nearest = self.place(name)
        scope: Optional[Scope] = self
        while scope is not None:
            place = scope.places.get(name)
            if nearest is not None and place is not None and place != nearest:
                return place
            scope = scope.around
        return None

    def called(self, value: Value) -> Optional[str]:
        """The nearest name that means `value`; None if nothing is called so."""
        scope: Optional[Scope] = self
        while scope is not None:
            for name, meaning in scope.names.items():
                if type(meaning) is type(value) and meaning == value and self.find(name) is meaning:
                    return name
            scope = scope.around
        return None

    def all_names(self) -> set[str]:
        """Every name that has a meaning here, for "did you mean"."""
        found: set[str] = set()
        scope: Optional[Scope] = self
        while scope is not None:
            found.update(scope.names)
            scope = scope.around
        return found
