"""`store`: the host writes into a buffer."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.eval import undecided
from mkeyspec.compiler.eval.coercion import as_live_bytes, fault
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.known_bytes import Unsaid
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import is_live_bytes
from mkeyspec.compiler.statements.already_there import written_by_host
from mkeyspec.compiler.statements.operands import place
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import BYTES, Shape, Slot
from mkeyspec.compiler.statements.statement import Statement
from mkeyspec.value.live import is_known


def _store(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """`store m[0 +: 4] = bytes`: the host writes; the ledger holds it from here on."""
    found = place(sentence.operand, scope, row.ledger, "`store`")
    part = found.part
    if part.name not in row.ledger.buffers:
        raise fault("MKS0302", "`store` writes into a memory, not through an mkey", found.span)
    expr = sentence.node.value
    if expr is None:
        raise AssertionError("store without bytes")  # check_sentences refuses it
    data = as_live_bytes(evaluate(expr, scope), scope, expr.span, "`store`")
    if not is_known(part.start) or not is_known(part.length):
        raise fault("MKS0309", "`store` writes to a place known before the case runs", found.span)
    if part.length != data.length:
        raise fault(
            "MKS0314",
            f"{data.length} bytes stored into {part.length}",
            expr.span,
            help=f"store {part.name}[{part.start} +: {data.length}] = …",
        )
    row.add(plan.Store(sentence.at, part, data), sentence)
    segment = (part.name, part.start, part.length)
    written_by_host(row, [segment])
    row.ledger.settle([segment])
    if (doubt := undecided.stored(row.ledger, data)) is not None:
        row.ledger.doubt([segment], doubt.by)
    elif is_live_bytes(data):
        unsaid = Unsaid("stored here: bytes that the rig knows when it gets there", sentence.span)
        row.ledger.write(part.name, part.start, part.length, None, unsaid)
    else:
        row.ledger.write(part.name, part.start, part.length, data, None)


STORE = Statement(
    step=plan.Store,
    shapes=(Shape("store", "store m[0 +: 8] = fill(0, 8)", Slot("a buffer, or a part of one"), {}, BYTES),),
    lower=_store,
    check=None,
    effect=None,
)
