"""Rules of what an mkey's layout has in it: the buffers and mkeys that a request touches through it.

An mkey in a layout is raw memory to the one that has it, and needs the local right only (docs/design/data-path.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from mkeyspec import plan
from mkeyspec.abi.constants import MR_ACCESS, Access
from mkeyspec.compiler.check.access import check_side, pd_text, rights_text
from mkeyspec.compiler.check.context import Context, place
from mkeyspec.compiler.check.mkey_state import how_to_fix, is_as_open, since
from mkeyspec.compiler.check.state import ACCESS, LAYOUT, AbstractMkey
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.layout import Layout, Part
from mkeyspec.value.live import Live, is_known, known_number

DEEPEST = 8
"""Mkeys inside one another, the outermost with them."""

Reach = tuple[int, int]
"""The bytes of a layout that are touched: the first one, and the one after the last."""


def check_inside(context: Context, request: object, part: Part, key: AbstractMkey, use: plan.Use) -> bool:
    """False, and recorded, if the layout contains an mkey without a known layout, or too many inside one another."""
    if not _look_depth(context, request, part, key):
        return False
    left, seen = [key], {part.name}
    while left:
        for name in _keys_of(left.pop().layout):
            inner = context.mkey(name)
            if inner is None or name in seen:
                continue
            seen.add(name)
            left.append(inner)
            if inner.destroyed is not None:
                message = f"{_led_to(name, part)}, was destroyed at {place(inner.destroyed)}"
                context.broken("destroyed_key", message, part, fallback=request, reason=use.reason)
                return False
            if inner.unknown & (LAYOUT | ACCESS if use.writes else LAYOUT) and not is_as_open(context, inner):
                context.broken(
                    "unknown_state",
                    f"{_led_to(name, part)}, is in an unknown state {since(inner)}",
                    part,
                    fallback=request,
                    help=how_to_fix(name, inner, None),
                )
                return False
    return True


def _look_depth(context: Context, request: object, part: Part, key: AbstractMkey) -> bool:
    """False, and recorded, if more than DEEPEST mkeys are inside one another. No page says how many may be; the
    kernel's driver reads the device's number (max_indirection), and libmlx5 doesn't tell it."""
    inside: dict[str, set[str]] = {}
    left = {part.name: key}
    while left:
        name, one = left.popitem()
        inside[name] = {below for below in _keys_of(one.layout) if context.mkey(below) is not None}
        left |= {below: inner for below in inside[name] - inside.keys() if (inner := context.mkey(below)) is not None}
    depth = 0
    while innermost := [name for name, below in inside.items() if not below & inside.keys()]:
        depth += 1
        for name in innermost:
            del inside[name]
    if inside or depth <= DEEPEST:  # what is left is a circle, which was reported
        return True
    context.broken(
        "nested_too_deep",
        f"the layout of `{part.name}` has more than {DEEPEST} mkeys inside one another",
        part,
        fallback=request,
        help=f"no page says how many may be; up to {DEEPEST} are supported here",
    )
    return False


def check_entries(
    context: Context, request: object, part: Part, use: plan.Use, key: AbstractMkey, reach: Reach | None
) -> None:
    """The buffers and mkeys of the mkey's layout: their access rights, protection domains, keys, bounds.

    `reach` None: which bytes are touched is not known, so all entries count; mkeys inside are not looked at.
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
        if reach is not None and alone and not begin < reach[1]:
            break
        if reach is not None and alone and offset <= reach[0] and is_known(target.length):
            continue
        if (target.name, target.but) in seen:
            continue
        seen.add((target.name, target.but))
        _entry(context, request, part, target, use, key)
    if reach is not None:
        _look_keys_inside(context, request, part, use, key, reach, {part.name})


def _entry(context: Context, request: object, part: Part, target: Part, use: plan.Use, key: AbstractMkey) -> None:
    memory = context.state.memory(target.name)
    state = memory or context.state.mkey(target.name)
    if state is None:
        return
    for member, value in target.but:
        if member == "lkey" and value == Live(target.name, "lkey"):
            continue
        if member in ("lkey", "addr", "length"):
            context.broken(
                "bad_lkey",
                f"the layout of `{part.name}` has an entry whose {member} is not that of `{target.name}`",
                part,
                fallback=request,
                by_but=True,
                definite=member == "lkey",
                reason=use.reason,
            )
            return
    if check_side(context, request, target, state.peer, key.peer):
        return
    _look_pd(context, request, part, use, part.name, key, target.name)
    if memory is not None and use.writes:
        granted = int(MR_ACCESS) if memory.access is None else memory.access
        if not granted & Access.LOCAL_WRITE:
            context.broken(
                "access_right",
                f"`{use.verb}` writes into `{target.name}` through `{part.name}`, which grants {rights_text(granted)}",
                part,
                fallback=request,
                notes=(Note(f"`{target.name}` is declared at {place(state.at)}"),),
                reason=use.reason,
            )


def _look_keys_inside(
    context: Context, request: object, part: Part, use: plan.Use, key: AbstractMkey, reach: Reach, above: set[str]
) -> None:
    """The mkeys among the touched entries, and what those lead to. `above`: those that lead here."""
    layout = key.layout
    if layout is None or not any(context.mkey(name) for name in _keys_of(layout)):
        return
    try:
        touched = layout.window(reach[0], min(reach[1], layout.length or 0) - reach[0])
    except ValueError:  # where an entry begins is read from the device
        return
    for name, (start, end) in _spans(touched).items():
        inner = context.mkey(name)
        if inner is None or name in above or not _look_key_inside(context, request, part, use, name, inner, end):
            continue
        assert inner.layout is not None
        for below in dict.fromkeys(_keys_of(inner.layout)):
            _look_pd(context, request, part, use, name, inner, below)
        _look_keys_inside(context, request, part, use, inner, (start, end), above | {name})


def _spans(segments: list[tuple[str, int, int]]) -> dict[str, Reach]:
    """Of each buffer or mkey the range that contains all that is touched of it."""
    spans: dict[str, Reach] = {}
    for name, start, size in segments:
        low, high = spans.get(name, (start, start))
        spans[name] = min(low, start), max(high, start + size)
    return spans


def _look_key_inside(
    context: Context, request: object, part: Part, use: plan.Use, name: str, inner: AbstractMkey, end: int
) -> bool:
    """False, and recorded, if the use of an mkey inside is refused."""
    granted = inner.access
    if inner.invalidated is not None:
        rule, what = "invalidated_key", f"is invalidated at {place(inner.invalidated)} and not configured since"
    elif inner.layout is None:
        rule, what = "no_layout", "has no layout"
    elif use.writes and (granted is None or (is_known(granted) and not granted & Access.LOCAL_WRITE)):
        has = "its access was never set" if granted is None else f"it grants {rights_text(int(granted))}"
        rule, what = "access_right", f"is written to, which needs local_write of it, and {has}"
    elif inner.length is not None and end > inner.length:
        rule, what = "beyond_layout", f"has {inner.length} bytes, and {end} are wanted of it"
    else:
        return True
    context.broken(
        rule,
        f"{_led_to(name, part)}, {what}",
        part,
        fallback=request,
        notes=context.declared(name),
        reason=use.reason,
    )
    return False


def _look_pd(
    context: Context, request: object, part: Part, use: plan.Use, name: str, key: AbstractMkey, inside: str
) -> None:
    """The pd of a buffer or mkey in the layout of the mkey `name`, against that of this mkey."""
    state = context.state.memory(inside) or context.mkey(inside)
    if state is not None and state.pd != key.pd:
        context.broken(
            "foreign_pd",
            f"the layout of `{name}`, which is of {pd_text(key.pd)}, has `{inside}` of {pd_text(state.pd)}",
            part,
            fallback=request,
            notes=context.declared(inside),
            reason=use.reason,
        )


def _led_to(name: str, part: Part) -> str:
    return f"`{name}`, to which the layout of `{part.name}` leads"


def _keys_of(layout: Layout | None) -> Iterator[str]:
    for part in layout.targets() if layout is not None else ():
        yield part.name
