"""Calls that refuse what they should do, do what they should refuse, or say that they did what they did not."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from mkeyspec import plan
from mkeyspec.device.protocol import Completion, Mkey, QpAttributes, QpPair, Refused, Send, Unsupported
from tests.quality.kind import AtBoundary, OnCall, Place, places
from tests.quality.subject import Subject, errno_beside
from tests.quality.tap import Call, Disturbance, Tap

Go = Callable[[], Any]
Args = tuple[Any, ...]
VERBS = {
    "mkey": "mlx5dv_create_mkey", "qp_pair": "mlx5dv_create_qp", "dek": "mlx5dv_dek_create", "memory": "ibv_reg_mr",
    "mkey_check": "mlx5dv_mkey_check", "reconnect": "ibv_modify_qp", "release": "mlx5dv_destroy_mkey",
    "poll": "ibv_poll_cq", "events": "ibv_get_async_event", "pd": "ibv_alloc_pd", "dct": "mlx5dv_create_qp",
    "retag": "retag", "destroy": "mlx5dv_destroy_mkey",
    "query_dek": "mlx5dv_dek_query", "destroy_dek": "mlx5dv_dek_destroy", "login": "mlx5dv_crypto_login",
    "logout": "mlx5dv_crypto_logout", "login_state": "mlx5dv_crypto_login_query_state",
    "login_object": "mlx5dv_crypto_login_create", "query_login": "mlx5dv_crypto_login_query",
    "destroy_login": "mlx5dv_crypto_login_destroy",
}  # fmt: skip


def refuse(name: str, number: int = errno.EIO) -> Callable[[Tap, Go, Args], Any]:
    def answer(tap: Tap, go: Go, args: Args) -> Any:
        raise Refused(VERBS[name], number)

    return answer


def give(value: Any) -> Callable[[Tap, Go, Args], Any]:
    """Say so, and do nothing."""
    return lambda tap, go, args: value


def calls(
    name: str,
    what: str,
    answer: Callable[[Call], Callable[[Tap, Go, Args], Any]],
    where: Callable[[Subject, Call], bool] = lambda subject, call: True,
) -> Callable[[Subject], Iterator[Place]]:
    """Places: every call of that name for which `where` holds."""

    def found(subject: Subject) -> Iterator[Place]:
        for call in subject.record.named(name):
            if where(subject, call):
                shown = f"{VERBS.get(name, name)} {call.number} {what}"
                yield Place(call.step, shown, partial(OnCall, name, call.number, answer(call)))

    return found


def refused(call: Call) -> bool:
    return isinstance(call.result, Refused)


def made(subject: Subject, call: Call) -> bool:
    """It went well, and the text takes nothing else."""
    return not refused(call) and not subject.phases(call.step) & {
        "create", "mkey_check", "destroy", "query", "login", "logout",
    }  # fmt: skip


def unmade(subject: Subject, call: Call) -> bool:
    """It was refused, and the text takes nothing else."""
    return refused(call) and subject.must(call.step) and bool(subject.phases(call.step))


def refusing(name: str, call: Call) -> Callable[[Tap, Go, Args], Any]:
    return refuse(name, errno.EINVAL)


# Creation ------------------------------------------------------------------------------------

OF_LOGINS = ("login", "logout", "login_state", "login_object", "query_login", "destroy_login")

for _name in (
    "memory", "mkey", "qp_pair", "dek", "dct", "pd", "retag", "destroy", "query_dek", "destroy_dek", *OF_LOGINS,
):  # fmt: skip
    places(f"{_name}_refused")(calls(_name, "is refused", partial(refusing, _name), made))


def named_state(subject: Subject, call: Call) -> bool:
    """It went well, and the text names one state."""
    step = subject.step(call.step)
    return made(subject, call) and isinstance(step, (plan.Query, plan.LoginState)) and len(step.state) == 1


def named_opaque(subject: Subject, call: Call) -> bool:
    """It went well, and the text names the opaque bytes."""
    step = subject.step(call.step)
    return made(subject, call) and isinstance(step, plan.Query) and step.opaque is not None


def other_state(tap: Tap, go: Go, args: Args) -> Any:
    answer = go()
    return replace(answer, state=answer.state ^ 1)


def other_opaque(tap: Tap, go: Go, args: Args) -> Any:
    answer = go()
    return replace(answer, opaque=answer.opaque[:7] + bytes([answer.opaque[7] ^ 1]))


def other_login_state(tap: Tap, go: Go, args: Args) -> Any:
    return (go() + 1) % 3


for _name in ("login_state", "query_login"):
    places(f"{_name}_other")(calls(_name, "tells another state", lambda call: other_login_state, named_state))

places("dek_other_state")(calls("query_dek", "tells the other state", lambda call: other_state, named_state))
places("dek_other_opaque")(calls("query_dek", "tells other opaque bytes", lambda call: other_opaque, named_opaque))


def made_anyway(tap: Tap, go: Go, args: Args) -> Mkey:
    try:
        return go()  # type: ignore[no-any-return]
    except Refused:
        return tap.device.mkey(args[0], create_flags=1, max_entries=4)


def pair_anyway(tap: Tap, go: Go, args: Args) -> QpPair:
    try:
        return go()  # type: ignore[no-any-return]
    except Refused:
        return tap.device.qp_pair(QpAttributes(private=True))


places("mkey_refusal_lost")(calls("mkey", "is not refused", lambda call: made_anyway, unmade))
places("qp_pair_refusal_lost")(calls("qp_pair", "is not refused", lambda call: pair_anyway, unmade))


@places("create_other_errno")
def create_other_errno(subject: Subject) -> Iterator[Place]:
    for name in ("mkey", "qp_pair", "dek"):
        for call in subject.record.named(name):
            claim = subject.claim(call.step)
            if unmade(subject, call) and isinstance(claim[0], plan.Rejected) and (claim[0].reason or claim[0].rule):
                other = errno_beside(call.result.errno)
                yield Place(
                    call.step,
                    f"{VERBS[name]} is refused with {errno.errorcode[other]}",
                    partial(OnCall, name, call.number, refuse(name, other)),
                )


def granted(subject: Subject, call: Call) -> bool:
    return not refused(call) and bool(call.options["max_entries"])


places("fewer_entries")(
    calls(
        "mkey",
        "grants one entry fewer than was asked for",
        lambda call: lambda tap, go, args: replace(go(), max_entries=call.options["max_entries"] - 1),
        granted,
    )
)


def less_room(pair: QpPair, attributes: QpAttributes) -> QpPair:
    less = attributes.max_inline_data - 1
    return QpPair(replace(pair.owner, max_inline_data=less), replace(pair.peer, max_inline_data=less))


places("less_inline")(
    calls(
        "qp_pair",
        "grants less inline data than was asked for",
        lambda call: lambda tap, go, args: less_room(go(), args[0]),
        lambda subject, call: not refused(call) and call.args[0].max_inline_data > 0,
    )
)

# Posting -------------------------------------------------------------------------------------


def accepted(subject: Subject, call: Call) -> bool:
    """ibv_wr_complete gave 0, and the text takes no errno. (One of an abort is nobody's.)"""
    return call.result == 0 and not call.options.get("abort") and "complete" not in subject.phases(call.step)


def claimed(subject: Subject, call: Call) -> bool:
    return bool(call.result) and subject.must(call.step) and "complete" in subject.phases(call.step)


def reasoned(subject: Subject, call: Call) -> bool:
    claim = subject.claim(call.step)
    if not claimed(subject, call) or not claim:  # a `known` alone: its outcome is on the device that departs
        return False
    return isinstance(claim[0], plan.Rejected) and bool(claim[0].reason or claim[0].rule)


places("post_refused")(calls("post", "is refused, and does nothing", lambda call: give(errno.EINVAL), accepted))
places("post_refused_but_done")(
    calls("post", "is refused, and does it", lambda call: lambda tap, go, args: go() or errno.EINVAL, accepted)
)
places("post_refusal_lost")(calls("post", "is not refused, and does nothing", lambda call: give(0), claimed))
places("post_other_errno")(
    calls("post", "is refused with another errno", lambda call: give(errno_beside(call.result)), reasoned)
)
places("post_nothing")(calls("post", "says 0 and does nothing", lambda call: give(0), accepted))
places("post_twice")(calls("post", "does it twice", lambda call: lambda tap, go, args: go() or go(), accepted))
places("recv_refused")(calls("post_recv", "is refused", lambda c: give(errno.ENOMEM), lambda s, c: not c.result))
places("recv_nothing")(
    calls(
        "post_recv",
        "says 0 and does nothing",
        lambda call: give(0),
        lambda s, c: not c.result and not any("completion" in s.phases(step) for step in range(c.step, len(s.steps))),
    )
)


class Dropped(Disturbance):
    """Of a section one request is left out."""

    def __init__(self, number: int, place: int) -> None:
        super().__init__()
        self.number, self.place = number, place

    def call(self, tap: Tap, name: str, number: int, go: Go, args: Args) -> Any:
        if name != "post" or number != self.number:
            return go()
        self.done = True
        return tap.device.post(args[0], [*args[1][: self.place], *args[1][self.place + 1 :]])


@places("request_dropped")
def request_dropped(subject: Subject) -> Iterator[Place]:
    for call in subject.record.named("post"):
        if accepted(subject, call) and len(call.args[1]) > 1:
            for place, request in enumerate(call.args[1]):
                yield Place(
                    call.step,
                    f"request {place} of post {call.number} ({type(request).__name__}) is left out",
                    partial(Dropped, call.number, place),
                )


# Signature pipelining ------------------------------------------------------------------------


def counted(subject: Subject, call: Call) -> bool:
    return bool(call.result >= 0) and "cancel" not in subject.phases(call.step)


places("cancel_one_more")(calls("cancel", "counts one more", lambda c: lambda t, go, a: go() + 1, counted))
places("cancel_one_less")(
    calls("cancel", "counts one fewer", lambda c: lambda t, go, a: go() - 1, lambda s, c: c.result > 0)
)
places("cancel_refused")(calls("cancel", "is refused", lambda c: give(-errno.EINVAL), counted))
places("cancel_refusal_lost")(
    calls(
        "cancel",
        "is not refused",
        lambda c: give(0),
        lambda s, c: c.result < 0 and s.must(c.step) and "cancel" in s.phases(c.step),
    )
)
places("cancel_nothing")(calls("cancel", "cancels nothing", lambda c: give(c.result), lambda s, c: c.result > 0))
places("cancel_all")(calls("cancel", "cancels others as well", lambda c: cancelling, counted))


def cancelling(tap: Tap, go: Go, args: Args) -> Any:
    """Beside the one that is asked for, every id that was posted on this QP is cancelled."""
    found = go()
    for wr_id in tap.posted.get(args[0].handle, ()):
        if wr_id != args[1]:
            tap.device.cancel(args[0], wr_id)
    return found


places("resume_refused")(calls("resume", "is refused", lambda c: give(errno.EINVAL), lambda s, c: c.result == 0))
places("resume_nothing")(calls("resume", "does nothing", lambda c: give(0), lambda s, c: c.result == 0))


class InName(Disturbance):
    """The signaled requests of a section complete, and none is carried out."""

    def __init__(self, number: int, told: list[Completion]) -> None:
        super().__init__()
        self.number, self.told = number, told

    def call(self, tap: Tap, name: str, number: int, go: Go, args: Args) -> Any:
        if name != "post" or number != self.number:
            return go()
        self.done = True
        for one in self.told:
            tap.arrived(tap.numbers[args[0].handle], args[0].handle, replace(one, qp=args[0]))
        return 0


def closes_uc(subject: Subject, call: Call) -> bool:
    """An empty message of the rig on UC, which may be lost."""
    qp, requests = call.args
    of = subject.record.types[subject.record.numbers[qp.handle]].type
    return of == "uc" and call.result == 0 and all(isinstance(one, Send) and not one.sges for one in requests)


@places("done_in_name")
def done_in_name(subject: Subject) -> Iterator[Place]:
    yield from in_name(subject, lambda call: not closes_uc(subject, call))


@places("uc_message_lost")
def uc_message_lost(subject: Subject) -> Iterator[Place]:
    yield from in_name(subject, lambda call: closes_uc(subject, call))


def in_name(subject: Subject, which: Callable[[Call], bool]) -> Iterator[Place]:
    for call in filter(which, subject.record.named("post")):
        handle = call.args[0].handle
        ids = {request.wr_id for request in call.args[1] if hasattr(request, "wr_id")}
        told = [
            seen.completion
            for seen in subject.record.seen
            if seen.completion.qp.handle == handle
            and seen.queue == "send"
            and seen.step >= call.step
            and seen.completion.wr_id in ids
        ]
        is_open = any(not subject.must(step) for step in range(call.step, len(subject.steps)))
        if closes_uc(subject, call):
            plain, is_open = True, False
        else:
            plain = accepted(subject, call) and "completion" not in subject.phases(call.step)
            plain = plain and subject.step(call.step) is not None
        if plain and not is_open:
            yield Place(
                call.step, f"post {call.number} completes, and is not carried out", partial(InName, call.number, told)
            )


# Skips ---------------------------------------------------------------------------------------


class Unable(Disturbance):
    """A byte is flipped, and a later call says that the device can't do what it is asked for."""

    def __init__(self, step: int, region: int, offset: int) -> None:
        super().__init__()
        self.step, self.region, self.offset, self.flipped = step, region, offset, False

    def boundary(self, tap: Tap, step: int) -> None:
        if step == self.step:
            self.flipped = True
            tap.flip(self.region, self.offset)

    def call(self, tap: Tap, name: str, number: int, go: Go, args: Args) -> Any:
        if not self.flipped or name not in ("post", "mkey", "memory", "qp_pair"):
            return go()
        self.done = True
        raise Unsupported("this firmware has no such thing")


@places("skipped_after_a_flip")
def skipped_after_a_flip(subject: Subject) -> Iterator[Place]:
    later = [call.step for call in subject.record.calls if call.name in ("post", "mkey", "memory", "qp_pair")]
    for region in subject.record.regions:
        for step in range(region.step + 1, max(later, default=-1) + 1):
            yield Place(
                step,
                f"the guard of buffer {region.number} is written to, and the row is skipped",
                partial(Unable, step, region.number, 3),
            )


# The end, and devices that die ---------------------------------------------------------------

places("release_refused")(calls("release", "is refused with EBUSY", lambda call: refuse("release", errno.EBUSY)))
places("reconnect_refused")(calls("reconnect", "is refused", lambda call: refuse("reconnect", errno.EIO)))


def busy(call: Call) -> Callable[[Tap, Go, Args], Any]:
    def answer(tap: Tap, go: Go, args: Args) -> Any:
        go()
        raise OSError(errno.EBUSY, "ibv_dereg_mr")

    return answer


places("release_raises")(calls("release", "raises EBUSY", busy))


class Refuses(Disturbance):
    """From a step on, calls of one name are refused."""

    def __init__(self, name: str, step: int) -> None:
        super().__init__()
        self.name, self.step, self.dead = name, step, False

    def boundary(self, tap: Tap, step: int) -> None:
        self.dead = self.dead or step == self.step

    def call(self, tap: Tap, name: str, number: int, go: Go, args: Args) -> Any:
        if not self.dead or name != self.name:
            return go()
        self.done = True
        raise Refused(VERBS.get(name, name), errno.EIO)


def refuses(name: str) -> Callable[[Subject], Iterator[Place]]:
    def found(subject: Subject) -> Iterator[Place]:
        for step in range(len(subject.steps) + 1):
            yield Place(step, f"{VERBS.get(name, name)} is refused from here on", partial(Refuses, name, step))

    return found


for _name in ("poll", "events", "read", "write"):
    places(f"{_name}_refused")(refuses(_name))


class Wedge(Disturbance):
    """From a step on the device is dead: calls are refused, and nothing comes. `silent`: posts say 0 all the same."""

    def __init__(self, step: int, silent: bool) -> None:
        super().__init__()
        self.step, self.silent, self.dead = step, silent, False

    def boundary(self, tap: Tap, step: int) -> None:
        self.dead = self.done = self.dead or step == self.step

    def call(self, tap: Tap, name: str, number: int, go: Go, args: Args) -> Any:
        if not self.dead or name in ("read", "write"):
            return go()
        if self.silent and name in ("memory", "release", "mkey", "mkey_check"):
            return go()
        if name in ("poll", "events"):
            return []
        if name in ("post", "post_recv", "resume", "cancel"):
            return 0 if self.silent else -errno.EIO if name == "cancel" else errno.EIO
        if name == "release":
            go()
        raise Refused(VERBS.get(name, name), errno.EIO)


@places("wedge")
def wedge(subject: Subject) -> Iterator[Place]:
    for step in range(len(subject.steps) + 1):
        yield Place(step, "the device is dead from here on", partial(Wedge, step, False))


@places("wedge_silent")
def wedge_silent(subject: Subject) -> Iterator[Place]:
    later = [call.step for call in subject.record.calls if call.name in ("post", "reconnect")]
    for step in range(max(later, default=-1) + 1):
        yield Place(step, "nothing comes from here on", partial(Wedge, step, True))


# Legal ---------------------------------------------------------------------------------------


def roomy(subject: Subject, call: Call) -> bool:
    return not refused(call) and call.result.max_entries < 60000 and made(subject, call)


places("more_entries")(
    calls(
        "mkey",
        "grants four entries more",
        lambda call: (
            lambda tap, go, args: tap.device.mkey(
                args[0],
                create_flags=call.options["create_flags"],
                max_entries=call.result.max_entries + 4,
            )
        ),
        lambda subject, call: call.options["pd"] is None and roomy(subject, call),
    )
)


class Views(Disturbance):
    """What a read gave is something else when the next call comes that is none."""

    def __init__(self) -> None:
        super().__init__()
        self.lent: list[Any] = []

    def call(self, tap: Tap, name: str, number: int, go: Go, args: Args) -> Any:
        if name != "read":
            for view in self.lent:
                view[:] = 0xDB
            self.lent = []
            return go()
        self.done = True
        found = go().copy()
        self.lent.append(found)
        return found


@places("views_expire")
def views_expire(subject: Subject) -> Iterator[Place]:
    if subject.record.regions:
        yield Place(0, "what was read is overwritten by the next call", Views)


@places("untouched")
def untouched(subject: Subject) -> Iterator[Place]:
    yield Place(0, "nothing is done", lambda: AtBoundary(0, lambda tap: None))
