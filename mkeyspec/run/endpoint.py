"""QP pairs of a case: what was posted on each end, what is outstanding, and what came.

Every completion that arrives is owed by a request, or is named by a claim. On each queue completions come in the
order of their requests (RC and UC promise it), so a completion shows that the earlier unsignaled requests succeeded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from mkeyspec.abi.constants import STATUS_CLASS
from mkeyspec.device.protocol import Completion, DcAddress, Side
from mkeyspec.device.protocol import Qp as DeviceQp
from mkeyspec.plan import At
from mkeyspec.run.buffer import Buffer
from mkeyspec.run.evidence import FLUSH, LATE, SUCCESS, Due
from mkeyspec.run.open_receive import OpenReceive
from mkeyspec.run.pairing import exchange, follow, in_order, move_up

if TYPE_CHECKING:
    from mkeyspec.run.pair import Pair


ACKNOWLEDGED = frozenset({"rc", "dci", "xrc_send"})
"""QP types on which a request succeeds only once the other end has taken its message (IBTA, reliable services)."""

ORDERED = frozenset({"rc", "uc", "ud"})
"""QP types with a receive queue of their own, whose receives complete in the order in which they were posted."""

Lane = tuple[str, int]
"""A sequence of requests that are carried out in order: a queue, or one stream of a DCI's send queue."""

CONFIGURATION_WQES = 3
"""Most WQEs of one configuration: itself, and one for each domain of its signature (X-LIM-05)."""


def other_qp(named: DeviceQp, own: DeviceQp) -> str:
    """What of a QP that a completion names is not that of the QP it came from; "" if it is the same. What the device
    has granted to it does not tell one QP from another."""
    if named.number != own.number:
        return f"names QP {named.number:#x} and came from {own.number:#x}"
    if named.side != own.side:
        return f"names QP {named.number:#x} of the {named.side} and came from that of the {own.side}"
    if named.handle != own.handle:
        return f"names a QP with the handle {named.handle} and came from {own.handle}, both of number {own.number:#x}"
    return ""


class End:
    """One end of a pair: `send` and `recv` are open, `receives` wait for a message, `arrived` has what came."""

    __slots__ = (
        "_first",
        "_positions",
        "arrived",
        "closed",
        "configurations",
        "drained",
        "failed",
        "fences",
        "flushes",
        "gone",
        "header",
        "lanes",
        "last",
        "markers",
        "number_of",
        "pair",
        "qp",
        "received",
        "receives",
        "recv",
        "remote",
        "remote_gone",
        "send",
        "shared",
        "side",
        "stopped",
        "stoppers",
        "strange",
        "unfreed",
        "used",
        "written",
    )

    def __init__(self, pair: Pair, side: Side, qp: DeviceQp) -> None:
        self.pair = pair
        self.side: Side = side
        self.qp = qp
        self.send: deque[Due] = deque()
        self.recv: deque[Due] = deque()
        self.receives: deque[OpenReceive] = deque()
        self.header: Buffer | None = None
        """Of a UD QP: where the GRH of what it receives goes."""
        self.arrived: list[Due] = []
        self._positions = 0
        self.last: dict[Lane, int] = {}
        """For each lane, the position of the latest request whose completion has come."""
        self.configurations: dict[int, list[Due]] = {}
        """By number, configurations: each as often as it may be flushed once more (`_is_part`)."""
        self.drained = False
        """An event has reported that the send queue is drained, and nothing has resumed it."""
        self.strange: list[tuple[At, str]] = []
        """What is wrong with a completion whatever is claimed of it, in a few words."""
        self.closed = 0
        """Everything before it in `arrived` came before the last reset of the QP."""
        self._first = 0
        """Everything before it in `arrived` is judged."""
        self.failed = False
        """One of its queues has had an error of its own: the QP is in the error state, and flushes all that it has."""
        self.flushes = False
        """The error flushes receives: an unreliable QP whose request failed only stops sending (IBTA 10.3.1, SQE)."""
        self.stopped: dict[Lane, int] = {}
        """For each lane, the position of the request that failed: later requests are flushed, signaled or not."""
        self.stoppers: dict[Lane, Due] = {}
        """The requests of `stopped`."""
        self.fences: list[tuple[Lane | None, int]] = []
        """The lanes and positions of requests that wait for those before them."""
        self.unfreed: list[tuple[int, int]] = []
        """Requests of the send queue that no completion has shown the driver to be over: their places, and
        how many WQEs they may be."""
        self.number_of: dict[int, At] = {}
        """wr_id to the location of the request in the case, for messages."""
        self.used: At | None = None
        """The latest request of the send queue, if no marker came after it."""
        self.lanes: dict[DcAddress, None] = {}
        """Of a DCI: to where requests were posted, if no marker has come after them."""
        self.received: set[DcAddress | None] = set()
        """To where the messages were sent that have completed receives here, if no marker has come after them."""
        self.remote = 0
        """The place of the latest request that wrote to the other end's memory or used a key of it, if no message after
        it was received: only that tells the other end that it is over (`drain.heard`)."""
        self.written: dict[At, int] = {}
        """Where the requests stand that wrote to the other end's memory, with their places, for as long as `remote`."""
        self.gone: set[At] = set()
        """As `written`, of connections before the last reset: no message can show any more that their bytes have
        arrived."""
        self.remote_gone = False
        """As `remote`, of connections before the last reset."""
        self.markers: set[int] = set()
        """Numbers of the rig's own markers (`drain`)."""
        self.shared = pair.attributes.type == "dci" and side == "peer"
        """The targets of all DCIs of the case: their receives are one shared receive queue."""

    @property
    def other(self) -> End:
        return self.pair.peer if self.side == "owner" else self.pair.owner

    def share(self, other: End) -> None:
        """Share the state with `other`: the targets of two DCIs have one receive queue."""
        self.recv, self.receives, self.arrived, self.strange = other.recv, other.receives, other.arrived, other.strange
        self.number_of, self.markers, self.configurations = other.number_of, other.markers, other.configurations
        self.last = other.last

    def lane(self, due: Due) -> Lane | None:
        """The ordered lane of a request: for a DCI with streams, the stream. Of a receive that several DCIs use, that
        of its message; None if messages of several lanes were on their way, which may each have taken it."""
        if due.queue == "recv":
            return ("recv", 0) if not self.shared else None if due.mixed else self._sender(due)
        return ("send", (due.dc.stream or 0) if due.dc is not None and self.pair.attributes.streams else 0)

    def _sender(self, due: Due) -> Lane | None:
        """The lane that the message of a receive comes from, among those of all DCIs."""
        end = due.request.end if due.request is not None else None
        if end is None or due.request is None:
            return None
        lane = end.lane(due.request)
        return None if lane is None else (f"recv of {end.qp.handle}", lane[1])

    def _place(self, due: Due) -> int:
        """Its place in its lane: a receive's in the shared receive queue, whoever sent the message; 0: not known."""
        if due.queue == "recv" and self.shared:
            return due.receive.place if due.receive is not None else 0
        return due.position

    def is_after_failure(self, due: Due) -> bool:
        """Whether it is flushed, with a completion of its own, signaled or not."""
        lane = self.lane(due)
        return lane is not None and 0 < self.stopped.get(lane, 0) < due.position

    def may_have_gone(self, due: Due) -> bool:
        """Whether a request that is flushed may have been carried out before. The local key of a READ, an atomic or a
        memcpy is looked at when its answer comes, and what is behind it without a fence has left by then (IBTA volume
        1, 10.8.3.3)."""
        lane = self.lane(due)
        first = self.stoppers.get(lane) if lane is not None else None
        if first is None or first.got is None or first.opcode not in LATE:
            return False
        here = first.got.status in STATUS_CLASS["local_protection"]
        return here and not any(first.position < fence <= due.position for of, fence in self.fences if of == lane)

    @property
    def wqes(self) -> int:
        """How many WQEs of the send queue the driver may still count as outstanding."""
        return sum(count for _, count in self.unfreed)

    def is_own(self, due: Due) -> bool:
        """Whether it belongs to this pair: a message to a shared receive queue belongs to its sender's pair."""
        sender = due.request.end if self.shared and due.request is not None else None
        return sender is None or sender.pair is self.pair

    # What came -------------------------------------------------------------------------------

    def owe(self, due: Due) -> None:
        """Record the completion that a posted request, or the receive that it consumes, must give."""
        self._positions += 1
        due.position = self._positions
        if due.queue == "send":
            self.used, due.end = due.at, self
            if due.fence:
                self.fences.append((self.lane(due), due.position))
            if due.dc is not None:
                self.lanes[due.dc] = None
            self.unfreed.append((due.position, CONFIGURATION_WQES if due.opcode == "driver1" else 1))
        for other in self.recv if due.queue == "recv" and self.shared else ():
            if self._sender(other) != self._sender(due):
                other.mixed = due.mixed = True
        (self.send if due.queue == "send" else self.recv).append(due)

    def deliver(self, completion: Completion) -> None:
        """Record a completion: with its request, or as one without a request."""
        line = self.send if completion.queue == "send" else self.recv
        if completion.qp is not self.qp and (other := other_qp(completion.qp, self.qp)):
            at = self.number_of.get(completion.wr_id, self.pair.at)
            self.strange.append((at, f"a completion names another QP: id {completion.wr_id} {other}"))
        if line and line[0].wr_id == completion.wr_id and (line[0].signaled or completion.status != SUCCESS):
            due = line.popleft()
        else:
            due = self._find(line, completion) or self._unowed(completion)
        lane, place = self.lane(due), self._place(due)
        if place and lane is not None:
            if place < self.last.get(lane, 0):
                due.overtaken = True
                if completion.status != SUCCESS:  # of a success, what checks it says so
                    text = f"the {completion.status} of `{due.opcode}` (id {due.wr_id}) came after a later one's"
                    self.strange.append((due.at, f"{text}: completions of a queue come in the order of its requests"))
            else:
                self.last[lane] = place
        if due.queue == "send" and due.position:
            self.unfreed = [one for one in self.unfreed if one[0] > due.position]
        if due.drained and self.drained and completion.status == SUCCESS:
            text = f"`{due.opcode}` was posted when sq_drained had come, and was carried out before a resume"
            self.strange.append((due.at, text))
        if due.queue == "recv":
            sender = due.request.end if due.request is not None else None
            (self if sender is None else sender.other).received.add(due.request.dc if due.request is not None else None)
            # Of a DCI the messages to two targets, or of two streams, are in no order.
            if sender is not None and due.request is not None and sender.pair.attributes.type != "dci":
                sender.was_heard(due.request.position)
        due.got = completion
        due.succeeded = completion.status == SUCCESS
        if due.failed and completion.status != FLUSH:
            self.failed = True
            self.flushes = self.flushes or due.queue == "recv" or self.pair.attributes.type == "rc"
            if due.queue == "send" and lane is not None:
                self.stopped.setdefault(lane, due.position)
                self.stoppers.setdefault(lane, due)
        due.flushed = due.failed and completion.status == FLUSH and self.is_after_failure(due)
        due.perhaps = due.flushed and due.queue == "send" and self.may_have_gone(due)
        self.arrived.append(due)
        self._pair_again(due)

    def _pair_again(self, came: Due) -> None:
        """What came may show that a receive was taken by another message than the one that it was paired with."""
        far = came.takes if came.queue == "send" else came
        if far is not None and far.succeeded and far.request is not None and far.request.failed and not far.judged:
            there = self.other if came.queue == "send" else self
            follow(far, (*there.unjudged(), *there.recv))
        if came.queue == "recv" and came.mixed and came.succeeded and not came.judged:
            exchange(came, (came, *self.recv))

    def unheard(self) -> set[At]:
        """Where the requests stand whose bytes may still be under way to the other end's memory."""
        return self.gone | self.written.keys()

    def was_heard(self, position: int) -> None:
        """The other end has received the message that this place of the send queue sent."""
        self.remote = self.remote if position <= self.remote else 0
        self.written = {at: place for at, place in self.written.items() if position <= place}

    def _find(self, line: deque[Due], completion: Completion) -> Due | None:
        """Find and remove the outstanding entry that a completion belongs to."""
        quiet: Due | None = None
        for due in line:
            if due.wr_id == completion.wr_id:
                if due.signaled or completion.status != SUCCESS:
                    return self._take(line, due)
                quiet = quiet or due
        # Success of a request that was not signaled: a completion that no request asked for.
        return None if quiet is None else self._take(line, quiet)

    def _take(self, line: deque[Due], taken: Due) -> Due:
        lane = self.lane(taken)
        for passed in [due for due in line if lane is not None and self.lane(due) == lane]:
            # After a failure it has a completion of its own.
            if passed is taken or passed.signaled or self.is_after_failure(passed):
                break
            line.remove(passed)
            passed.passed = passed.succeeded = True
            passed.mark_judged("a completion after it")
        line.remove(taken)
        return taken

    def _unowed(self, completion: Completion) -> Due:
        at = self.number_of.get(completion.wr_id, self.pair.at)
        stray = Due(at, completion.queue, completion.wr_id, "", stray=True)
        stray.part = completion.queue == "send" and self._is_part(completion)
        if completion.queue == "recv":
            for receive in self.receives:
                if receive.wr_id == completion.wr_id:
                    # No message was on its way to it: it is flushed, or something wrote to it unasked.
                    stray.receive, receive.due = receive, stray
                    if (self.recv or receive is not self.receives[0]) and self.pair.attributes.type in ORDERED:
                        text = f"the receive with id {receive.wr_id} completed before one that was posted earlier"
                        self.strange.append((receive.at, text))
                    self.receives.remove(receive)
                    break
        return stray

    def _is_part(self, completion: Completion) -> bool:
        """Whether it is a flush of another WQE of a configuration that has failed, or was flushed."""
        left = self.configurations.get(completion.wr_id, [])
        own = next((due for due in left if due.failed), None)
        if own is None or completion.status != FLUSH:
            return False
        left.remove(own)
        return True

    def unjudged(self) -> Iterator[Due]:
        """What came and is not checked yet, in order."""
        arrived = self.arrived
        while self._first < len(arrived) and arrived[self._first].judged:
            self._first += 1
        for i in range(self._first, len(arrived)):
            if not arrived[i].judged:
                yield arrived[i]

    def fails_after(self, due: Due) -> bool:
        """Whether the first error of its lane came after `due`: nothing is flushed before that."""
        later, lane = False, self.lane(due)
        for one in reversed(self.arrived):
            if one is due:
                return later
            failed = one.failed and one.got is not None and one.got.status != FLUSH
            later = later or (failed and one.queue == "send" and self.lane(one) == lane)
        return False

    @property
    def broken(self) -> bool:
        """Whether something failed here that is not checked yet."""
        return any(due.failed and self.is_own(due) for due in self.unjudged())

    def owes(self, due: Due) -> bool:
        """Whether a completion of this pair must come, whatever has failed: later requests of its queue have completed,
        or it is a receive whose message was acknowledged, which then succeeds."""
        if due.stray:
            return False
        lane = self.lane(due)
        if due.queue == "send" and lane is not None:
            return 0 < due.position < self.last.get(lane, 0)
        return due.request is not None and due.request.succeeded and self.pair.attributes.type in ACKNOWLEDGED

    def misses(self, due: Due) -> bool:
        """Whether a receive of a UC lacks the completion of a message that was sent: its request has succeeded, and
        nothing has failed here. (A request that failed has stopped the other end's sending alone: IBTA 10.3.1, SQE.)"""
        sent = due.queue == "recv" and due.request is not None and due.request.succeeded
        return sent and self.pair.attributes.type == "uc" and not self.failed and not due.stray

    # What is open ----------------------------------------------------------------------------

    def owed(self) -> list[Due]:
        """Completions that must still come: of what is signaled, and of all that a failure flushes."""
        flushed = [due for due in self.send if not due.signaled and self.is_after_failure(due)] if self.stopped else []
        return [*(due for line in (self.send, self.recv) for due in line if due.signaled), *flushed]

    def quiet(self) -> list[Due]:
        """Unsignaled requests that are not known to be complete."""
        return [due for due in self.send if not due.signaled and not self.is_after_failure(due)]

    def take_back(self, requests: Collection[Due]) -> list[Due]:
        """No message of these requests came: the messages after them move up, and the last receives wait again.
        Returns the entries of these, which are open no more."""
        line = in_order(self.recv)
        move_up(line, requests)
        free = [due for due in line if due.request in requests]
        for due in reversed(free):
            assert due.receive is not None
            assert due.request is not None
            self.recv.remove(due)
            due.request.takes = due.receive.due = None
            if due.receive.label is not None:
                due.receive.label.dues.remove(due)
            self.receives.appendleft(due.receive)
        return free
