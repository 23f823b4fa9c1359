"""Rules of data work requests: an mkey's layout, its length against the blocks, crypto units

Lengths of a request on an mkey count wire bytes (HW-12); the length in memory follows from the domains.
"""

from __future__ import annotations

from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.abi.constants import BLOCK_BYTES, CryptoOrder, MkeyFlag
from mkeyspec.compiler.check import access, entries, mkey_state
from mkeyspec.compiler.check.context import Look, count, place
from mkeyspec.compiler.check.posting import look_posted, look_sges, look_type
from mkeyspec.compiler.check.state import AbstractMkey, MemoryState, overridden
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.layout import List, Part
from mkeyspec.value.live import Int, is_known

NO_KEYTAG = bytes(8)
"""The member keytag where the case says none."""

CQE_PAYLOAD = 64
"""Bytes of a message that a CQE may hold instead of the buffer (scatter to CQE)."""


def look_request(look: Look, request: plan.Wr) -> None:
    """The rules of a request that moves data: where it is posted, and each buffer or mkey that it uses."""
    addressed = isinstance(request, plan.Addressed)
    look_posted(look, request, data=addressed, operation=request.operation)
    if addressed:
        look_sges(look, request, len(request.local()), look.qp.max_send_sge, "max_send_sge")
        look_type(look, request, request.name(), plan.total(request.local()))
    for end in request.ends():
        look_part(look, request, end)


# One key of one request ------------------------------------------------------------------------


def look_part(look: Look, request: plan.Wr | plan.Step, of_request: plan.End, of_peer: bool | None = None) -> None:
    """`of_peer`: whose key it must be; None: the poster's for local use, the other end's for remote use."""
    part, length, use = of_request
    memory, key = look.state.memory(part.name), look.state.mkey(part.name)
    if of_peer is None:
        of_peer = look.peer != use.remote
    thing = memory or key
    if thing is None or not mkey_state.look_exists(look, request, part.name, use):
        return
    if access.look_side(look, request, part, thing.peer, of_peer):
        return
    pd = None if of_peer else look.qp.pd
    if memory is not None and plan.options_of(request).inline and not use.remote:
        _within_memory(look, request, part, use, memory, length)  # no lkey is looked at
    elif memory is not None:
        access.look_memory(look, request, part, use, memory, pd)
        _within_memory(look, request, part, use, memory, length)
    elif key is not None and (use.remote or not plan.options_of(request).inline):
        _look_mkey(look, request, of_request, key, pd)


def _look_mkey(
    look: Look, request: plan.Wr | plan.Step, of_request: plan.End, thing: AbstractMkey, pd: str | None
) -> None:
    part, length, use = of_request
    known = mkey_state.look_state(look, request, part, thing, use) and entries.look_inside(
        look, request, part, thing, use
    )
    if not known or access.look_keys(look, request, part, use, thing):
        return
    reach = _reach(request, part, use, length)
    length = reach.length
    _scatter_to_cqe(look, request, part, use, length)
    access.look_pd(look, request, part, use, part.name, thing.pd, pd)
    if thing.layout is None:
        if length != 0:
            look.broken(
                "no_layout",
                f"`{part.name}` has no layout",
                part,
                fallback=request,
                notes=look.declared(part.name),
                help=f"configure {part.name} {{ layout … }}",
                reason=use.reason,
            )
        return
    access.look_right(look, request, part, use, thing.access, thing.at)
    need = memory_need(thing, length)
    touched = None if need is None or not is_known(reach.start) else (reach.start, reach.start + need.bytes)
    entries.look_entries(look, request, part, use, thing, touched)
    look_bounds(look, request, part, use, thing, reach, need)
    _crypto(look, request, part, thing, length, need)


def _within_memory(look: Look, request: object, part: Part, use: plan.Use, state: MemoryState, length: Int) -> None:
    """A plain buffer must have the bytes. Its guard is in the same MR, so no device refuses a longer access."""
    reach = _reach(request, part, use, length)
    if reach.forced or not is_known(reach.start) or not is_known(reach.length):
        return
    end = reach.start + reach.length
    if end > state.length:
        look.broken(
            "beyond_memory",
            f"{count(reach.length, 'byte')} from offset {reach.start} end at {end}, "
            f"and `{part.name}` has {state.length}",
            part,
            fallback=request,
            notes=look.declared(part.name),
            help=f"both ends of a request have the same length: memory {part.name}[{end}], or fewer bytes",
        )


class MkeyAccess(NamedTuple):
    """The access of a request to an mkey: from `start` on, `length` wire bytes; `forced`: one of them by `but`."""

    start: Int
    length: Int
    forced: bool


def _reach(request: object, part: Part, use: plan.Use, length: Int) -> MkeyAccess:
    overrides = dict(plan.options_of(request).but)
    overrides.update(part.but)
    address = "remote_addr" if use.remote else "addr"
    forced = address in overrides or "length" in overrides
    return MkeyAccess(overrides.get(address, part.start), overrides.get("length", length), forced)


class Need(NamedTuple):
    """What a transfer takes of the layout. `exact`: whole blocks; else the pages leave it open (X-OPEN-03)."""

    bytes: int
    blocks: int
    block: int
    exact: bool


def memory_need(key: AbstractMkey, length: Int) -> Need | None:
    """Bytes in memory for `length` wire bytes through the mkey's domains; None when live."""
    if not is_known(length):
        return None
    raw, exact, block, blocks = length, True, 0, 0
    if key.wire is not None:
        whole, tail = divmod(length, key.wire.frame)
        raw = whole * key.wire.block + min(tail, key.wire.block)
        exact, block, blocks = tail == 0, key.wire.block, whole
    if key.mem is None:
        return Need(raw, blocks, block, exact)
    blocks, tail = divmod(raw, key.mem.block)
    return Need(raw + blocks * key.mem.signature.field_size, blocks, key.mem.block, exact and tail == 0)


def look_bounds(
    look: Look, request: object, part: Part, use: plan.Use, key: AbstractMkey, reach: MkeyAccess, need: Need | None
) -> None:
    if need is None or key.length is None or not is_known(reach.start):
        look.broken(
            "beyond_layout",
            f"whether `{part.name}` is long enough is read from the device",
            part,
            fallback=request,
            forced=reach.forced,
            certain=False,
            reason=use.reason,
        )
        return
    end = reach.start + need.bytes
    if end <= key.length:
        return
    signed = key.mem is not None or key.wire is not None
    if signed and reach.start == 0:
        domain = f"mem domain {key.mem.signature.describe()} every {key.mem.block}" if key.mem else "no mem domain"
        look.broken(
            "layout_too_short",
            f"layout too short: {count(need.blocks, 'block')} of {need.block} need {need.bytes} bytes in memory, "
            f"{_of(key, part)} has {key.length}",
            part,
            fallback=request,
            notes=(
                Note(
                    f"{domain} stores {count(key.mem.signature.field_size, 'byte')} after each block"
                    if key.mem
                    else f"the {reach.length} bytes on the wire are {count(need.blocks, 'block')} and their fields"
                ),
            ),
            help=_memory_help(key, need),
            forced=reach.forced,
            certain=need.exact,
            reason=use.reason,
        )
        return
    look.broken(
        "beyond_layout",
        f"{count(need.bytes, 'byte')} from offset {reach.start} end at {end}, beyond the {key.length} of `{part.name}`",
        part,
        fallback=request,
        forced=reach.forced,
        certain=not signed,
        reason=use.reason,
    )


def _of(key: AbstractMkey, part: Part) -> str:
    name = _only_memory(key)
    return f"the layout of `{part.name}`" if name is None else f"`{name}`"


def _only_memory(key: AbstractMkey) -> str | None:
    """The buffer's name, if the layout is one buffer or part of it."""
    match key.layout:
        case List((Part(name),)):
            return name
        case _:
            return None


def _memory_help(key: AbstractMkey, need: Need) -> str:
    name = _only_memory(key)
    if name is None or not need.exact or not need.blocks:
        return ""
    return f"memory {name}[{need.blocks} * {need.bytes // need.blocks}]"


def _crypto(look: Look, request: object, part: Part, key: AbstractMkey, length: Int, need: Need | None) -> None:
    if key.flags is None or not key.flags & MkeyFlag.CRYPTO:
        return
    crypto = key.crypto
    if crypto is None:
        look.broken(
            "crypto_missing",
            f"`{part.name}` was created with CRYPTO and has no crypto attributes",
            part,
            fallback=request,
            notes=look.declared(part.name),
            help=f"configure {part.name} {{ crypto {{ dek … }} }}",
        )
        return
    dek = look.state.dek(crypto.dek)
    if dek is not None and dek.destroyed is not None:
        message = f"`{crypto.dek}`, the DEK of `{part.name}`, was destroyed at {place(dek.destroyed)}"
        look.broken("destroyed_dek", message, part, fallback=request)
        return
    tag = dek.keytag if dek is not None else None
    if tag is not None and bytes(crypto.keytag or NO_KEYTAG) != tag.data:  # the member is not left out
        look.broken(
            "crypto_keytag",
            f"the keytag of `{part.name}` is not that of `{crypto.dek}`",
            part,
            fallback=request,
            notes=look.declared(crypto.dek),
        )
    unit, _ = overridden(crypto.but, "data_unit_size", -1)
    size = crypto.data_unit if unit == -1 else BLOCK_BYTES.get(unit if unit is not None else -1)
    job = length if crypto.order == CryptoOrder.SIGNATURE_BEFORE_CRYPTO_ON_TX else None if need is None else need.bytes
    if size is None or not is_known(job):
        return
    rest = job % size
    if rest and (job % 16 or not 16 <= rest <= size - 16):
        look.broken(
            "crypto_job",
            f"{count(job, 'byte')} are no job for data units of {size}",
            part,
            fallback=request,
            notes=(Note("a multiple of the unit, or of 16 with 16 to unit - 16 bytes in the last unit"),),
        )


def _scatter_to_cqe(look: Look, request: object, part: Part, use: plan.Use, length: Int) -> None:
    small = not is_known(length) or length <= CQE_PAYLOAD
    if look.qp.scatter_to_cqe and use.writes and not use.remote and small:
        look.broken(
            "scatter_to_cqe",
            f"`{part.name}` cannot receive through a CQE",
            part,
            fallback=request,
            help="a QP without scatter_to_cqe",
        )
