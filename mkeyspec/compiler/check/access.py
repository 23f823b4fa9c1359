"""Access rules: access rights at the time of the transfer, protection domains, keys, sides."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.state import AbstractMkey, MemoryState
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, Live, is_known

_RIGHTS = ((1, "local_write"), (2, "remote_write"), (4, "remote_read"), (8, "remote_atomic"))


def rights_text(flags: int) -> str:
    """`remote_read | remote_write`, `0`."""
    return " | ".join(name for flag, name in _RIGHTS if flags & flag) or "0"


def check_right(context: Context, request: object, part: Part, use: plan.Use, granted: Int | None, at: plan.At) -> None:
    """`granted`: of the mkey, None: never set. Then it is taken for local read only (X-OPEN-23)."""
    if not use.right or (is_known(granted) and granted & use.right):
        return
    needed = rights_text(use.right)
    if granted is not None and not is_known(granted):
        context.broken(
            "access_right",
            f"whether `{part.name}` grants {needed} is read from the device",
            part,
            fallback=request,
            definite=False,
            reason=use.reason,
        )
        return
    word = "rights" if context.state.memory(part.name) is not None else "access"
    has = "its access was never set" if granted is None else f"it grants {rights_text(granted)}"
    context.broken(
        "access_right",
        f"`{use.verb}` needs {needed} of `{part.name}`, and {has}",
        part,
        fallback=request,
        notes=context.declared(part.name),
        help=f"{word} {needed}" if granted is None else f"{word} {rights_text(granted | use.right)}",
        reason=use.reason,
    )


def check_memory(
    context: Context, request: object, part: Part, use: plan.Use, state: MemoryState, pd: str | None
) -> None:
    """A plain buffer named by a data request."""
    if _key_overridden(context, request, part, use):
        return
    if state.access is not None:
        check_right(context, request, part, use, state.access, state.at)
    check_pd(context, request, part, use, part.name, state.pd, pd)


def check_pd(
    context: Context, request: object, part: Part, use: plan.Use, name: str, pd: str | None, other: str | None
) -> None:
    """`pd` of the buffer or mkey `name` against that of the QP that uses it."""
    if pd != other:
        context.broken(
            "foreign_pd",
            f"`{name}` is of {pd_text(pd)}, the QP of {pd_text(other)}",
            part,
            fallback=request,
            notes=context.declared(name),
            reason=use.reason,
        )


def check_side(context: Context, request: object, part: Part, peer: bool, used_by_peer: bool) -> bool:
    """The buffer or mkey must belong to the endpoint whose key is used; True if it does not."""
    return peer != used_by_peer and _other_side(context, request, part.name, peer, "a buffer", part)


def check_key_side(context: Context, request: plan.Wr, name: str, of_peer: bool, member: str = "") -> bool:
    """A request that configures an mkey, or invalidates it, names one of the end that it is carried out at; True if it
    does not."""
    key = context.mkey(name)
    return (
        key is not None
        and key.peer != of_peer
        and _other_side(context, request, name, key.peer, "an mkey", request, member)
    )


def _other_side(
    context: Context, request: object, name: str, peer: bool, wanted: str, thing: object, member: str = ""
) -> bool:
    owner, other = ("peer", "owner") if peer else ("owner", "peer")
    context.broken(
        "wrong_side",
        f"`{name}` belongs to the {owner}, and {wanted} of the {other} is wanted here",
        thing,
        member,
        fallback=request,
        notes=context.declared(name),
    )
    return True


def check_keys(context: Context, request: plan.Wr | plan.Step, part: Part, use: plan.Use, key: AbstractMkey) -> bool:
    """`but lkey …`, `but rkey …`, `but tag …` on the use of an mkey, or a tag that no configuration has told the device
    of; True if another key is used."""
    for member, value in (*part.but, *plan.options_of(request).but):
        if member == "tag" and value == key.armed_tag:
            return False
        if member == "tag":
            context.broken(
                "update_tag",
                f"tag {_number(value)} is used, and `{part.name}` has {_number(key.armed_tag)}",
                part,
                "tag",
                fallback=request,
                by_but=True,
                definite=is_known(value) and is_known(key.armed_tag),
                reason=use.reason,
            )
            return True
    if _key_overridden(context, request, part, use):
        return True
    if key.tag == key.armed_tag:
        return False
    context.broken(
        "update_tag",
        f"`{part.name}` has the tag {_number(key.tag)} since its `retag`, and was not configured after it",
        part,
        fallback=request,
        definite=is_known(key.tag) and is_known(key.armed_tag),
        help=f"configure {part.name} {{ … }} after the `retag`",
        reason=use.reason,
    )
    return True


def check_invalidated_tag(context: Context, request: plan.Send | plan.Invalidate, key: AbstractMkey, name: str) -> bool:
    """An invalidation names the key with its tag of now, and the device knows that of its last configuration; True if
    that differs. No page says what it does with it: a claim has a reason of its own. `but` says another key."""
    overridden = any(member in ("rkey", "invalidate_rkey") for member, _ in request.options.but)
    if key.tag == key.armed_tag or overridden:
        return False
    context.broken(
        "update_tag",
        f"`{name}` has the tag {_number(key.tag)} since its `retag`, and was not configured after it",
        request,
        "key",
        definite=is_known(key.tag) and is_known(key.armed_tag) and not plan.may_be_rejected(_claim_of(context.step)),
        help=f"{'peer ' if key.peer else ''}configure {name} {{ … }} after the `retag`",
        phases=(),
    )
    return True


def _claim_of(step: plan.Step) -> plan.Claim:
    claim: plan.Claim = getattr(step, "claim", ())
    return claim


def _key_overridden(context: Context, request: object, part: Part, use: plan.Use) -> bool:
    mine = "rkey" if use.remote else "lkey"
    # On the part itself either name is meant for this use; among a request's modifiers each has its own part.
    options = tuple(pair for pair in plan.options_of(request).but if pair[0] == mine)
    for member, value in (*part.but, *options):
        if member in ("lkey", "rkey") and value != Live(part.name, member):
            context.broken(
                "bad_lkey",
                f"the {member} is not that of `{part.name}`",
                part,
                member,
                fallback=request,
                by_but=True,
                reason=use.reason,
            )
            return True
    return False


def _number(value: Int) -> str:
    return hex(value) if is_known(value) else "a live value"


def pd_text(pd: str | None) -> str:
    return "the default pd" if pd is None else f"pd `{pd}`"
