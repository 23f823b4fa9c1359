"""QP pairs of a case."""

from __future__ import annotations

from mkeyspec.device.protocol import QpAttributes, QpPair
from mkeyspec.plan import At
from mkeyspec.run.endpoint import End


class Pair:
    """A connected QP pair under one name ("" is the default pair)."""

    __slots__ = ("at", "attributes", "failed", "handle", "name", "owner", "peer")

    def __init__(self, name: str, at: At, attributes: QpAttributes, handle: QpPair) -> None:
        self.name = name
        self.at = at
        self.attributes = attributes
        self.handle = handle
        self.failed = ""
        """A failure of these QPs that was judged already, in a few words: what is flushed follows from it."""
        self.owner = End(self, "owner", handle.owner)
        self.peer = End(self, "peer", handle.peer)

    @property
    def ends(self) -> tuple[End, End]:
        return self.owner, self.peer

    def end(self, peer: bool) -> End:
        return self.peer if peer else self.owner

    def renew(self, handle: QpPair) -> None:
        """After a reconnect: possibly new QPs, empty queues. Everything must have been checked (`drain`)."""
        self.handle = handle
        self.failed = ""
        for end, qp in ((self.owner, handle.owner), (self.peer, handle.peer)):
            assert not end.send
            assert not end.recv or end.shared
            end.qp = qp
            end.used = None
            end.gone |= end.written.keys()
            end.remote_gone = end.remote_gone or bool(end.remote)
            end.remote, end.written = 0, {}
            end.drained = False
            end.failed = end.flushes = False
            end.received.clear()
            end.lanes.clear()
            end.stopped.clear()
            end.stoppers.clear()
            end.fences.clear()
            end.unfreed.clear()
            end.configurations.clear()
            if not end.shared:  # which no reset of a DCI empties
                for receive in end.receives:
                    receive.gone = True
                end.receives.clear()
