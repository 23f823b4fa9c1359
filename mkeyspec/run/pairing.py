"""Which message takes which receive.

A receive is taken by the message that arrives next (ibv_post_recv(3)). When a request is posted, its message is paired
with the first receive that waits. A message that never comes, of a request that failed or was cancelled, leaves its
receive to the next one: the messages after it move up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count

from mkeyspec.run.evidence import Due

PLACES = count(1)
"""The place of each receive that is posted, among all of them."""


def in_order(dues: Iterable[Due]) -> list[Due]:
    """Those of them that a message was paired with and that no statement has checked, in the order of the receives."""
    found = [due for due in dues if due.receive is not None and due.request is not None and not due.judged]
    return sorted(found, key=lambda due: due.receive.place if due.receive is not None else 0)


def move_up(line: list[Due], gone: Collection[Due]) -> None:
    """Pair the messages of a line of receives anew. Those of the requests `gone` never came, and become the last."""
    messages = [(due.request, due.opcode, due.order, due.imm, due.invalidated, due.lengths_at) for due in line]
    messages.sort(key=lambda message: message[0] in gone)
    for due, message in zip(line, messages, strict=True):
        due.request, due.opcode, due.order, due.imm, due.invalidated, due.lengths_at = message
        assert due.request is not None
        assert due.receive is not None
        due.request.takes = due
        due.names_mkey = due.receive.names_mkey and due.opcode != "recv_rdma_with_imm"


def follow(due: Due, line: Iterable[Due]) -> None:
    """The receive `due` was taken, and the request that it was paired with has failed. If messages after it are on
    their way, it was the first of these."""
    rest = in_order(line)
    rest = rest[rest.index(due) :] if due in rest else []
    gone = [one.request for one in rest if one.request is not None and one.request.failed]
    if due.request in gone and len(gone) < len(rest):
        move_up(rest, gone)


def exchange(due: Due, line: Iterable[Due]) -> None:
    """Messages of two streams are in no order: if the completion of `due` is not that of the message that it was paired
    with, and may be that of one on its way to another receive of `line`, it is that one's. The messages between the two
    keep their order."""
    if due.got is None or due.request is None or due.receive is None or _fits(due, due):
        return
    lanes = {_lane(due)}
    open_ = in_order(one for one in line if one is due or one.got is None)
    at = open_.index(due)
    for number, other in enumerate(open_):
        if other is due or _lane(other) in lanes:
            continue
        lanes.add(_lane(other))  # only the first message of each stream may be the next one
        if other.mixed and _fits(due, other):
            last = [one.request for one in open_[at:number]] if at < number else [other.request]
            move_up(open_[min(at, number) : max(at, number) + 1], [one for one in last if one is not None])
            return


def _lane(due: Due) -> tuple[int, int]:
    """The queue and the stream of the message that a receive is paired with."""
    request = due.request
    return (0, 0) if request is None else (id(request.end), (request.dc.stream or 0) if request.dc is not None else 0)


def _fits(due: Due, other: Due) -> bool:
    """Whether the completion of `due` is that of the message which `other` is paired with."""
    got = due.got
    if got is None or due.receive is None:
        return False
    lengths = other.byte_lens if other.lengths_at is None else other.lengths_at(due.receive)
    return got.opcode == other.opcode and got.imm == other.imm and (not lengths or got.byte_len in lengths)
