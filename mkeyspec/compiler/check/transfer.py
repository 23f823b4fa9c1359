"""Rules of data work requests: an mkey's layout, its length against the blocks, crypto units

Lengths of a request on an mkey count wire bytes (HW-12); the length in memory follows from the domains.
"""

from __future__ import annotations

from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.abi.constants import BLOCK_BYTES, CryptoOrder, MkeyFlag
from mkeyspec.compiler.check import access, entries, mkey_state
from mkeyspec.compiler.check.context import Context, count, place
from mkeyspec.compiler.check.posting import check_posted, check_sges, check_type
from mkeyspec.compiler.check.state import AbstractMkey, MemoryState, overridden
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.layout import List, Part
from mkeyspec.value.live import Int, is_known

NO_KEYTAG = bytes(8)
"""The member keytag where the case says none."""

CQE_PAYLOAD = 64
"""Bytes of a message that a CQE may hold instead of the buffer (scatter to CQE)."""


def check_request(context: Context, request: plan.Wr) -> None:
    """The rules of a request that moves data: where it is posted, and each buffer or mkey that it uses."""
    addressed = isinstance(request, plan.Addressed)
    check_posted(context, request, data=addressed, operation=request.operation)
    if addressed:
        check_sges(context, request, len(request.local()), context.qp.max_send_sge, "max_send_sge")
        check_type(context, request, request.name(), plan.total(request.local()))
    for end in request.ends():
        check_part(context, request, end)


# One key of one request ------------------------------------------------------------------------


def check_part(
    context: Context, request: plan.Wr | plan.Step, of_request: plan.End, of_peer: bool | None = None
) -> None:
    """`of_peer`: whose key it must be; None: the poster's for local use, the other end's for remote use."""
    part, length, use = of_request
    memory, key = context.state.memory(part.name), context.state.mkey(part.name)
    if of_peer is None:
        of_peer = context.peer != use.remote
    thing = memory or key
    if thing is None or not mkey_state.check_exists(context, request, part.name, use):
        return
    if access.check_side(context, request, part, thing.peer, of_peer):
        return
    pd = None if of_peer else context.qp.pd
    if memory is not None and plan.options_of(request).inline and not use.remote:
        _within_memory(context, request, part, use, memory, length)  # no lkey is looked at
    elif memory is not None:
        access.check_memory(context, request, part, use, memory, pd)
        _within_memory(context, request, part, use, memory, length)
    elif key is not None and (use.remote or not plan.options_of(request).inline):
        _look_mkey(context, request, of_request, key, pd)


def _look_mkey(
    context: Context, request: plan.Wr | plan.Step, of_request: plan.End, thing: AbstractMkey, pd: str | None
) -> None:
    part, length, use = of_request
    known = mkey_state.check_state(context, request, part, thing, use) and entries.check_inside(
        context, request, part, thing, use
    )
    if not known or access.check_keys(context, request, part, use, thing):
        return
    reach = _reach(request, part, use, length)
    length = reach.length
    _scatter_to_cqe(context, request, part, use, length)
    access.check_pd(context, request, part, use, part.name, thing.pd, pd)
    if thing.layout is None:
        if length != 0:
            context.broken(
                "no_layout",
                f"`{part.name}` has no layout",
                part,
                fallback=request,
                notes=context.declared(part.name),
                help=f"configure {part.name} {{ layout … }}",
                reason=use.reason,
            )
        return
    access.check_right(context, request, part, use, thing.access, thing.at)
    need = memory_need(thing, length)
    touched = None if need is None or not is_known(reach.start) else (reach.start, reach.start + need.bytes)
    entries.check_entries(context, request, part, use, thing, touched)
    check_bounds(context, request, part, use, thing, reach, need)
    _crypto(context, request, part, thing, length, need)


def _within_memory(
    context: Context, request: object, part: Part, use: plan.Use, state: MemoryState, length: Int
) -> None:
    """A plain buffer must have the bytes. Its guard is in the same MR, so no device refuses a longer access."""
    reach = _reach(request, part, use, length)
    if reach.by_but or not is_known(reach.start) or not is_known(reach.length):
        return
    end = reach.start + reach.length
    if end > state.length:
        context.broken(
            "beyond_memory",
            f"{count(reach.length, 'byte')} from offset {reach.start} end at {end}, "
            f"and `{part.name}` has {state.length}",
            part,
            fallback=request,
            notes=context.declared(part.name),
            help=f"both ends of a request have the same length: memory {part.name}[{end}], or fewer bytes",
        )


class MkeyAccess(NamedTuple):
    """The access of a request to an mkey: from `start` on, `length` wire bytes; `by_but`: one of them by `but`."""

    start: Int
    length: Int
    by_but: bool


def _reach(request: object, part: Part, use: plan.Use, length: Int) -> MkeyAccess:
    overrides = dict(plan.options_of(request).but)
    overrides.update(part.but)
    address = "remote_addr" if use.remote else "addr"
    by_but = address in overrides or "length" in overrides
    return MkeyAccess(overrides.get(address, part.start), overrides.get("length", length), by_but)


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


def check_bounds(
    context: Context,
    request: object,
    part: Part,
    use: plan.Use,
    key: AbstractMkey,
    reach: MkeyAccess,
    need: Need | None,
) -> None:
    if need is None or key.length is None or not is_known(reach.start):
        context.broken(
            "beyond_layout",
            f"whether `{part.name}` is long enough is read from the device",
            part,
            fallback=request,
            by_but=reach.by_but,
            definite=False,
            reason=use.reason,
        )
        return
    end = reach.start + need.bytes
    if end <= key.length:
        return
    signed = key.mem is not None or key.wire is not None
    if signed and reach.start == 0:
        domain = f"mem domain {key.mem.signature.describe()} every {key.mem.block}" if key.mem else "no mem domain"
        context.broken(
            "layout_too_short",
            f"layout too short: {count(need.blocks, 'block')} of {need.block} "
            f"{'needs' if need.blocks == 1 else 'need'} {need.bytes} bytes in memory, "
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
            help=_memory_help(key, need, use),
            by_but=reach.by_but,
            definite=need.exact,
            reason=use.reason,
        )
        return
    context.broken(
        "beyond_layout",
        f"{count(need.bytes, 'byte')} from offset {reach.start} end at {end}, beyond the {key.length} of `{part.name}`",
        part,
        fallback=request,
        by_but=reach.by_but,
        definite=not signed,
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


def _memory_help(key: AbstractMkey, need: Need, use: plan.Use) -> str:
    name = _only_memory(key)
    if name is None or not need.exact or not need.blocks:
        return ""
    if key.mem is not None and not use.writes:
        return f"a field after each block, {need.bytes} bytes in all: memory {name} = framed(bytes, domain)"
    return f"memory {name}[{need.blocks} * {need.bytes // need.blocks}]"


def _crypto(context: Context, request: object, part: Part, key: AbstractMkey, length: Int, need: Need | None) -> None:
    if key.flags is None or not key.flags & MkeyFlag.CRYPTO:
        return
    crypto = key.crypto
    if crypto is None:
        context.broken(
            "crypto_missing",
            f"`{part.name}` was created with CRYPTO and has no crypto attributes",
            part,
            fallback=request,
            notes=context.declared(part.name),
            help=f"configure {part.name} {{ crypto {{ dek … }} }}",
        )
        return
    dek = context.state.dek(crypto.dek)
    if dek is not None and dek.destroyed is not None:
        message = f"`{crypto.dek}`, the DEK of `{part.name}`, was destroyed at {place(dek.destroyed)}"
        context.broken("destroyed_dek", message, part, fallback=request)
        return
    tag = dek.keytag if dek is not None else None
    if tag is not None and bytes(crypto.keytag or NO_KEYTAG) != tag.data:  # the member is not left out
        context.broken(
            "crypto_keytag",
            f"the keytag of `{part.name}` is not that of `{crypto.dek}`",
            part,
            fallback=request,
            notes=context.declared(crypto.dek),
        )
    unit, _ = overridden(crypto.but, "data_unit_size", -1)
    size = crypto.data_unit if unit == -1 else BLOCK_BYTES.get(unit if unit is not None else -1)
    job = length if crypto.order == CryptoOrder.SIGNATURE_BEFORE_CRYPTO_ON_TX else None if need is None else need.bytes
    if size is None or not is_known(job):
        return
    if not _is_job(job, size):
        context.broken(
            "crypto_job",
            f"{count(job, 'byte')} are no job for data units of {size}",
            part,
            fallback=request,
            notes=(
                Note(
                    f"whole units, or a multiple of 16 bytes with 16 to {size - 16} in the last unit, "
                    f"which has {job % size} here"
                ),
            ),
            help=_job_sizes(job, size),
        )


def _is_job(length: int, unit: int) -> bool:
    """Whether so many bytes are whole data units, or end in one of a multiple of 16 bytes."""
    rest = length % unit
    return not rest or not (length % 16 or not 16 <= rest <= unit - 16)


def _job_sizes(length: int, unit: int) -> str:
    """The nearest lengths that a transfer may have, below and above `length`."""
    below = next((one for one in range(length - 1, max(length - unit, 0), -1) if _is_job(one, unit)), None)
    above = next(one for one in range(length + 1, length + unit + 1) if _is_job(one, unit))
    return f"{above} bytes fit" if below is None else f"{below} or {above} bytes fit"


def _scatter_to_cqe(context: Context, request: object, part: Part, use: plan.Use, length: Int) -> None:
    small = not is_known(length) or length <= CQE_PAYLOAD
    if context.qp.scatter_to_cqe and use.writes and not use.remote and small:
        context.broken(
            "scatter_to_cqe",
            f"`{part.name}` cannot receive through a CQE",
            part,
            fallback=request,
            help="a QP without scatter_to_cqe",
        )
