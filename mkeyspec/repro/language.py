"""What a language has to say, so that a row is written in it. `c.language` and `python.language` say it.

The writer (`writer`, `statements`, `sections`, `completions`, `expect`) knows which statement comes when, and what each
must show. A language prints calls, conditions, tables of bytes and objects. Expressions are strings of that language.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mkeyspec import plan
from mkeyspec.repro import calls
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import LiveString

if TYPE_CHECKING:
    from mkeyspec.repro.program import Program

Member = tuple[str, object]
"""A member of a struct, or an argument with a name: an expression (str), a bool, or names of statuses (`Statuses`)."""


class Statuses(NamedTuple):
    """Statuses of completions, as the pages call them in lower case without IBV_WC_."""

    names: Sequence[str]
    any_error: bool = False


class Wanted(NamedTuple):
    """Bytes as an expression, and a mask of their bits, or ""; no `data`: what is kept (`unchanged`)."""

    data: str = ""
    mask: str = ""
    length: int = 0


class Piece(NamedTuple):
    """`length` bytes of the buffer `name` from `start`; `at`: where they are in what is compared."""

    name: str
    start: int
    length: int
    at: int


class TooLong(Exception):
    """More bytes of tables than `MOST`."""


MOST = 4 << 20
"""Bytes of tables in one program."""


class Language(ABC):
    """One language, for one program."""

    name: str
    indent: str
    depth: int
    """How far the statements of a row are indented."""
    end: str
    """What ends a statement."""
    of: str
    """What stands between a pointer and its member."""
    login_told: str
    """The state that the query of a login told."""
    either: str
    both: str
    pause: str
    """A statement that waits 5 ms."""
    cancel_errno: str
    """Of `result`, a count or a negative errno: the errno, or 0."""
    cancel_result: str
    """The same with a negative errno."""
    snapshots: dict[str, str]
    """Of each snapshot, by its name in the case: the variable that holds its bytes."""

    # Lines -----------------------------------------------------------------------------------

    @abstractmethod
    def comment(self, text: str) -> str: ...

    @abstractmethod
    def opening(self, condition: str, *, short: bool) -> str:
        """The line before what is done on a condition; `short`: it is one statement."""

    closing: str
    """The line after it, or ""."""
    other: str
    """The line before what is done otherwise."""

    # Expressions -----------------------------------------------------------------------------

    @abstractmethod
    def boolean(self, value: bool) -> str: ...

    @abstractmethod
    def negated(self, condition: str) -> str:
        """Of one name or call, or of what stands in brackets."""

    @abstractmethod
    def place(self, name: str) -> str:
        """An object that a function is given."""

    @abstractmethod
    def string(self, text: str) -> str: ...

    @abstractmethod
    def number(self, value: int) -> str: ...

    @abstractmethod
    def device_number(self, name: str) -> str:
        """A number that the device tells of itself."""

    @abstractmethod
    def query_of(self, name: str) -> str:
        """The condition that a device has a capability; "" where only making an object tells."""

    @abstractmethod
    def opcode(self, name: str) -> str: ...

    @abstractmethod
    def status(self, name: str) -> str:
        """enum ibv_wc_status."""

    @abstractmethod
    def errno(self, number: int) -> str: ...

    @abstractmethod
    def errno_named(self, name: str) -> str: ...

    def call(self, name: str, *arguments: object) -> str:
        """A call of a function of the program."""
        return f"{name}({', '.join(str(one) for one in arguments)})"

    @abstractmethod
    def result_is(self, line: int, call: str, value: str, *, may_succeed: bool, errnos: Sequence[int]) -> str: ...

    @abstractmethod
    def completes(self, line: int, queue: str, members: Sequence[Member]) -> str: ...

    @abstractmethod
    def took(self, number: int) -> str:
        """The statement that keeps the last completion as that of this number."""

    @abstractmethod
    def expect(self, line: int, condition: str, what: str, got: str) -> str: ...

    @abstractmethod
    def compared(self, got: str, operator: str, expected: str) -> str:
        """Two numbers."""

    # Bytes -----------------------------------------------------------------------------------

    @abstractmethod
    def data(self, value: ByteString) -> str:
        """An expression of these bytes."""

    @abstractmethod
    def table(self, data: bytes) -> str:
        """An expression of these bytes, each written out."""

    @abstractmethod
    def live(self, data: LiveString) -> tuple[str, list[str]]:
        """Bytes of which some are of the device: an expression, and the statements before it."""

    @abstractmethod
    def snapshot(self, name: str, pieces: Sequence[Piece]) -> list[str]:
        """The statements that keep the bytes that are there."""

    @abstractmethod
    def put(self, name: str, start: str, data: str, length: int) -> str:
        """The host writes."""

    @abstractmethod
    def check(self, line: int, one: Piece, wanted: Wanted) -> str:
        """The bytes are these, or it fails."""

    @abstractmethod
    def holds(self, one: Piece, wanted: Wanted) -> str:
        """Whether the bytes are these."""

    # Objects and their calls ------------------------------------------------------------------

    @abstractmethod
    def pd(self, call: calls.NewPd) -> None: ...

    @abstractmethod
    def memory(self, call: calls.NewMemory) -> None: ...

    @abstractmethod
    def mkey(self, call: calls.NewMkey) -> None: ...

    @abstractmethod
    def pair(self, call: calls.NewPair) -> None: ...

    @abstractmethod
    def dct(self, call: calls.NewDct) -> None: ...

    @abstractmethod
    def dek(self, call: calls.NewDek) -> None: ...

    @abstractmethod
    def login(self, call: calls.NewLogin) -> None: ...

    @abstractmethod
    def query(self, name: str, step: plan.Query) -> None:
        """Ask a DEK for its state: `result`."""

    @abstractmethod
    def queried(self, step: plan.Query) -> list[str]:
        """The statements that compare what it told."""

    @abstractmethod
    def login_state(self, name: str | None, step: plan.LoginState) -> str:
        """Ask a login for its state: `result`; the condition that it is one of those of the step."""

    @abstractmethod
    def destroyed(self, call: calls.OfDek | calls.OfLogin | calls.DestroyMkey) -> str:
        """The expression of a call that destroys or logs out: 0 or an errno."""

    @abstractmethod
    def set_tag(self, name: str, tag: int) -> None:
        """Change the tag of an mkey's keys."""

    @abstractmethod
    def cancel(self, call: calls.CancelWr, wr_id: str) -> None:
        """`result`: the count, or a negative errno."""

    @abstractmethod
    def cancelled(self, variable: str) -> str:
        """The statement that keeps the count."""

    @abstractmethod
    def resume(self, pair: str) -> None: ...

    @abstractmethod
    def ask(self, name: str) -> None:
        """mlx5dv_mkey_check: `result`, and `told`."""

    @abstractmethod
    def record(self, kind: str, members: Sequence[tuple[str, int]]) -> str:
        """What mlx5dv_mkey_check may tell."""

    @abstractmethod
    def is_record(self, record: str) -> str: ...

    @abstractmethod
    def check_record(self, line: int, name: str, records: Sequence[str]) -> str: ...

    @abstractmethod
    def event(self, name: str) -> str:
        """enum ibv_event_type."""

    # Work ------------------------------------------------------------------------------------

    @abstractmethod
    def post(self, call: calls.Post, step: plan.Post | None) -> None:
        """Post a section: `result`."""

    @abstractmethod
    def post_recv(self, line: int, end: str, call: calls.PostRecv) -> str: ...

    # The whole -------------------------------------------------------------------------------

    @abstractmethod
    def departed(self, line: int, known: str) -> str:
        """The statement that says a known departure, after which the program goes on."""

    @abstractmethod
    def finish(self) -> Iterator[str]:
        """The last statements."""

    @abstractmethod
    def whole(self, program: Program, cut: str) -> str:
        """The program, once all of its lines are written."""
