"""Rules of inline data: the bytes are taken from a buffer when the request is posted (ibv_wr_post(3))."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check.context import Context, count, place
from mkeyspec.compiler.check.state import AbstractState, may_be_refused
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.layout import Part
from mkeyspec.value.live import is_known

_BUT = ("addr", "length", "lkey", "tag")
"""Members of an SGE, which inline data have not."""


def check_inline(context: Context, request: plan.Send | plan.Write) -> None:
    """The host copies the bytes: from a buffer, by its address, before a device has done anything of the section."""
    if not request.options.inline:
        return
    for part in request.data:
        if context.state.mkey(part.name) is not None:
            message = f"`{part.name}` is an mkey: the host copies inline data, and an mkey has no address for it"
            context.broken("inline_source", message, part, fallback=request, help="a buffer, or leave `inline` out")
        elif part.but:
            _no_sge(context, part.but[0][0], request)
    for member, _ in request.options.but:
        if member in _BUT:
            _no_sge(context, member, request)
    _look_order(context, request)
    _look_room(context, request)


def _no_sge(context: Context, member: str, request: plan.Send | plan.Write) -> None:
    message = f"inline data have no SGE, so that `{member}` can't be wrong: the host reads them"
    context.broken("inline_source", message, request, help="leave `but` or `inline` out")


def _look_order(context: Context, request: plan.Send | plan.Write) -> None:
    """What an earlier request of the section brings is not there yet when the bytes are taken."""
    names = {part.name for part in request.data}
    for earlier in context.step.posted():
        if earlier is request:
            return
        for part in earlier.writes():
            brought = names & set(_reached(context.state, part))
            if brought:
                name = min(brought)
                context.broken(
                    "inline_source",
                    f"the bytes of `{name}` are taken when the section is posted, before the {earlier.name()} at "
                    f"{place(earlier.at)} brings others",
                    request,
                    help="leave `inline` out, or post it after that request",
                )
                return


def _reached(state: AbstractState, part: Part) -> list[str]:
    """The buffers that a part may be of."""
    found, left = list[str](), [part.name]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.append(name)
        key = state.mkey(name)
        if key is not None and key.layout is not None:
            left += [target.name for target in key.layout.targets()]
    return found


def _look_room(context: Context, request: plan.Send | plan.Write) -> None:
    """A driver may grant more than was asked for (ibv_create_qp(3)): beyond it neither outcome can be claimed."""
    length = plan.total(request.data)
    if not is_known(length) or length <= context.qp.max_inline_data:
        return
    context.broken(
        "inline_room",
        f"{count(length, 'byte')} inline, and the QP was made for {context.qp.max_inline_data}",
        request,
        "inline",
        notes=() if context.qp.at is None else (Note(f"the QP is declared at {place(context.qp.at)}"),),
        help=f"qp {context.qp_name} {{ max_inline_data {length} }}; or, as a device may grant more: "
        "`accepted or rejected at complete`",
        definite=not may_be_refused(getattr(context.step, "claim", ())),
        phases=("complete",) if may_be_refused(getattr(context.step, "claim", ())) else (),
    )
