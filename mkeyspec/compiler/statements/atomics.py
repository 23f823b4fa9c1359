"""Atomics: fetch_add, compare_swap."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check import transfer
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements.operands import place
from mkeyspec.compiler.statements.request_parts import live_int, missing, other_end
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import ANSWERED_SHOWS, NUMBER, REF, REMOTE_BUT, request_shape
from mkeyspec.compiler.statements.statement import Request
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, is_known

PAGE = "ibv_wr_post(3)"


def _ends(row: RowState, sentence: Sentence, scope: Scope, name: str) -> tuple[Part, Part]:
    """The 8 bytes that the old value goes to, and the 8 bytes of the other end."""
    old = place(sentence.operand, scope, row.ledger, f"`{sentence.verb.name}`")
    into = Part(old.part.name, old.part.start, plan.ATOMIC_BYTES, old.part.but) if old.whole else old.part
    source = other_end(row, sentence, scope, "from", plan.ATOMIC_BYTES)
    if source.whole:
        part = Part(source.part.name, source.part.start, plan.ATOMIC_BYTES, source.part.but)
        source = source._replace(part=part)
    remote = source.part
    row.origin.put(into, old.span)
    row.origin.put(remote, source.span)
    for part, span in ((into, sentence.operand.span), (remote, source.span)):
        if is_known(part.length) and part.length != plan.ATOMIC_BYTES:
            raise fault("MKS0313", f"{name} works on {plan.ATOMIC_BYTES} bytes, not {part.length}", span, page=PAGE)
    return into, remote


def _number(sentence: Sentence, scope: Scope, name: str) -> Int:
    found = live_int(sentence, scope, name)
    if found is None:
        raise missing(sentence, name)
    return found


def _check(context: Context, request: plan.FetchAdd | plan.CompareSwap) -> None:
    """The remote address of an atomic is a multiple of 8; of an mkey, which is zero-based, that is the offset."""
    transfer.check_request(context, request)
    part = request.source
    memory = context.state.memory(part.name)
    start = part.start
    if not is_known(start) or part.but or request.options.but:
        return
    if memory is not None:
        start += memory.misaligned
    if start % plan.ATOMIC_BYTES:
        above = start % plan.ATOMIC_BYTES
        context.broken(
            "atomic_boundary",
            f"the remote address of an atomic must be a multiple of 8, and this one is {above} above",
            part,
            fallback=request,
            help=f"{part.name}[0 +: 8]",
        )


# fetch_add --------------------------------------------------------------------------------------


def _fetch_add(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.FetchAdd:
    into, source = _ends(row, sentence, scope, "fetch and add")
    return plan.FetchAdd(sentence.at, into, source, _number(sentence, scope, "add"), opts)


FETCH_ADD_RECORD = Request(
    request=plan.FetchAdd,
    shapes=(
        request_shape(
            "fetch_add",
            "fetch_add m[0 +: 8] from w[0 +: 8], add 1",
            REF,
            {"from": REF},
            PAGE,
            {"add": NUMBER},
            REMOTE_BUT,
            shows=ANSWERED_SHOWS,
        ),
    ),
    lower=_fetch_add,
    check=_check,
    effect=None,
)

# compare_swap -----------------------------------------------------------------------------------


def _compare_swap(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.CompareSwap:
    into, source = _ends(row, sentence, scope, "compare and swap")
    compare, swap = _number(sentence, scope, "compare"), _number(sentence, scope, "swap")
    return plan.CompareSwap(sentence.at, into, source, compare, swap, opts)


COMPARE_SWAP_RECORD = Request(
    request=plan.CompareSwap,
    shapes=(
        request_shape(
            "compare_swap",
            "compare_swap m[0 +: 8] from w[0 +: 8], compare 1, swap 2",
            REF,
            {"from": REF},
            PAGE,
            {"compare": NUMBER, "swap": NUMBER},
            REMOTE_BUT,
            shows=ANSWERED_SHOWS,
        ),
    ),
    lower=_compare_swap,
    check=_check,
    effect=None,
)
