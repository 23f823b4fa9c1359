"""Rules of the layout setters: room in the work request, entries of the mkey."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check import mkey_state
from mkeyspec.compiler.check.context import Context, count
from mkeyspec.compiler.check.state import LAYOUT, QpState
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.layout import Chunk, Layout, Part
from mkeyspec.value.live import Int, is_known, lives_in

BLOCK = 64
"""Bytes that a signature or crypto setter takes of the WQE's room, and the unit a layout before it is padded to."""
ENTRY = 16
"""Bytes of a list's or interleaved layout's entry in the WQE; the strided header takes as much."""

_WITH_A_BLOCK = {plan.SetSignature.word, plan.SetCrypto.word}


def check_layouts(context: Context, request: plan.Configure) -> None:
    """All layouts of a configuration, with the blocks that its other setters put into the same WQE."""
    blocks = len({setter.word for setter in request.setters} & _WITH_A_BLOCK)
    seen = False
    for setter in request.setters:
        layout = setter.layout_given()
        if layout is not None:
            seen = True
            check_one(context, request, setter, "", layout, request.mkey, blocks)
    if blocks and not seen and blocks * BLOCK > context.qp.room:
        context.broken(
            "list_room",
            f"{blocks} blocks for signature and crypto do not fit: "
            f"they take {blocks * BLOCK} bytes, the WQE has {context.qp.room}",
            request,
            notes=_qp_note(context.qp),
            help=_more_room(blocks * BLOCK),
        )


def check_one(
    context: Context, request: plan.Wr, thing: object, member: str, layout: Layout, mkey: str, blocks: int
) -> None:
    """One layout. `blocks`: 64-byte blocks after it in the WQE (signature, crypto)."""
    _look_reach(context, request, thing, member, layout)
    _look_circle(context, request, thing, member, layout, mkey)
    for name in sorted(_keys_of(context, layout)):
        mkey_state.check_exists(context, request, name)
    entries = entry_count(layout)
    strided = layout.strided
    room_rule = "interleaved_room" if strided else "list_room"
    key = context.mkey(mkey)
    granted = None if key is None else key.entries
    if entries is None:
        _live(context, request, thing, member, layout, [room_rule, "mkey_entries", "strided_entry"][: 2 + strided])
        return
    what = count(entries, "interleaved entry" if strided else "SGE", "interleaved entries" if strided else "")
    size = ENTRY * (entries + strided)
    if blocks:
        size = -(-size // BLOCK) * BLOCK + BLOCK * blocks
    if size > context.qp.room:
        after = (
            ""
            if not blocks
            else " with the signature or crypto block"
            if blocks == 1
            else " with the signature and crypto blocks"
        )
        context.broken(
            room_rule,
            f"{what}{after} do not fit into the work request: {size} bytes, its room is {context.qp.room}",
            thing,
            member,
            fallback=request,
            notes=_qp_note(context.qp),
            help=_more_room(size),
        )
    if key is None:
        return
    if granted is None:
        for rule in ("mkey_entries", "strided_entry")[: 1 + strided]:
            context.broken(
                rule, f"`{mkey}`'s entries are read from the device", thing, member, fallback=request, definite=False
            )
    elif entries > granted:
        context.broken(
            "mkey_entries",
            f"{what} need {count(entries + strided, 'mkey entry', 'mkey entries')}, `{mkey}` has {granted}",
            thing,
            member,
            fallback=request,
            notes=context.declared(mkey),
            help=f"entries {entries + strided}",
        )
    elif strided and entries == granted:
        context.broken(
            "strided_entry",
            f"{what} need {count(entries + 1, 'mkey entry', 'mkey entries')}, `{mkey}` has {granted}",
            thing,
            member,
            fallback=request,
            notes=(Note("one entry is consumed by the strided header"), *context.declared(mkey)),
            help=f"entries {entries + 1}",
        )


def _look_circle(context: Context, request: plan.Wr, thing: object, member: str, layout: Layout, mkey: str) -> None:
    """An mkey whose layout contains it, directly or through others, has no bytes."""
    above, left = set[str](), _keys_of(context, layout)
    while left:
        name = left.pop()
        if name == mkey:
            how = "itself" if mkey in _keys_of(context, layout) else "a key that leads back to it"
            context.broken(
                "own_layout",
                f"the layout of `{mkey}` has {how} in it",
                thing,
                member,
                fallback=request,
                help="use another mkey",
            )
            return
        key = context.mkey(name)
        if name not in above and key is not None and key.layout is not None and not key.lost(LAYOUT):
            above.add(name)
            left |= _keys_of(context, key.layout)


def _keys_of(context: Context, layout: Layout) -> set[str]:
    """The mkeys among the entries of a layout."""
    return {part.name for part in layout.targets() if context.mkey(part.name) is not None}


def _look_reach(context: Context, request: plan.Wr, thing: object, member: str, layout: Layout) -> None:
    """Each entry within its buffer: a device can't detect its end, since guards are in the same MR. Only for buffers:
    an access beyond another mkey's layout is refused (LAY-05). Not if the layout is never used, nor if `but` changes
    the entry.
    """
    step = context.step
    if plan.is_post(step) and (step.abort or plan.is_rejected(step.claim)):
        return
    told: set[str] = set()
    for entry in layout.given():
        part = entry.target()
        memory = context.state.memory(part.name)
        if memory is None or part.but or part.name in told:
            continue
        end, sum = _end(entry.bare(), layout.turns())
        if end is None or end <= memory.length:
            continue
        told.add(part.name)
        context.broken(
            "beyond_buffer",
            f"the layout leaves `{part.name}`: it needs {sum} = {end} bytes, `{part.name}` has {memory.length}",
            thing,
            member,
            fallback=request,
            notes=context.declared(part.name),
            help=f"make `{part.name}` {end} bytes long{', or take fewer repetitions' if layout.strided else ''}",
        )


def _end(entry: Part | Chunk, turns: Int) -> tuple[int | None, str]:
    """Where an entry ends in its buffer, and the sum that says so; None where it is live, or takes no byte."""
    match entry:
        case Part(start=int() as start, length=int() as length) if length:
            return start + length, f"{start} + {length}"
        case Chunk(Part(start=int() as start), int() as count, int() as skip) if is_known(turns) and turns and count:
            sum = f"{turns}*{count} + {turns - 1}*{skip}"
            return start + turns * count + (turns - 1) * skip, f"{start} + {sum}" if start else sum
        case _:
            return None, ""


def _live(context: Context, request: plan.Wr, thing: object, member: str, layout: Layout, rules: list[str]) -> None:
    """A number of entries that depends on the device. Its expression shows which limit it is compared with."""
    members = _live_members(layout)
    if "max_inline_data" in members and "max_entries" not in members:
        rules = rules[:1]
    elif "max_entries" in members and "max_inline_data" not in members:
        rules = rules[1:]
    for rule in rules:
        context.broken(
            rule, "the number of entries is read from the device", thing, member, fallback=request, definite=False
        )


def _live_members(layout: Layout) -> set[str]:
    return {live.member for entry in layout.given() for live in lives_in(entry.repetitions())}


def entry_count(layout: Layout) -> int | None:
    """num_sges or num_interleaved; None when live."""
    total = 0
    for entry in layout.given():
        times = entry.repetitions()
        if not is_known(times):
            return None
        total += times
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
