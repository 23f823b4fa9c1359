"""Completions that are too many, missing, late, out of order or wrong; and those that are merely late."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

from mkeyspec import plan
from mkeyspec.abi.constants import STATUS_CLASS, SendFlag
from mkeyspec.device.protocol import Completion
from tests.quality.kind import AtBoundary, OnCompletion, Place, places
from tests.quality.subject import Subject
from tests.quality.tap import Disturbance, Held, Seen, Tap

FOREIGN = 0x7E57_0000_0BAD
"""A wr_id of no request."""
SIGNALED = int(SendFlag.SIGNALED)
LATE = 150
"""Polls of its queue that a completion too many lets go by."""
COUNTED = ("rdma_read", "fetch_add", "comp_swap")
"""Opcodes of a requester whose byte_len is defined: those that bring bytes."""

Condition = Callable[[Subject, Seen], bool]


def at(seen: Seen) -> tuple[int, str, int]:
    return seen.qp, seen.queue, seen.place


def told(seen: Seen) -> str:
    """A completion in words."""
    one = seen.completion
    return f"completion {seen.place} of QP {seen.qp}'s {seen.queue} queue ({one.opcode or one.status}, id {one.wr_id})"


def each(what: str, change: Callable[[Tap, Completion], Sequence[Held]], where: Condition | None = None) -> Any:
    """Places: every completion of the clean run for which `where` holds."""

    def found(subject: Subject) -> Iterator[Place]:
        for seen in subject.record.seen:
            if where is None or where(subject, seen):
                yield Place(seen.step, f"{told(seen)} {what}", partial(OnCompletion, at(seen), change))

    return found


def good(subject: Subject, seen: Seen) -> bool:
    return seen.completion.status == "success"


def bad(subject: Subject, seen: Seen) -> bool:
    return seen.completion.status != "success"


def sure(subject: Subject, seen: Seen) -> bool:
    """A success, where the text takes no error."""
    return good(subject, seen) and ("completion" not in subject.phases(seen.step) or subject.must(seen.step))


def one(**members: Any) -> Callable[[Tap, Completion], Sequence[Held]]:
    return lambda tap, completion: (Held(replace(completion, **members)),)


def by(change: Callable[[Completion], Completion]) -> Callable[[Tap, Completion], Sequence[Held]]:
    return lambda tap, completion: (Held(change(completion)),)


# Too many and too few ------------------------------------------------------------------------


def followed(subject: Subject, seen: Seen) -> bool:
    """A success that another one follows in its queue: whoever waits for that meets what lies between.

    A QP that has failed takes no marker, so that only a bounded time looks at it: how many polls that is depends on
    what else the machine does.
    """
    return good(subject, seen) and any(
        (one.qp, one.queue, one.place) == (seen.qp, seen.queue, seen.place + 1)
        and one.completion.status == "success"
        and not subject.connected_anew(seen.qp, seen.step, one.step)
        for one in subject.record.seen
    )


places("twice")(each("is reported twice", lambda tap, one: (Held(one), Held(one))))
places("twice_next_poll")(each("is reported again by the next poll", lambda tap, one: (Held(one), Held(one, 1))))
places("twice_late")(
    each(f"is reported again {LATE} polls later", lambda tap, one: (Held(one), Held(one, LATE)), followed)
)


def after(seconds: float, again: bool, tap: Tap, completion: Completion) -> Sequence[Held]:
    late = Held(completion, since=monotonic() + seconds)
    return (Held(completion), late) if again else (late,)


places("twice_300us")(each("is reported again after 300 us", partial(after, 0.0003, True), followed))
places("lost")(each("is lost", lambda tap, one: (), lambda subject, seen: ours(subject, seen)))


def ours(subject: Subject, seen: Seen) -> bool:
    """Not an error at the end that did not ask: that one may see an error, or nothing."""
    return seen.completion.status == "success" or seen.queue == "send" or not far(subject, seen)


def far(subject: Subject, seen: Seen) -> bool:
    """An error of a step that claims a refusal, elsewhere than where it is judged."""
    if "completion" not in subject.phases(seen.step) or seen.completion.status == "success":
        return False
    return subject.judged(seen.step) != (seen.completion.qp.side, seen.queue)


class Again(OnCompletion):
    """A completion is reported again at a later step."""

    def __init__(self, place: tuple[int, str, int], step: int) -> None:
        super().__init__(place, lambda tap, one: (Held(one),))
        self.step = step
        self.kept: Completion | None = None

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if (qp, queue, place) == self.at:
            self.kept = completion
        return (Held(completion),)

    def boundary(self, tap: Tap, step: int) -> None:
        if step == self.step and self.kept is not None and self.kept.qp.handle not in tap.gone:
            self.done = True
            tap.put(self.kept.qp.handle, self.kept.queue, Held(self.kept))


@places("again_later")
def again_later(subject: Subject) -> Iterator[Place]:
    for seen in subject.record.seen:
        for step in range(seen.step + 1, len(subject.steps) + 1):
            yield Place(step, f"{told(seen)} is reported again", partial(Again, at(seen), step))


class Swap(Disturbance):
    """Two neighbours of a queue change places."""

    def __init__(self, place: tuple[int, str, int]) -> None:
        super().__init__()
        self.at = place
        self.first: list[Held] = []

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        if (qp, queue, place) == self.at:
            self.first = [Held(completion)]
            return ()
        if (qp, queue, place - 1) == self.at:
            self.done = True
            return (Held(completion), *self.first)
        return (Held(completion),)


def alike(one: Completion, other: Completion) -> bool:
    """Whether no page tells them apart: of what goes out, id, status and opcode are all that there is."""
    if one.queue == "recv":
        return one == other
    return (one.queue, one.wr_id, one.status, one.opcode) == (other.queue, other.wr_id, other.status, other.opcode)


def of_several(subject: Subject, seen: Seen) -> bool:
    """A receive of the queue that DCTs share, in a row with several DCIs or streams: which message is first is open."""
    types = subject.record.types
    initiators = {owner for _, owner, _ in subject.record.pairs if types[owner].type == "dci"}
    several = len(initiators) > 1 or any(types[qp].streams for qp in initiators)
    return several and seen.queue == "recv" and types[seen.qp].type == "dci"


@places("swapped")
def swapped(subject: Subject) -> Iterator[Place]:
    seen = {at(one): one for one in subject.record.seen}
    for (qp, queue, place), first in seen.items():
        second = seen.get((qp, queue, place + 1))
        if second is None or second.step != first.step or alike(first.completion, second.completion):
            continue
        if not far(subject, first) and not of_several(subject, first):
            yield Place(first.step, f"{told(first)} comes after the next", partial(Swap, (qp, queue, place)))


def elsewhere(change: Callable[[Tap, Completion], Completion | None]) -> Callable[[Tap, Completion], Sequence[Held]]:
    def move(tap: Tap, completion: Completion) -> Sequence[Held]:
        moved = change(tap, completion)
        if moved is not None:
            tap.put(moved.qp.handle, moved.queue, Held(moved))
        return ()

    return move


def other_end(tap: Tap, completion: Completion) -> Completion | None:
    """The same at the other end of the pair."""
    for _, owner, peer in tap.record.pairs:
        for mine, other in ((owner, peer), (peer, owner)):
            if tap.qps[mine].handle == completion.qp.handle:
                return replace(completion, qp=tap.qps[other])
    return None


OTHER_QUEUE = {"send": "recv", "recv": "send"}
places("other_queue")(
    each(
        "comes out of the QP's other queue",
        elsewhere(lambda tap, one: replace(one, queue=OTHER_QUEUE[one.queue])),  # type: ignore[arg-type]
        ours,
    )
)
places("other_end")(each("comes out of the other end's queue", elsewhere(other_end), ours))

# Wrong members -------------------------------------------------------------------------------

places("wrong_id")(each("has another id", by(lambda one: replace(one, wr_id=one.wr_id + 1)), ours))
places("wrong_opcode")(
    each(
        "has another opcode",
        by(lambda one: replace(one, opcode="rdma_write" if one.opcode != "rdma_write" else "send")),
        good,
    )
)


def named_other_end(tap: Tap, completion: Completion) -> Sequence[Held]:
    return (Held(replace(completion, qp=(other_end(tap, completion) or completion).qp)),)


places("unknown_opcode")(each("has an opcode that verbs don't know", one(opcode="opcode 77"), good))
places("unknown_status")(each("has a status that verbs don't know", one(status="status 77", opcode=""), sure))
places("wrong_qp")(each("names the other end's QP", named_other_end, ours))
places("success_as_error")(each("is an error", one(status="loc_qp_op_err", opcode="", byte_len=0, imm=None), sure))


def counted(subject: Subject, seen: Seen) -> bool:
    """byte_len is defined."""
    return good(subject, seen) and (seen.queue == "recv" or seen.completion.opcode in COUNTED)


places("wrong_byte_len")(
    each("counts 12,345 bytes more", by(lambda one: replace(one, byte_len=one.byte_len + 12345)), counted)
)


def immediate(subject: Subject, seen: Seen) -> bool:
    return good(subject, seen) and seen.queue == "recv" and seen.completion.imm is not None


places("wrong_imm")(each("has another immediate", by(lambda one: replace(one, imm=(one.imm or 0) ^ 0x100)), immediate))
places("imm_lost")(each("has no immediate", one(imm=None), immediate))
places("imm_invented")(
    each(
        "has an immediate that nobody sent",
        one(imm=0x6D6B6579),
        lambda subject, seen: good(subject, seen) and seen.queue == "recv" and seen.completion.imm is None,
    )
)


def invalidated(subject: Subject, seen: Seen) -> bool:
    return seen.completion.invalidated_rkey is not None


places("wrong_invalidated")(
    each(
        "names another invalidated rkey",
        by(lambda one: replace(one, invalidated_rkey=(one.invalidated_rkey or 0) ^ 0x100)),
        invalidated,
    )
)
places("invalidated_lost")(each("names no invalidated rkey", one(invalidated_rkey=None), invalidated))
places("invalidated_invented")(
    each(
        "names an rkey that nobody invalidated",
        one(invalidated_rkey=0x1234500),
        lambda subject, seen: good(subject, seen) and seen.queue == "recv" and seen.completion.invalidated_rkey is None,
    )
)

# Errors --------------------------------------------------------------------------------------


def claimed(subject: Subject, seen: Seen) -> plan.Rejected | None:
    """The claim that this error is the answer to."""
    if seen.completion.status in ("success", "wr_flush_err") or far(subject, seen):
        return None
    found = [one for one in subject.claim(seen.step) if isinstance(one, plan.Rejected) and one.phase == "completion"]
    return found[0] if len(found) == 1 and len(subject.claim(seen.step)) == 1 else None


def as_success(completion: Completion) -> Completion:
    return replace(completion, status="success", opcode="send" if completion.queue == "send" else "recv")


def told_here(subject: Subject, seen: Seen) -> bool:
    """The error of a claimed refusal. Who sees that of an invalidation is open (X-OPEN-27)."""
    step = subject.step(seen.step)
    invalidates = isinstance(step, plan.Post) and any(getattr(one, "invalidate", None) for one in step.requests)
    return claimed(subject, seen) is not None and not invalidates


places("error_as_success")(each("is a success", by(as_success), told_here))


@places("wrong_status")
def wrong_status(subject: Subject) -> Iterator[Place]:
    for seen in subject.record.seen:
        claim = claimed(subject, seen)
        if claim is None or claim.reason is None:
            continue
        for status in ("retry_exc_err", "loc_prot_err", "rem_access_err"):
            allowed = STATUS_CLASS.get(claim.reason, (claim.reason,))
            if status not in allowed and status != seen.completion.status:
                yield Place(
                    seen.step, f"{told(seen)} has status {status}", partial(OnCompletion, at(seen), one(status=status))
                )


places("flush_status")(
    each(
        "has a status of its own",
        one(status="loc_prot_err"),
        lambda subject, seen: seen.completion.status == "wr_flush_err" and not far(subject, seen),
    )
)

# Invented ------------------------------------------------------------------------------------


def invented(make: Callable[[int], tuple[str, int, dict[str, Any]]], polls: int = 0) -> Any:
    def found(subject: Subject) -> Iterator[Place]:
        for step in range(1, len(subject.steps) + 1):
            known = [pair for pair in subject.record.pairs if pair[0] < step]
            if not known:
                continue
            for end in (0, 1):
                number = known[-1][1 + end]
                queue, wr_id, members = make(step)
                line = [seen for seen in subject.record.seen if (seen.qp, seen.queue) == (number, queue)]
                if polls and not any(
                    seen.step >= step and not subject.connected_anew(number, step, seen.step) for seen in line
                ):
                    continue  # nothing comes after it

                def act(
                    tap: Tap,
                    number: int = number,
                    queue: str = queue,
                    wr_id: int = wr_id,
                    members: dict[str, Any] = members,
                ) -> None:
                    qp = tap.qps[number]
                    made = Completion(qp, queue, wr_id, **members)  # type: ignore[arg-type]
                    tap.put(qp.handle, queue, Held(made, polls))

                what = f"QP {number}'s {queue} queue tells {members['status']} of a request that is none"
                yield Place(step, what, partial(AtBoundary, step, act))

    return found


places("invented_send")(invented(lambda step: ("send", FOREIGN, {"status": "success", "opcode": "send"})))
places("invented_recv")(invented(lambda step: ("recv", FOREIGN, {"status": "success", "opcode": "recv"})))
places("invented_error")(invented(lambda step: ("send", FOREIGN, {"status": "loc_prot_err"})))
places("invented_late")(invented(lambda step: ("send", FOREIGN, {"status": "success", "opcode": "send"}), LATE))


class Unasked(Disturbance):
    """Of a request that is not signaled something is reported."""

    def __init__(self, number: int, wr_id: int, polls: int, status: str = "success") -> None:
        super().__init__()
        self.number, self.wr_id, self.polls, self.status = number, wr_id, polls, status

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        result = go()
        if name == "post" and number == self.number:
            self.done = True
            told = Completion(args[0], "send", self.wr_id, self.status, "send" if self.status == "success" else "")
            tap.put(args[0].handle, "send", Held(told, self.polls))
        return result


places("unsignaled_told")(lambda subject: unasked(subject, "success"))
places("unsignaled_fails")(lambda subject: unasked(subject, "loc_qp_op_err"))


def unasked(subject: Subject, status: str) -> Iterator[Place]:
    for call in subject.record.named("post"):
        if call.result or call.options.get("abort") or "completion" in subject.phases(call.step):
            continue
        for request in call.args[1]:
            if not getattr(request, "flags", SIGNALED) & SIGNALED and type(request).__name__ != "RawWqe":
                for polls in (0, 2):
                    what = f"unsignaled {type(request).__name__} {request.wr_id} completes with {status}"
                    yield Place(call.step, what, partial(Unasked, call.number, request.wr_id, polls, status))


# Undefined members -----------------------------------------------------------------------

places("vendor_error")(each("has a vendor_err", one(vendor_error=0x51)))
places("undefined_byte_len")(
    each(
        "has a byte_len that means nothing",
        one(byte_len=0x7E57),
        lambda subject, seen: good(subject, seen) and not counted(subject, seen),
    )
)
places("undefined_of_error")(
    each("has members that mean nothing", one(opcode="recv_rdma_with_imm", byte_len=77, imm=5, invalidated_rkey=9), bad)
)
places("far_error_lost")(each("is not reported", lambda tap, one: (), lambda subject, seen: not ours(subject, seen)))
places("far_error_status")(
    each(
        "has another status",
        one(status="rem_op_err"),
        # What no message has reached is flushed; a receive that is too short says so (ibv_poll_cq(3)).
        lambda subject, seen: (
            far(subject, seen) and seen.completion.status not in ("rem_op_err", "wr_flush_err", "loc_len_err")
        ),
    )
)
places("any_error")(
    each(
        "has another status",
        one(status="general_err"),
        lambda subject, seen: (
            told_here(subject, seen) and (claim := claimed(subject, seen)) is not None and claim.reason is None
        ),
    )
)
