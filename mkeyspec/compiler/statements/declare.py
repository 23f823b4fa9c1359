"""Declarations: memory, mkey, pd, dct."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import Access, MkeyFlag
from mkeyspec.compiler.check.access import rights_text
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.state import (
    MOST_ENTRIES,
    AbstractMkey,
    AbstractState,
    MemoryState,
    OtherState,
    overridden,
)
from mkeyspec.compiler.eval.coercion import as_bytes, as_flags, as_int, as_live_int, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.known_bytes import KnownBuffer, KnownPiece, Unsaid
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import Handle
from mkeyspec.compiler.statements.request_parts import is_on
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.setters import fields
from mkeyspec.compiler.statements.shape import (
    ACCESS,
    MKEY_PAGE,
    NEW,
    NUMBER,
    POST_PAGE,
    Place,
    Shape,
    Slot,
    field_line,
    flag_line,
)
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.diagnostics.limits import BUFFER_BYTES, ROW_BYTES
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import index_of
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Int, Live, is_known

MKEY_FLAGS: dict[str, int] = {
    "block_signature": int(MkeyFlag.BLOCK_SIGNATURE),
    "crypto": int(MkeyFlag.CRYPTO),
    "update_tag": int(MkeyFlag.UPDATE_TAG),
    "remote_invalidate": int(MkeyFlag.REMOTE_INVALIDATE),
}

_FLAGS = int(
    MkeyFlag.INDIRECT | MkeyFlag.BLOCK_SIGNATURE | MkeyFlag.CRYPTO | MkeyFlag.UPDATE_TAG | MkeyFlag.REMOTE_INVALIDATE
)

# memory -----------------------------------------------------------------------------------------


def _memory(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`memory m[size] = bytes, misaligned n, pd p, rights r`: size or bytes, or both if they agree."""
    name = sentence.new_name()
    operand, value = sentence.operand, sentence.node.value
    size: int | None = None
    data: ByteString | None = None
    index = index_of(operand)
    if index is not None:
        size = as_int(evaluate(index, scope), scope, index.span, "a memory's size")
    if value is not None:
        data = as_bytes(evaluate(value, scope), scope, value.span, f"`memory {name.text}`")
        if size is not None and size != data.length:
            raise fault(
                "MKS0314",
                f"`{name.text}` has {size} bytes, and {data.length} are put into it",
                value.span,
                help=f"memory {name.text} = …   takes its size from the bytes",
            )
        size = data.length
    if size is None:
        raise fault("MKS0213", f"how large is `{name.text}`?", sentence.span, help=sentence.verb.example)
    if size < 1:
        raise fault("MKS0315", f"a memory of {size} bytes cannot be registered", operand.span, page="ibv_reg_mr(3)")
    if size > BUFFER_BYTES.most:
        raise fault(BUFFER_BYTES.code, BUFFER_BYTES.broken(size), operand.span)
    total = size + sum(buffer.length for buffer in row.ledger.buffers.values())
    if total > ROW_BYTES.most:
        raise fault(ROW_BYTES.code, f"with `{name.text}` this row has {ROW_BYTES.broken(total)}", operand.span)
    peer = sentence.node.peer
    misaligned = _number(sentence, scope, "misaligned")
    if not 0 <= misaligned < 64:
        span = sentence.modifiers["misaligned"].span
        message = f"`misaligned` counts bytes past a boundary of 64, {misaligned} does not"
        raise fault("MKS0315", message, span, help="0 to 63")
    rights = sentence.modifiers.get("rights")
    access: int | None = None
    if rights is not None and rights.value is not None:
        access = _fixed(as_flags(evaluate(rights.value, scope), scope, rights.value.span, "access", "`rights`"), rights)
    step = plan.Memory(sentence.at, name.text, size, data, peer, misaligned, _pd(row, sentence, scope), access)
    row.add(step, sentence)
    unsaid = None if data is not None else Unsaid("declared without bytes: a canary of its own", sentence.span)
    row.ledger.buffers[name.text] = KnownBuffer(size, (KnownPiece(0, size, data, unsaid),))
    row.declare(name, Handle("memory", name.text, size, peer), scope)


def _number(sentence: Sentence, scope: Scope, name: str) -> int:
    modifier = sentence.modifiers.get(name)
    if modifier is None or modifier.value is None:
        return 0
    return as_int(evaluate(modifier.value, scope), scope, modifier.value.span, f"`{name}`")


def _fixed(value: Int, modifier: ast.Modifier) -> int:
    if is_known(value):
        return value
    raise fault("MKS0309", f"`{modifier.name.text}` takes a number known before the case runs", modifier.span)


def _pd(row: RowState, sentence: Sentence, scope: Scope) -> str | None:
    modifier = sentence.modifiers.get("pd")
    if modifier is None or modifier.value is None:
        return None
    return row.handle(modifier.value, scope, "pd", "`pd`").name


def _check_memory(context: Context, step: plan.Memory) -> None:
    """ibv_reg_mr(3): who may be written by others is writable to begin with."""
    access = step.access
    if access is not None and access & (Access.REMOTE_WRITE | Access.REMOTE_ATOMIC) and not access & Access.LOCAL_WRITE:
        has = rights_text(access)
        context.broken(
            "memory_rights",
            f"{has} without local_write: ibv_reg_mr refuses to register that",
            step,
            "rights",
            help=f"rights {rights_text(access | Access.LOCAL_WRITE)}",
        )


def _after_memory(state: AbstractState, step: plan.Memory) -> None:
    state.things[step.name] = MemoryState(step.at, step.length, step.peer, step.pd, step.access, step.misaligned)


MEMORY = Statement(
    step=plan.Memory,
    shapes=(
        Shape(
            "memory",
            "memory m[512] = counter(512), misaligned 3",
            NEW,
            value=Slot("bytes", required=False),
            modifiers={"misaligned": NUMBER, "pd": Slot("a pd"), "rights": ACCESS},
            peer=True,
        ),
    ),
    lower=_memory,
    check=_check_memory,
    effect=_after_memory,
)

# mkey -------------------------------------------------------------------------------------------


def _mkey(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`mkey k { block_signature; entries 4 }`; without `entries`, what its largest layout needs (see `finish`)."""
    name = sentence.new_name()
    lines = fields(row, sentence, scope)
    flags = 1  # INDIRECT: what an mkey of this API always is (create_mkey(3), create_flags)
    entries: Int | None = None
    pd: str | None = None
    for word, line in lines.items():
        if word in MKEY_FLAGS:
            flags |= MKEY_FLAGS[word] if is_on(line.node.operand, scope, word) else 0
        elif word == "entries":
            span = line.operand.span
            entries = fitting(as_live_int(evaluate(line.operand, scope), scope, span, "`entries`"), word, span)
        else:
            pd = row.handle(line.operand, scope, "pd", "`pd`").name
    peer = sentence.node.peer
    asked: Int = Live(name.text, "max_entries") if entries is None else entries
    step = plan.Mkey(
        sentence.at,
        name.text,
        flags,
        asked,
        peer,
        pd,
        row.overrides(sentence, scope),
        row.claim(sentence, scope),
        row.known(sentence, scope),
    )
    row.put_overrides(step, sentence)
    for word, line in lines.items():
        row.origin.put_member(step, word, line.span)
    if entries is None:
        row.entries[name.text] = (len(row.steps), 0)
    row.add(step, sentence)
    row.declare(name, Handle("mkey", name.text, None, peer), scope)


def _check_mkey(context: Context, step: plan.Mkey) -> None:
    """create_flags is of the page's bits, and not empty (MKY-03)."""
    flags, by_but = overridden(step.but, "create_flags", step.flags)
    if flags is None:
        context.broken(
            "create_flags", "create_flags is read from the device", step, "create_flags", definite=False, by_but=by_but
        )
    elif flags & ~_FLAGS:
        message = f"create_flags {flags:#x}: {flags & ~_FLAGS:#x} is none of the page's flags"
        context.broken("create_flags", message, step, "create_flags", by_but=by_but)
    elif flags == 0:
        context.broken(
            "create_flags", "create_flags 0: no kind of mkey is asked for", step, "create_flags", by_but=by_but
        )


def _after_mkey(state: AbstractState, step: plan.Mkey) -> None:
    flags, _ = overridden(step.but, "create_flags", step.flags)
    entries, _ = overridden(step.but, "max_entries", step.entries)
    if step.entries == Live(step.name, "max_entries"):
        entries = MOST_ENTRIES  # not said: lowering gives it what its largest layout needs
    created = not plan.is_rejected(step.claim)
    state.things[step.name] = AbstractMkey(step.at, flags, entries, step.peer, step.pd, created)


MKEY = Statement(
    step=plan.Mkey,
    shapes=(
        Shape(
            "mkey",
            "mkey k { block_signature; entries 4 }",
            NEW,
            but=("create_flags", "max_entries"),
            lines=Place(
                "mkey",
                (
                    *(flag_line(name, MKEY_PAGE) for name in MKEY_FLAGS),
                    field_line("entries", "entries 4", "a number", MKEY_PAGE),
                    field_line("pd", "pd p", "a pd", MKEY_PAGE),
                ),
            ),
            phases=("create",),
            known=True,
            peer=True,
            page=MKEY_PAGE,
        ),
    ),
    lower=_mkey,
    check=_check_mkey,
    effect=_after_mkey,
)

# pd, dct ----------------------------------------------------------------------------------------


def _declare_pd(row: RowState, sentence: Sentence, scope: Scope) -> None:
    name = sentence.new_name()
    row.add(plan.Pd(sentence.at, name.text, sentence.node.peer), sentence)
    row.declare(name, Handle("pd", name.text, None, sentence.node.peer), scope)


def _after_pd(state: AbstractState, step: plan.Pd) -> None:
    state.things[step.name] = OtherState(step.at, "pd", step.peer)


PD = Statement(
    step=plan.Pd,
    shapes=(Shape("pd", "pd p", NEW, peer=True),),
    lower=_declare_pd,
    check=None,
    effect=_after_pd,
)


def _dct(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`dct t { key n }`: a target at the peer; its key is 0 by default."""
    name = sentence.new_name()
    line = fields(row, sentence, scope).get("key")
    key = (
        0
        if line is None
        else fitting(as_int(evaluate(line.operand, scope), scope, line.operand.span, "`key`"), "key", line.operand.span)
    )
    row.add(plan.Dct(sentence.at, name.text, key), sentence)
    row.declare(name, Handle("dct", name.text), scope)


def _after_dct(state: AbstractState, step: plan.Dct) -> None:
    state.things[step.name] = OtherState(step.at, "dct")


DCT = Statement(
    step=plan.Dct,
    shapes=(
        Shape(
            "dct",
            "dct t { key 0x1234 }",
            NEW,
            lines=Place("dct", (field_line("key", "key 0x1234", "a number"),)),
            page=POST_PAGE,
        ),
    ),
    lower=_dct,
    check=None,
    effect=_after_dct,
)
