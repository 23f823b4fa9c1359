"""The statements of the language: their records by word and by class of the plan, and every place of the language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mkeyspec import plan
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements import (
    declare,
    declare_qp,
    dek,
    destroy,
    expect,
    login,
    mkey_check,
    queue_control,
    recv,
    sections,
    store,
    tag,
    transmit_receive,
    work_requests,
)
from mkeyspec.compiler.statements.claims import COMPLETES
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.shape import Place, Shape, Slot
from mkeyspec.compiler.statements.statement import Statement

RECORDS: tuple[Statement[Any], ...] = tuple(
    record
    for module in (
        declare,
        declare_qp,
        dek,
        login,
        sections,
        transmit_receive,
        recv,
        store,
        mkey_check,
        queue_control,
        tag,
        destroy,
        expect,
    )
    for record in vars(module).values()
    if isinstance(record, Statement)
)
_BY_CLASS = {record.step: record for record in RECORDS}
_LOWER: dict[str, Callable[[RowState, Sentence, Scope], None]] = {
    **{shape.name: record.lower for record in RECORDS for shape in record.shapes},
    **{shape.name: sections.alone for shape in work_requests.SHAPES},
}

_BODY = (*(shape for record in RECORDS for shape in record.shapes), *work_requests.SHAPES)

REPEAT = Place("repeat", (shape for shape in _BODY if shape.name not in ("memory", "qp", "pd", "dct")))
"""The lines of a turn: what can't be destroyed is declared above, once."""

CASE = Place(
    "case",
    (
        *_BODY,
        Shape(
            "repeat",
            "repeat 100 as i { transmit k by send }",
            Slot("a number of turns"),
            {"as": Slot("a name for the number of the turn", required=False)},
            lines=REPEAT,
            lines_required=True,
        ),
    ),
)
"""A case's top level."""

BODIES = (CASE, REPEAT)
"""Where statements are carried out, with claims; the other places have parts of a statement."""


def _places(place: Place) -> Iterator[Place]:
    yield place
    for shape in place.shapes.values():
        if shape.lines is not None and shape.lines is not REPEAT:
            yield from _places(shape.lines)


PLACES: dict[str, Place] = {place.word: place for place in (*_places(CASE), COMPLETES)}
"""A case's top level, a section, and the braces of each word that has lines of its own, by that word."""


def lower(row: RowState, sentence: Sentence, scope: Scope) -> None:
    """Add the step of a case's sentence to the row."""
    _LOWER[sentence.verb.name](row, sentence, scope)


def record_of(step: plan.Step) -> Statement[Any] | None:
    """The record of a step; None of an `expect` and of a snapshot, which are not sentences."""
    return _BY_CLASS.get(type(step))
