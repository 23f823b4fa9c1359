"""Rules of the layout setters: room in the work request, entries of the mkey."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check.context import Look, count
from mkeyspec.compiler.check.state import QpState
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.layout import Chunk, Layout, List, Part, Repeated
from mkeyspec.value.live import Live, LiveOp

BLOCK = 64
"""Bytes that a signature or crypto setter takes of the WQE's room, and the unit a layout before it is padded to."""
ENTRY = 16
"""Bytes of a list's or interleaved layout's entry in the WQE; the strided header takes as much."""


def look_layouts(look: Look, request: plan.Configure) -> None:
    """All layouts of a configuration, with the blocks that its other setters put into the same WQE."""
    blocks = len({type(s) for s in request.setters if isinstance(s, (plan.SetSignature, plan.SetCrypto))})
    seen = False
    for setter in request.setters:
        if isinstance(setter, plan.SetLayout):
            seen = True
            look_one(look, request, setter, "", setter.layout, request.mkey, blocks)
    if blocks and not seen and blocks * BLOCK > look.qp.room:
        look.broken(
            "list_room",
            f"{blocks} blocks for signature and crypto do not fit: "
            f"they take {blocks * BLOCK} bytes, the WQE has {look.qp.room}",
            request,
            notes=_qp_note(look.qp),
            help=_more_room(blocks * BLOCK),
        )


def look_one(look: Look, request: plan.Wr, thing: object, member: str, layout: Layout, mkey: str, blocks: int) -> None:
    """One layout. `blocks`: 64-byte blocks behind it in the WQE (signature, crypto)."""
    _look_reach(look, request, thing, member, layout)
    _look_circle(look, request, thing, member, layout, mkey)
    entries = entry_count(layout)
    strided = not isinstance(layout, List)
    room_rule = "interleaved_room" if strided else "list_room"
    key = look.mkey(mkey)
    granted = None if key is None else key.entries
    if entries is None:
        _live(look, request, thing, member, layout, [room_rule, "mkey_entries", "strided_entry"][: 2 + strided])
        return
    what = count(entries, "interleaved entry" if strided else "SGE", "interleaved entries" if strided else "")
    size = ENTRY * (entries + strided)
    if blocks:
        size = -(-size // BLOCK) * BLOCK + BLOCK * blocks
    if size > look.qp.room:
        behind = (
            ""
            if not blocks
            else " with the signature or crypto block"
            if blocks == 1
            else " with the signature and crypto blocks"
        )
        look.broken(
            room_rule,
            f"{what}{behind} do not fit into the work request: {size} bytes, its room is {look.qp.room}",
            thing,
            member,
            fallback=request,
            notes=_qp_note(look.qp),
            help=_more_room(size),
        )
    if key is None:
        return
    if granted is None:
        for rule in ("mkey_entries", "strided_entry")[: 1 + strided]:
            look.broken(
                rule, f"`{mkey}`'s entries are read from the device", thing, member, fallback=request, certain=False
            )
    elif entries > granted:
        look.broken(
            "mkey_entries",
            f"{what} need {count(entries + strided, 'mkey entry', 'mkey entries')}, `{mkey}` has {granted}",
            thing,
            member,
            fallback=request,
            notes=look.declared(mkey),
            help=f"entries {entries + strided}",
        )
    elif strided and entries == granted:
        look.broken(
            "strided_entry",
            f"{what} need {count(entries + 1, 'mkey entry', 'mkey entries')}, `{mkey}` has {granted}",
            thing,
            member,
            fallback=request,
            notes=(Note("one entry is consumed by the strided header"), *look.declared(mkey)),
            help=f"entries {entries + 1}",
        )


def _look_circle(look: Look, request: plan.Wr, thing: object, member: str, layout: Layout, mkey: str) -> None:
    """An mkey whose layout leads back to it, by itself or by way of others, has no bytes."""
    above, left = set[str](), _keys_of(look, layout)
    while left:
        name = left.pop()
        if name == mkey:
            how = "itself" if mkey in _keys_of(look, layout) else "a key that leads back to it"
            look.broken(
                "own_layout",
                f"the layout of `{mkey}` has {how} in it",
                thing,
                member,
                fallback=request,
                help="use another mkey",
            )
            return
        key = look.mkey(name)
        if name not in above and key is not None and key.layout is not None:
            above.add(name)
            left |= _keys_of(look, key.layout)


def _keys_of(look: Look, layout: Layout) -> set[str]:
    """The mkeys among the entries of a layout."""
    entries = layout.parts if isinstance(layout, List) else layout.entries
    bare = [entry.part if isinstance(entry, Repeated) else entry for entry in entries]
    names = {(one.part if isinstance(one, Chunk) else one).name for one in bare}
    return {name for name in names if look.mkey(name) is not None}


def _look_reach(look: Look, request: plan.Wr, thing: object, member: str, layout: Layout) -> None:
    """Each entry within its buffer: a device can't see where it ends, since guards lie in the same MR.

    Only buffers: beyond another mkey's layout is refused (LAY-05). Not where the layout never comes into force, nor
    where `but` moves the entry.
    """
    step = look.step
    if isinstance(step, plan.Post) and (step.abort or plan.is_rejected(step.claim)):
        return
    told: set[str] = set()
    for entry in layout.parts if isinstance(layout, List) else layout.entries:
        one = entry.part if isinstance(entry, Repeated) else entry
        part = one.part if isinstance(one, Chunk) else one
        memory = look.world.memory(part.name)
        if memory is None or part.but or part.name in told:
            continue
        end, sum = _end(part, one, layout)
        if end is None or end <= memory.length:
            continue
        told.add(part.name)
        look.broken(
            "beyond_buffer",
            f"the layout leaves `{part.name}`: it needs {sum} = {end} bytes, `{part.name}` has {memory.length}",
            thing,
            member,
            fallback=request,
            notes=look.declared(part.name),
            help=f"memory {part.name}[{end}]{', or fewer repetitions' if isinstance(one, Chunk) else ''}",
        )


def _end(part: Part, entry: Part | Chunk, layout: Layout) -> tuple[int | None, str]:
    """Where an entry ends in its buffer, and the sum that says so; None where it is live, or takes no byte."""
    start = part.start
    if isinstance(layout, List) or not isinstance(entry, Chunk):
        length = part.length
        if not (isinstance(start, int) and isinstance(length, int) and length):
            return None, ""
        return start + length, f"{start} + {length}"
    repeat, count, skip = layout.repeat, entry.count, entry.skip
    if not (isinstance(start, int) and isinstance(repeat, int) and isinstance(count, int) and isinstance(skip, int)):
        return None, ""
    if not (repeat and count):
        return None, ""
    sum = f"{repeat}*{count} + {repeat - 1}*{skip}"
    return start + repeat * count + (repeat - 1) * skip, f"{start} + {sum}" if start else sum


def _live(look: Look, request: plan.Wr, thing: object, member: str, layout: Layout, rules: list[str]) -> None:
    """A number of entries that the device decides. What it is counted from tells which limit it is held against."""
    members = _live_members(layout)
    if "max_inline_data" in members and "max_entries" not in members:
        rules = rules[:1]
    elif "max_entries" in members and "max_inline_data" not in members:
        rules = rules[1:]
    for rule in rules:
        look.broken(
            rule, "the number of entries is read from the device", thing, member, fallback=request, certain=False
        )


def _live_members(layout: Layout) -> set[str]:
    found: set[str] = set()
    todo = [e.times for e in (layout.parts if isinstance(layout, List) else layout.entries) if isinstance(e, Repeated)]
    while todo:
        value = todo.pop()
        if isinstance(value, Live):
            found.add(value.member)
        elif isinstance(value, LiveOp):
            todo.extend(value.args)
    return found


def entry_count(layout: Layout) -> int | None:
    """num_sges or num_interleaved; None when live."""
    total = 0
    for entry in layout.parts if isinstance(layout, List) else layout.entries:
        if isinstance(entry, Repeated):
            if not isinstance(entry.times, int):
                return None
            total += entry.times
        else:
            total += 1
    return total


def _qp_note(qp: QpState) -> tuple[Note, ...]:
    if qp.at is None:
        return (Note(f"the default QP has max_inline_data {qp.max_inline_data}, max_send_sge {qp.max_send_sge}"),)
    return (
        Note(
            f"the QP of {qp.at.line}:{qp.at.column} has max_inline_data {qp.max_inline_data}, "
            f"max_send_sge {qp.max_send_sge}"
        ),
    )


def _more_room(size: int) -> str:
    """The least max_inline_data whose WQE has room for `size` bytes (X-LIM-01)."""
    return f"a QP with max_inline_data {max(0, size - 4)}"
