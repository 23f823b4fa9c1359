"""Two byte strings that should be equal and are not: where, how many, which field, and both as aligned rows of hex.

This code runs only for cases that fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.intp]
Reason = Callable[[int], tuple[str, ...]]
Named = Callable[[int, str], str]
Detail = tuple[str, str]

ROW = 16
"""Bytes per row."""
ROWS = 3
"""Number of rows shown that have a difference."""
FIELDS = 4
"""Fields shown as numbers."""
RANGES = 8
"""Ranges listed before the rest is counted."""

_FIELD_BYTE = re.compile(r"(.*), byte (\d+) \((big|little) endian\)\Z")


def same(i: int, name: str) -> str:
    """The field of byte `i` is called as the reason for the byte calls it."""
    return name


def positions(expected: Bytes, got: Bytes, ignored: Sequence[tuple[int, int]] = ()) -> Positions:
    """Where they differ, outside the ranges [start, end) that are `ignored`. Both have one length."""
    differs = expected != got
    for start, end in ignored:
        differs[start:end] = False
    return np.flatnonzero(differs)


def ranges(where: Positions) -> list[tuple[int, int]]:
    """Positions as half-open ranges, in order."""
    if not len(where):
        return []
    breaks = np.flatnonzero(np.diff(where) > 1)
    starts = where[np.concatenate(([0], breaks + 1))]
    ends = where[np.concatenate((breaks, [len(where) - 1]))] + 1
    return [(int(start), int(end)) for start, end in zip(starts, ends, strict=True)]


def ranges_text(where: Positions, base: int = 0) -> str:
    """`[512..516], [1028..1032]` as the language writes ranges (the end is left out)."""
    found = [(base + start, base + end) for start, end in ranges(where)]
    text = ", ".join(f"[{start}]" if end == start + 1 else f"[{start}..{end}]" for start, end in found[:RANGES])
    return text + (f" and {len(found) - RANGES} more" if len(found) > RANGES else "")


def describe(
    expected: Bytes,
    got: Bytes,
    where: Positions,
    *,
    reason: Reason,
    name_of: Callable[[int], str],
    ignored: Sequence[tuple[int, int]] = (),
    base: int = 0,
) -> tuple[Detail, ...]:
    """The details of a difference: the field, the reason for the expected byte, the rows, all ranges. `reason(i)`
    gives the reason for the expected byte i; `name_of(i)` names the byte as the case does; `base` is the position of
    byte 0 there.
    """
    first = int(where[0])
    return (
        ("first at", name_of(first)),
        *reasons(expected, got, first, reason),
        *fields(expected, got, where, reason),
        *counted(expected, got, where, ignored, base),
    )


def reasons(expected: Bytes, got: Bytes, first: int, reason: Reason) -> Iterator[Detail]:
    """Why byte `first` should be what is expected, and what it is."""
    why = reason(first)
    if why:
        yield "should be", why[0]
        yield from (("", line) for line in why[1:])
    yield "but is", _otherwise(int(expected[first]), int(got[first]), why)


def counted(
    expected: Bytes, got: Bytes, where: Positions, ignored: Sequence[tuple[int, int]] = (), base: int = 0
) -> Iterator[Detail]:
    """How many bytes differ and where, and the rows of both."""
    yield "bytes", f"{len(where)} of {len(expected)} differ: {ranges_text(where, base)}"
    yield from rows(expected, got, where, ignored, base)


def _otherwise(want: int, have: int, why: tuple[str, ...]) -> str:
    """Describes a byte of the device against the expected one."""
    bits = [bit for bit in range(8) if (want ^ have) >> bit & 1]
    text = f"{have:#04x} in place of {want:#04x}"
    if len(bits) == 1:
        text += f": bit {bits[0]} differs"
        if any(line == f"bit {bits[0]} flipped by the case" for line in why):
            text += ", as if the case had not flipped it"
    return text


def field_span(first: int, length: int, reason: Reason) -> tuple[str, int, int, str] | None:
    """The field that byte `first` belongs to: (name, start, end, byte order); None outside fields."""
    for line in reason(first):
        match = _FIELD_BYTE.match(line)
        if match is None:
            continue
        name, byte, order = match.group(1), int(match.group(2)), match.group(3)
        start = first - byte
        if start < 0:
            return None
        end = start
        while end < length and end - start < 8 and f"{name}, byte {end - start} ({order} endian)" in reason(end):
            end += 1
        return (name, start, end, order) if end > first else None
    return None


def fields(expected: Bytes, got: Bytes, where: Positions, reason: Reason, named: Named = same) -> list[Detail]:
    """The fields that differ, as numbers, expected and actual. `named`: how the field of a byte is called."""
    details: list[Detail] = []
    covered = 0
    for first, last in ranges(where)[: 8 * FIELDS]:
        at = max(first, covered)
        while at < last and len(details) < FIELDS:
            span = field_span(at, len(expected), reason)
            if span is None:
                break
            name, start, end, order = span
            width = 2 * (end - start) + 2
            want, have = (_number(data[start:end], order) for data in (expected, got))
            details.append(("field", f"{named(at, name)}: expected {want:#0{width}x}, got {have:#0{width}x}"))
            at = covered = end
    return details


def _number(data: Bytes, order: str) -> int:
    return int.from_bytes(data.tobytes(), "big" if order == "big" else "little")


def rows(
    expected: Bytes, got: Bytes, where: Positions, ignored: Sequence[tuple[int, int]] = (), base: int = 0
) -> list[Detail]:
    """Aligned rows of both, one before the first difference, with a marker line under the bytes that differ."""
    differing = sorted({int(i) // ROW for i in where})
    shown = differing[:ROWS]
    if shown[0] > 0:
        shown.insert(0, shown[0] - 1)
    marked = set(where.tolist())
    holes = {i for start, end in ignored for i in range(start, end)}
    width = len(str(base + shown[-1] * ROW))
    lines: list[Detail] = []
    before = shown[0]
    for row in shown:
        if row > before + 1:
            lines.append(("", f"{'…':>{width}}"))
        before = row
        cells = range(row * ROW, min(row * ROW + ROW, len(expected)))
        wanted = _hex(["??" if i in holes else f"{expected[i]:02x}" for i in cells])
        lines.append(("", f"{base + row * ROW:>{width}}  expected  {wanted}"))
        if not marked.isdisjoint(cells):
            have = _hex([f"{got[i]:02x}" for i in cells])
            marks = _hex(["^^" if i in marked else "  " for i in cells]).rstrip()
            lines.append(("", f"{'':>{width}}  got       {have}"))
            lines.append(("", f"{'':>{width}}            {marks}"))
    if len(differing) > ROWS:
        lines.append(("", f"{'…':>{width}}  {len(differing) - ROWS} more rows differ"))
    return lines


def _hex(cells: list[str]) -> str:
    """Cells in one row, a wider gap after the eighth."""
    return " ".join(cells[:8]) + ("  " + " ".join(cells[8:]) if len(cells) > 8 else "")
