"""Signature errors and async events: too many, missing, wrong."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyError
from mkeyspec.device.protocol import AsyncEvent, Mkey, Qp, SignatureError
from tests.quality.kind import OnEvents, Place, places
from tests.quality.kinds_call import calls, made, refuse
from tests.quality.subject import SIGNATURE, Subject
from tests.quality.tap import Call, Disturbance, Tap

Go = Callable[[], Any]
GUARD_ERROR = SignatureError(int(MkeyError.BAD_GUARD), 0x1234, 0x4321, 519)
WORDS = {
    int(MkeyError.BAD_GUARD): "bad_guard",
    int(MkeyError.BAD_REFTAG): "bad_reftag",
    int(MkeyError.BAD_APPTAG): "bad_apptag",
}


def takes(subject: Subject, step: int, word: str) -> bool:
    """The text lets a check of this step come out so."""
    found = subject.step(step)
    return isinstance(found, plan.Check) and (word in found.kind or len(found.claim) > 1)


def clean(subject: Subject, call: Call) -> bool:
    return call.result is None and not takes(subject, call.step, "bad_guard")


def reported(subject: Subject, call: Call) -> bool:
    return isinstance(call.result, SignatureError)


def checked(subject: Subject, call: Call) -> plan.Check | None:
    """The check whose answer this is, if it takes no other."""
    step = subject.step(call.step)
    if isinstance(step, plan.Check) and reported(subject, call) and len(step.kind) == 1 and not step.claim:
        return step
    return None


def answer(change: Callable[[SignatureError | None], SignatureError | None]) -> Any:
    return lambda call: lambda tap, go, args: change(go())


places("error_invented")(calls("mkey_check", "tells of a bad guard", answer(lambda was: GUARD_ERROR), clean))
places("error_swallowed")(
    calls(
        "mkey_check",
        "tells of nothing",
        answer(lambda was: None),
        lambda s, c: reported(s, c) and not takes(s, c.step, "ok"),
    )
)
places("check_refused")(calls("mkey_check", "is refused", lambda call: refuse("mkey_check", errno.EINVAL), made))


class Pending(Disturbance):
    """From a step on the `key`-th mkey has an error that no request caused, until it is reported.

    It is the first, and so the one that is kept (XCHK-04).
    """

    def __init__(self, step: int, key: int, error: SignatureError) -> None:
        super().__init__()
        self.step, self.key, self.error, self.waits = step, key, error, False

    def boundary(self, tap: Tap, step: int) -> None:
        if step == self.step:
            self.waits = self.done = True

    def call(self, tap: Tap, name: str, number: int, go: Go, args: tuple[Any, ...]) -> Any:
        result = go()
        if self.waits and name == "mkey_check" and args[0].handle == tap.record.mkeys[self.key][1].handle:
            self.waits = False
            return self.error
        return result


@places("error_pending")
def error_pending(subject: Subject) -> Iterator[Place]:
    for number, (made_at, mkey, flags) in enumerate(subject.record.mkeys):
        if not flags & SIGNATURE:
            continue
        used = uses(subject, mkey)
        for step in range(made_at + 1, len(subject.steps) + 1):
            later = range(step, len(subject.steps))
            other = [kind for kind, word in WORDS.items() if not any(takes(subject, one, word) for one in later)]
            if used and used[-1] >= step - 1 and other:
                error = replace(GUARD_ERROR, type=other[0])
                yield Place(
                    step, f"mkey {number} has an error that no request caused", partial(Pending, step, number, error)
                )


def uses(subject: Subject, mkey: Mkey) -> list[int]:
    """Steps in which a data request names this key, by its local or remote number."""
    found = []
    for call in subject.record.calls:
        if call.name not in ("post", "post_recv") or call.result:
            continue
        text = repr(call.args[1:])
        configures = (
            all(type(one).__name__ in ("Configure", "MrList") for one in call.args[1]) if call.name == "post" else False
        )
        if not configures and (f"lkey={mkey.lkey})" in text or f"rkey={mkey.rkey}," in text):
            found.append(call.step)
    return found


class Twice(Disturbance):
    """An error that was reported is reported again by the next question."""

    def __init__(self, number: int, key: Mkey) -> None:
        super().__init__()
        self.number, self.key = number, key
        self.kept: SignatureError | None = None

    def call(self, tap: Tap, name: str, number: int, go: Go, args: tuple[Any, ...]) -> Any:
        result = go()
        if name != "mkey_check":
            return result
        if number == self.number:
            self.kept, self.key, self.done = result, args[0], True
        elif self.kept is not None and args[0].handle == self.key.handle and result is None:
            result, self.kept = self.kept, None
        return result


@places("error_twice")
def error_twice(subject: Subject) -> Iterator[Place]:
    for call in subject.record.named("mkey_check"):
        if reported(subject, call):
            later = [takes(subject, step, "bad_guard") for step in range(call.step + 1, len(subject.steps))]
            if not any(later):
                yield Place(
                    call.step,
                    f"the error of mkey_check {call.number} is kept",
                    partial(Twice, call.number, call.args[0]),
                )


def wrong(what: str, named: Callable[[plan.Check], bool], change: Callable[[SignatureError], SignatureError]) -> Any:
    return calls(
        "mkey_check",
        what,
        lambda call: lambda tap, go, args: change(go()),
        lambda subject, call: (check := checked(subject, call)) is not None and named(check),
    )


OTHER = {1: 2, 2: 3, 3: 1}
places("error_other_type")(
    wrong("tells another type", lambda check: True, lambda was: replace(was, type=OTHER[was.type]))
)
places("error_unknown_type")(
    wrong("tells a type that the page doesn't know", lambda check: True, lambda was: replace(was, type=7))
)
places("error_other_block")(
    wrong(
        "tells another block", lambda check: check.block is not None, lambda was: replace(was, offset=was.offset + 520)
    )
)
places("error_other_offset")(
    wrong(
        "tells an offset that is off by one",
        lambda check: check.block is not None or check.offset is not None,
        lambda was: replace(was, offset=was.offset + 1),
    )
)
places("error_other_actual")(
    wrong(
        "tells another actual_value",
        lambda check: check.found is not None or check.actual is not None,
        lambda was: replace(was, actual_value=was.actual_value ^ 1),
    )
)
places("error_other_expected")(
    wrong(
        "tells another expected_value",
        lambda check: check.computed is not None or check.expected is not None,
        lambda was: replace(was, expected_value=was.expected_value ^ 1),
    )
)
places("error_values_swapped")(
    wrong(
        "swaps expected and actual",
        lambda check: check.found is not None and check.computed is not None,
        lambda was: replace(was, expected_value=was.actual_value, actual_value=was.expected_value),
    )
)

# Events --------------------------------------------------------------------------------------

DRAINED = "sq_drained"


class Invented(Disturbance):
    """An event is there from a step on."""

    def __init__(self, step: int, kind: str, end: int | None) -> None:
        super().__init__()
        self.step, self.kind, self.end, self.waits = step, kind, end, False

    def boundary(self, tap: Tap, step: int) -> None:
        if step == self.step:
            self.waits = self.done = True

    def events(self, tap: Tap, found: list[AsyncEvent]) -> list[AsyncEvent]:
        if not self.waits:
            return found
        self.waits = False
        qp = None if self.end is None else tap.qps[self.end]
        return [*found, AsyncEvent(self.kind, qp)]


def event(kinds: tuple[str, ...], where: Callable[[Subject, int, str], bool], *, of_a_qp: bool = True) -> Any:
    def found(subject: Subject) -> Iterator[Place]:
        for step in range(1, len(subject.steps) + 1):
            known = [pair for pair in subject.record.pairs if pair[0] < step]
            for kind in kinds:
                if not known or not where(subject, step, kind):
                    continue
                for end in known[-1][1:] if of_a_qp else (None,):
                    name = "the device" if end is None else f"QP {end}"
                    yield Place(step, f"event {kind} of {name}", partial(Invented, step, kind, end))

    return found


def unclaimed(subject: Subject, step: int, kind: str) -> bool:
    """No refusal near that may have caused it, and no statement that waits for it."""
    near = [subject.step(one) for one in (step - 1, step)]
    if kind == DRAINED and any(isinstance(one, plan.Await) for one in subject.steps[step:]):
        return False
    return not any("completion" in subject.phases(one) for one in range(step + 1)) or (
        kind == DRAINED and not any(isinstance(one, plan.Await) for one in near)
    )


places("event_invented")(event((DRAINED, "qp_fatal", "qp_access_err", "qp_req_err", "event 77"), unclaimed))
places("device_fatal")(event(("device_fatal",), lambda *_: True, of_a_qp=False))
places("port_event")(event(("port_active", "gid_change", "client_reregister"), lambda *_: True, of_a_qp=False))


def each_event(what: str, change: Callable[[Tap, list[AsyncEvent]], list[AsyncEvent]]) -> Any:
    """Places: events that the case awaits."""

    def found(subject: Subject) -> Iterator[Place]:
        for number, call in enumerate(subject.record.named("events")):
            if any(one.kind == DRAINED for one in call.result):
                yield Place(call.step, f"sq_drained {what}", partial(OnEvents, number, change))

    return found


def once(change: Callable[[Tap, AsyncEvent], list[AsyncEvent]]) -> Callable[[Tap, list[AsyncEvent]], list[AsyncEvent]]:
    def changed(tap: Tap, found: list[AsyncEvent]) -> list[AsyncEvent]:
        return [new for one in found for new in (change(tap, one) if one.kind == DRAINED else [one])]

    return changed


def other_qp(tap: Tap, one: AsyncEvent) -> list[AsyncEvent]:
    others = [qp for qp in tap.qps if one.qp is not None and qp.handle != one.qp.handle]
    return [replace(one, qp=others[0])]


places("event_lost")(each_event("is lost", once(lambda tap, one: [])))
places("event_other_kind")(each_event("is another kind", once(lambda tap, one: [replace(one, kind="qp_fatal")])))
places("event_other_qp")(each_event("is another QP's", once(other_qp)))
places("event_twice")(each_event("comes twice", once(lambda tap, one: [one, one])))


class EventLate(Disturbance):
    """Events come some questions later."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.calls = calls
        self.kept: list[list[AsyncEvent]] = [[] for _ in range(calls)]

    def events(self, tap: Tap, found: list[AsyncEvent]) -> list[AsyncEvent]:
        self.done |= bool(found)
        self.kept.append(found)
        return self.kept.pop(0)


@places("event_late")
def event_late(subject: Subject) -> Iterator[Place]:
    for number in (1, 5):
        if subject.record.events:
            yield Place(0, f"events come {number} questions later", partial(EventLate, number))


class EventEarly(Disturbance):
    """SQ_DRAINED comes after a post that is not the one which drains the queue."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.qp: Qp | None = None

    def call(self, tap: Tap, name: str, number: int, go: Go, args: tuple[Any, ...]) -> Any:
        result = go()
        if name == "post" and number == self.number:
            self.qp = args[0]
        return result

    def events(self, tap: Tap, found: list[AsyncEvent]) -> list[AsyncEvent]:
        told = [one for one in found if one.kind != DRAINED]
        if self.qp is not None and not self.done:
            self.done = True
            told.append(AsyncEvent(DRAINED, self.qp))
        return told


@places("event_early")
def event_early(subject: Subject) -> Iterator[Place]:
    """Before the first section that moves data: its signature error is the earliest that there can be."""
    for call in subject.record.named("post"):
        handle = call.args[0].handle
        ends = [event.qp for _, event in subject.record.events if event.kind == DRAINED]
        if len(ends) == 1 and ends[0] is not None and ends[0].handle == handle:
            if any(type(request).__name__ in MOVING for request in call.args[1]):
                return
            yield Place(call.step, f"sq_drained comes after post {call.number}", partial(EventEarly, call.number))


MOVING = ("Send", "Write", "Read")
