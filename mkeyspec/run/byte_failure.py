"""A failure of bytes: how many, where, which block and field, computed of what, through which key and entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mkeyspec.plan import At
from mkeyspec.run import difference, ledger_text
from mkeyspec.run.buffer import Bytes
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.culprits import suspects
from mkeyspec.run.difference import Positions, Reason
from mkeyspec.run.drawing import drawing_of
from mkeyspec.run.extent import key_of
from mkeyspec.run.ledger import Ledger, Place, ledger_of
from mkeyspec.run.observe import Seen
from mkeyspec.run.verdict import Difference, Failure

PASTED = 32
"""Bytes of what was got that are written as `.mks`."""
KEPT = 4
"""Bytes in a row with the values from before that nobody has written."""
NOT_BY = "not by"
"""Before the statements that may have written bytes which nobody has written."""

_BLOCK = re.compile(r"block \d+, byte \d+\Z")

Detail = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The expected bytes, the reason of each, and the ranges [start, end) in which any byte is allowed."""

    data: Bytes
    reason: Reason
    holes: tuple[tuple[int, int], ...] = ()


def of(state: CaseState, code: str, at: At, seen: Seen, wanted: Wanted) -> Failure:
    """The failure for bytes that differ from those wanted, which have their length."""
    want, got, reason = wanted.data, seen.data, wanted.reason
    where = difference.positions(want, got, wanted.holes)
    first = int(where[0])
    name, _, elsewhere = seen.name_of(first).partition(", ")
    ledger = ledger_of(state, seen, first)
    place = None if ledger is None else ledger.place(first)
    span = difference.field_span(first, len(want), reason)
    part = _counted_in_the_message(ledger, first, span[0]) if span is not None else ""
    if not part and place is not None and place.field:
        part = f"block {place.block}, {place.field}"
    block = [] if ledger is None else list(ledger_text.block_lines(ledger, first))
    groups = [] if ledger is None else list(ledger_text.groups(ledger, where))
    drawn = None if ledger is None else drawing_of(ledger, where)
    numbers = difference.fields(want, got, where, reason, partial(_counted_in_the_message, ledger))
    whys = list(difference.reasons(want, got, first, partial(_without_block, reason, place)))
    if numbers and place is not None and place.field:
        whys = [one for one in whys if one[0] == "but is" and ": bit " in one[1]]  # the rest has been said
    start, end = _shown(where, (span[1], span[2]) if span is not None else None)
    here = seen.name_of(start).partition("[")[0]
    before = seen.expected()
    kept = np.array_equal(got[where], before[where])
    pasted, pattern = _pasted(got[start:end] == before[start:end], got[start:end])
    paste = f"expect {here}[{seen.base + start} +: {pasted}] == {pattern}"
    details: list[Detail] = [
        *([("first at", f"{name}, {elsewhere}")] if elsewhere else ()),
        *block,
        # Whatever else is known of the cause, as (word, text), comes here.
        *whys,
        *_several("differ", groups),
        *numbers,
        *difference.counted(want, got, where, wanted.holes, seen.base),
        *_several("way", [] if drawn is None else drawn.lines()),
        ("paste", paste),
    ]
    verb = "differs" if len(where) == 1 else "differ"
    message = f"{len(where)} of {len(want)} bytes {verb}, first at {name}{f': {part}' if part else ''}"
    words = dict(reversed(block))
    facts = Difference(
        name,
        len(where),
        len(want),
        start,
        want[start:end].tobytes().hex(),
        got[start:end].tobytes().hex(),
        part=words.get("block", part),
        source=words.get("computed", words.get("from", "")),
        way=words.get("", words.get("through", "")),
        groups=groups,
    )
    if ledger is not None and drawn is not None:
        cells = [[one.memory, one.through, one.wire, "differs" if one.bad else ""] for one in drawn.cells]
        facts = replace(
            facts, key=ledger.key.name, side=ledger.side, cells=cells, before=drawn.before, after=drawn.after
        )
    return Failure(code, at, message, tuple(details), suspects=_movers(state, seen, first, kept=kept), difference=facts)


def _counted_in_the_message(ledger: Ledger | None, i: int, name: str) -> str:
    """The field of byte `i`, `block 1, guard`, with the number that the block has in the message."""
    place = None if ledger is None else ledger.place(i)
    field = name.partition(", ")[2]
    return name if place is None or place.field != field else f"block {place.block}, {field}"


def _without_block(reason: Reason, place: Place | None, i: int) -> tuple[str, ...]:
    """Why a byte is expected, without the block that has been named; of another number, that it is counted in what the
    case expects."""
    why = reason(i)
    if place is None or place.block is None or place.field:
        return why
    said = f"block {place.block}, byte {place.byte}"
    return tuple([
        line if not _BLOCK.match(line) else f"{line} of what is expected" for line in why if line != said
    ])  # fmt: skip


def _pasted(kept: npt.NDArray[np.bool_], got: Bytes) -> tuple[int, str]:
    """How many of these bytes are pasted, and as what: bytes that nobody wrote have other values in another file.

    A byte that was written may be what it was before by chance, several in a row hardly."""
    changes = np.flatnonzero(np.diff(kept)) + 1
    bounds = [0, *changes.tolist(), len(got)]
    runs = [(start, end) for start, end in pairwise(bounds) if kept[start] and end - start >= KEPT]
    if kept.all() or (runs and runs[0][0] == 0):
        return (len(got) if kept.all() else runs[0][1]), "unchanged"
    end = runs[0][0] if runs else len(got)
    return end, f'hex"{got[:end].tobytes().hex()}"'


def _movers(state: CaseState, seen: Seen, first: int, *, kept: bool) -> tuple[str, tuple[At, ...]]:
    """The statements that may have written byte `first` of what was seen since it was last compared. `kept`: all bytes
    that differ are what was there before, so none of them did."""
    if seen.wire is not None:
        return "sent by", (seen.wire.at,)
    at = first
    for piece in seen.pieces:
        if at < piece.length:
            since = piece.buffer.looked_at(np.asarray([piece.start + at]))
            found = suspects(state.aimed, key_of(state, piece.buffer), since)
            return NOT_BY if kept and found.label == "maybe by" else found.label, found.places
        at -= piece.length
    return "", ()


def _several(word: str, lines: list[str]) -> Iterator[Detail]:
    """Lines under one word."""
    return ((word if not n else "", line) for n, line in enumerate(lines))


def _shown(where: Positions, field: tuple[int, int] | None) -> tuple[int, int]:
    """The bytes that are written out: those of the field, or the first that differ."""
    start, end = difference.ranges(where[: PASTED + 1])[0] if field is None else field
    return start, min(end, start + PASTED)
