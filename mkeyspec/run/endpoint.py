"""QP pairs of a case: what was posted on each end, what it owes, and what came.

Every completion that arrives must be owed by a request, or be named by a claim. On each queue completions come in
the order of their requests (RC and UC promise it), so that the first debt is
the only one a completion may settle.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

from mkeyspec.device.protocol import Completion, QpAttributes, QpPair, Sge, Side, Unsupported
from mkeyspec.device.protocol import Qp as DeviceQp
from mkeyspec.plan import At

Queue = Literal["send", "recv"]


@dataclass(slots=True, eq=False)
class Due:
    """A completion that a request owes. `byte_len` and `imm` are compared when not None."""

    at: At
    queue: Queue
    wr_id: int
    opcode: str
    names_mkey: bool = False
    order: int = 0
    """The place of its request in the section (of a receive: of the request whose message it takes)."""
    byte_len: int | None = None
    imm: int | None = None
    invalidated: int | None = None
    got: Completion | None = None
    sender: int | None = None
    """Of a receive: the wr_id of the request whose message it takes."""
    receive: Receive | None = None


class Unobserved(LookupError):
    """A live value that nothing has shown yet: the member of a step that was refused before it could have one."""


class Label:
    """What a labelled step left behind: members known at once, and completions that may still come."""

    __slots__ = ("dues", "members")

    def __init__(self, dues: tuple[Due, ...] = (), **members: int | str) -> None:
        self.dues = list(dues)
        self.members: dict[str, int | str] = dict(members)

    def read(self, member: str) -> int | str:
        if member in self.members:
            return self.members[member]
        arrived = [due.got for due in self.dues if due.got is not None]
        if member == "count":
            return len(arrived)
        if not arrived:
            raise Unobserved(member)
        failed = next((c for c in arrived if c.status != "success"), None)
        last = failed or arrived[-1]
        value: int | str | None
        if member == "status":
            return last.status
        if member == "byte_len":
            value = last.byte_len
        elif member == "imm":
            value = last.imm
        elif member == "id":
            value = last.wr_id
        elif member == "opcode":
            value = last.opcode
        else:
            raise Unsupported(f"this device doesn't show `.{member}` of a step")
        if value is None:
            raise Unobserved(member)
        return value


@dataclass(slots=True, eq=False)
class Receive:
    """A receive that was posted. `byte_len_open`: it fills a signature mkey, whose byte_len is open (X-OPEN-17);
    `own`: a short form's, not the case's."""

    at: At
    wr_id: int
    sges: tuple[Sge, ...]
    names_mkey: bool = False
    byte_len_open: bool = False
    own: bool = False
    label: Label | None = None
    due: Due | None = None
    """Once a message is on its way to it."""


class End:
    """One end of a pair."""

    __slots__ = ("dirty", "due_recv", "due_send", "loose", "number_of", "pair", "qp", "receives", "side", "stray")

    def __init__(self, pair: Pair, side: Side, qp: DeviceQp) -> None:
        self.pair = pair
        self.side: Side = side
        self.qp = qp
        self.due_send: deque[Due] = deque()
        self.due_recv: deque[Due] = deque()
        self.receives: deque[Receive] = deque()
        self.stray: list[Completion] = []
        """Arrived, and owed by nothing (errors of unsignaled requests among them)."""
        self.dirty = False
        """Whether a request was posted behind the last completion of the send queue."""
        self.loose: list[Due] = []
        """Debts of this end that no statement has waited for yet (`post, nowait`)."""
        self.number_of: dict[int, At] = {}
        """wr_id to the place of the request, for messages."""

    @property
    def other(self) -> End:
        return self.pair.peer if self.side == "owner" else self.pair.owner

    def deliver(self, completion: Completion) -> None:
        """File a completion: with the debt it settles, or as a stray."""
        dues = self.due_send if completion.queue == "send" else self.due_recv
        if dues and dues[0].wr_id == completion.wr_id:
            dues.popleft().got = completion
        else:
            self.stray.append(completion)

    @property
    def broken(self) -> bool:
        """Whether a request failed that owed no completion."""
        return any(stray.status != "success" for stray in self.stray)

    def cancel(self, wr_id: int) -> None:
        """The other end's requests of this number deliver no message: the receives they had wait for the next."""
        for due in [due for due in reversed(self.due_recv) if due.sender == wr_id]:
            self.due_recv.remove(due)
            if due in self.loose:
                self.loose.remove(due)
            if due.receive is not None:
                due.receive.due = None
                if due.receive.label is not None:
                    due.receive.label.dues.remove(due)
                self.receives.appendleft(due.receive)

    def take_strays(self) -> list[Completion]:
        strays, self.stray = self.stray, []
        return strays

    def forget(self) -> None:
        """Nothing is owed any more, and no receive is waiting: the QP was reset."""
        self.due_send.clear()
        self.due_recv.clear()
        self.receives.clear()
        self.stray.clear()
        self.loose.clear()
        self.dirty = False


class Pair:
    """A connected QP pair under one name ("" is the default pair)."""

    __slots__ = ("at", "attributes", "handle", "name", "owner", "peer")

    def __init__(self, name: str, at: At, attributes: QpAttributes, handle: QpPair) -> None:
        self.name = name
        self.at = at
        self.attributes = attributes
        self.handle = handle
        self.owner = End(self, "owner", handle.owner)
        self.peer = End(self, "peer", handle.peer)

    def end(self, peer: bool) -> End:
        return self.peer if peer else self.owner

    def renew(self, handle: QpPair) -> None:
        """After a reconnect: perhaps new QPs, empty queues."""
        self.handle = handle
        for end, qp in ((self.owner, handle.owner), (self.peer, handle.peer)):
            end.qp = qp
            end.forget()
