"""`but` without effect (MKS0327): a member that is not passed on in this part of a request.

With such a `but` nothing is wrong in the request, and the case passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.value.layout import Layout, Part

LOCAL = ("addr", "length", "lkey", "tag")
"""What a local SGE has; `tag` is the lowest byte of the key."""
REMOTE = ("addr", "rkey", "tag")
"""What the remote end of an RDMA request has: its length is the local one's."""
PEER_READ = ("addr", "length", "rkey", "tag")
"""The rig reads as many bytes as the request of the case says."""
COPY_TO = ("addr", "lkey", "tag")
"""The target of a memcpy: the source has the length."""
STRIDED = ("addr", "lkey")
"""What is a part's own in an entry of an interleaved layout; its length is the entry's `count`."""

_TRANSFERS = {"peer_read": PEER_READ, "peer_write": REMOTE, "peer_write_imm": REMOTE}
"""Operations that use an mkey by its rkey; the others use it by its lkey."""

_DC = ("dctn", "dc_key")


class _Found(NamedTuple):
    """An override without effect: of `thing` (for its place), and why."""

    member: str
    thing: object
    why: str


def check_effect(state: AbstractState, step: plan.Step, origin: Origin, diagnostics: Diagnostics) -> bool:
    """Report every `but` of `step` that has no effect; True if there is none."""
    found = list(_step(state, step))
    for member, thing, why in found:
        diagnostics.error(
            "MKS0327",
            f"`but {member}` has no effect: {why}",
            origin.get(thing, member, step),
            help="leave it out, or set what this request passes on",
        )
    return not found


def _step(state: AbstractState, step: plan.Step) -> Iterable[_Found]:
    match step:
        case plan.Transmit() | plan.Receive():
            takes = _TRANSFERS.get(step.by, LOCAL)
            where = f"by {step.by} the mkey has {_listed(takes)}"
            yield from _unread(step.part.but, takes, step.part, where)
            yield from _unread(step.options.but, takes, step, where)
        case plan.Recv():
            yield from _parts(step.into, LOCAL)
        case plan.Store():
            yield from _unread(step.to.but, (), step.to, "the host writes to the buffer itself")
        case _:
            for request in step.posted():
                yield from _request(state, request)


def _request(state: AbstractState, request: plan.Wr) -> Iterable[_Found]:
    match request:
        case plan.Configure():
            for setter in request.setters:
                yield from _setter(setter)
        case plan.StraySetter():
            yield from _setter(request.setter)
        case plan.MrList() | plan.MrInterleaved():
            yield from _layout(request.layout)
        case plan.Memcpy():
            yield from _unread(request.source.but, LOCAL, request.source, f"the source has {_listed(LOCAL)}")
            yield from _unread(request.to.but, COPY_TO, request.to, f"the target has {_listed(COPY_TO)}")
        case plan.Addressed():
            local, remote = request.local(), request.remote()
            yield from _parts(local, LOCAL)
            if remote is not None:
                yield from _unread(remote.but, REMOTE, remote, f"the remote end has {_listed(REMOTE)}")
            if request.options.but:
                yield from _of_request(state, request, local, remote)
        case plan.Invalidate() | plan.RawWqe():
            pass
        case _:
            assert_never(request)


def _of_request(
    state: AbstractState, request: plan.Wr, local: tuple[Part, ...], remote: Part | None
) -> Iterable[_Found]:
    """Overrides of a data request itself: they apply to its first SGE, or to its remote end."""
    members = [member for member, _ in request.options.but]
    for member in members:
        if member in _DC and request.options.dct is None:
            yield _Found(member, request, "the request goes to no DCT")
        elif member in ("addr", "length", "lkey") and not local:
            yield _Found(member, request, "the request has no data")
        elif member == "tag":
            ends = (*local, remote) if remote is not None else local
            if not any(state.mkey(part.name) for part in ends):
                yield _Found(member, request, "only mkeys have a tag")
    yield from _repeated(request.options.but, request)


def _setter(setter: plan.Setter) -> Iterable[_Found]:
    layout = setter.layout_given()
    if layout is not None:
        yield from _layout(layout)
        if setter.but and not layout.strided:
            yield _Found(setter.but[0][0], setter, "a list layout has no such member")


def _layout(layout: Layout) -> Iterable[_Found]:
    takes = STRIDED if layout.strided else LOCAL
    where = f"{'the part of an interleaved entry' if layout.strided else 'an entry of a list'} has {_listed(takes)}"
    for part in layout.targets():
        yield from _unread(part.but, takes, part, where)


def _parts(parts: tuple[Part, ...], takes: tuple[str, ...]) -> Iterable[_Found]:
    for part in parts:
        if part.but:
            yield from _unread(part.but, takes, part, f"a local buffer has {_listed(takes)}")


def _unread(but: plan.Overrides, takes: tuple[str, ...], thing: object, why: str) -> Iterable[_Found]:
    if not but:
        return
    for member, _ in but:
        if member not in takes:
            yield _Found(member, thing, why)
    yield from _repeated(but, thing)


def _repeated(but: plan.Overrides, thing: object) -> Iterable[_Found]:
    members = [member for member, _ in but]
    for member in dict.fromkeys(members):
        if members.count(member) > 1:
            yield _Found(member, thing, "another one sets the same member")


def _listed(members: tuple[str, ...]) -> str:
    return f"{', '.join(members[:-1])} and {members[-1]}"
