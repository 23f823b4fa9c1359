"""Access rules: access rights at the time of the transfer, protection domains, keys, sides."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import MR_ACCESS, Access
from mkeyspec.compiler.check.context import Look, place
from mkeyspec.compiler.check.state import AbstractMkey, MemoryState
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, Live, is_known, known_number

_RIGHTS = ((1, "local_write"), (2, "remote_write"), (4, "remote_read"), (8, "remote_atomic"))


def rights_text(flags: int) -> str:
    """`remote_read | remote_write`, `0`."""
    return " | ".join(name for flag, name in _RIGHTS if flags & flag) or "0"


def look_right(look: Look, request: object, part: Part, use: plan.Use, granted: Int | None, at: plan.At) -> None:
    """`granted`: of the mkey, None: never set. Then it is taken for local read only (X-OPEN-23)."""
    if not use.right or (is_known(granted) and granted & use.right):
        return
    needed = rights_text(use.right)
    if granted is not None and not is_known(granted):
        look.broken(
            "access_right",
            f"whether `{part.name}` grants {needed} is read from the device",
            part,
            fallback=request,
            certain=False,
            reason=use.reason,
        )
        return
    word = "rights" if look.state.memory(part.name) is not None else "access"
    has = "its access was never set" if granted is None else f"it grants {rights_text(granted)}"
    look.broken(
        "access_right",
        f"`{use.verb}` needs {needed} of `{part.name}`, and {has}",
        part,
        fallback=request,
        notes=look.declared(part.name),
        help=f"{word} {needed}" if granted is None else f"{word} {rights_text(granted | use.right)}",
        reason=use.reason,
    )


def look_memory(look: Look, request: object, part: Part, use: plan.Use, state: MemoryState, pd: str | None) -> None:
    """A plain buffer named by a data request."""
    if _key_overridden(look, request, part, use):
        return
    if state.access is not None:
        look_right(look, request, part, use, state.access, state.at)
    look_pd(look, request, part, use, part.name, state.pd, pd)


def look_pd(
    look: Look, request: object, part: Part, use: plan.Use, name: str, pd: str | None, other: str | None
) -> None:
    """`pd` of the buffer or mkey `name` against that of the QP that uses it."""
    if pd != other:
        look.broken(
            "foreign_pd",
            f"`{name}` is of {_pd_text(pd)}, the QP of {_pd_text(other)}",
            part,
            fallback=request,
            notes=look.declared(name),
            reason=use.reason,
        )


def look_side(look: Look, request: object, part: Part, peer: bool, used_by_peer: bool) -> bool:
    """The buffer or mkey must belong to the endpoint whose key is used; True if it does not."""
    if peer == used_by_peer:
        return False
    owner, other = ("peer", "owner") if peer else ("owner", "peer")
    look.broken(
        "wrong_side",
        f"`{part.name}` belongs to the {owner}, and a buffer of the {other} is wanted here",
        part,
        fallback=request,
        notes=look.declared(part.name),
    )
    return True


def look_keys(look: Look, request: plan.Wr | plan.Step, part: Part, use: plan.Use, key: AbstractMkey) -> bool:
    """`but lkey …`, `but rkey …`, `but tag …` on the use of an mkey; True if another key is used."""
    for member, value in (*part.but, *plan.options_of(request).but):
        if member == "tag" and value != key.tag:
            look.broken(
                "update_tag",
                f"tag {_number(value)} is used, and `{part.name}` has {_number(key.tag)}",
                part,
                "tag",
                fallback=request,
                forced=True,
                certain=is_known(value) and is_known(key.tag),
                reason=use.reason,
            )
            return True
    return _key_overridden(look, request, part, use)


def _key_overridden(look: Look, request: object, part: Part, use: plan.Use) -> bool:
    mine = "rkey" if use.remote else "lkey"
    # On the part itself either name is meant for this use; among a request's modifiers each has its own part.
    options = tuple(pair for pair in plan.options_of(request).but if pair[0] == mine)
    for member, value in (*part.but, *options):
        if member in ("lkey", "rkey") and value != Live(part.name, member):
            look.broken(
                "bad_lkey",
                f"the {member} is not that of `{part.name}`",
                part,
                member,
                fallback=request,
                forced=True,
                reason=use.reason,
            )
            return True
    return False


def look_entries(look: Look, request: object, part: Part, use: plan.Use, key: AbstractMkey, reach: int | None) -> None:
    """The buffers of the mkey's layout: their access rights, protection domains and keys.

    `reach`: the end of the bytes that are touched, from 0; None: unknown, so all. A later entry is not used.
    """
    layout = key.layout
    if layout is None:
        return
    seen: set[tuple[str, plan.Overrides]] = set()
    offset: int = 0
    for entry in layout.given():
        target = entry.target()
        begin = offset
        alone = entry is target  # the offset of a repeated or interleaved entry is not counted
        offset += (known_number(target.length) or 0) if alone else 0
        if reach is not None and alone and begin >= reach:
            break
        if (target.name, target.but) in seen:
            continue
        seen.add((target.name, target.but))
        _entry(look, request, part, target, use, key)


def _entry(look: Look, request: object, part: Part, target: Part, use: plan.Use, key: AbstractMkey) -> None:
    memory = look.state.memory(target.name)
    state = memory or look.state.mkey(target.name)
    if state is None:
        return
    for member, value in target.but:
        if member == "lkey" and value == Live(target.name, "lkey"):
            continue
        if member in ("lkey", "addr", "length"):
            look.broken(
                "bad_lkey",
                f"the layout of `{part.name}` has an entry whose {member} is not that of `{target.name}`",
                part,
                fallback=request,
                forced=True,
                certain=member == "lkey",
                reason=use.reason,
            )
            return
    if look_side(look, request, target, state.peer, key.peer):
        return
    if state.pd != key.pd:
        look.broken(
            "foreign_pd",
            f"the layout of `{part.name}`, which is of {_pd_text(key.pd)}, has `{target.name}` of {_pd_text(state.pd)}",
            part,
            fallback=request,
            notes=look.declared(target.name),
            reason=use.reason,
        )
    if memory is not None and use.writes:
        granted = int(MR_ACCESS) if memory.access is None else memory.access
        if not granted & Access.LOCAL_WRITE:
            look.broken(
                "access_right",
                f"`{use.verb}` writes into `{target.name}` through `{part.name}`, which grants {rights_text(granted)}",
                part,
                fallback=request,
                notes=(Note(f"`{target.name}` is declared at {place(state.at)}"),),
                reason=use.reason,
            )


def _number(value: Int) -> str:
    return hex(value) if is_known(value) else "a live value"


def _pd_text(pd: str | None) -> str:
    return "the default pd" if pd is None else f"pd `{pd}`"
