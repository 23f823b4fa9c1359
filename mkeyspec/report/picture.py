"""The drawing of a failure as boxes of an SVG: memory, mkey and wire, one under the other, those marked that differ."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.report.record import Difference
from mkeyspec.report.rows import plain

_LETTER, _HIGH, _GAP, _PAD = 7.5, 26, 10, 14
"""Pixels: of a letter, of a box, between rows, inside of a box beside its text."""
_LONGEST = 60
"""Letters of a text."""


@dataclass(frozen=True, slots=True)
class Box:
    """`look`: the class of its style; "" for a text without a box."""

    x: float
    y: float
    width: float
    text: str
    look: str


@dataclass(frozen=True, slots=True)
class Picture:
    width: float
    height: float
    title: str
    boxes: list[Box]


def picture_of(found: Difference | None) -> Picture | None:
    """None where there is nothing to draw."""
    if found is None or not found.cells or any(len(cell) != 4 for cell in found.cells):
        return None
    names = ["memory", plain(found.key)[:_LONGEST], "wire"]
    texts = [[plain(text)[:_LONGEST] for text in cell[:3]] for cell in found.cells]
    left = max(map(len, names)) * _LETTER + _PAD
    compared = 2 if found.side == "wire" else 0
    boxes = [Box(0, row * (_HIGH + _GAP), left, name, "") for row, name in enumerate(names)]
    x = left
    for more in ([found.before], None, [found.after]):
        if more is None:
            for text, cell in zip(texts, found.cells, strict=True):
                width = max(4, *map(len, text)) * _LETTER + _PAD
                for row, said in enumerate(text):
                    look = "differs" if cell[3] and row == compared else "cell" if said else "none"
                    boxes.append(Box(x, row * (_HIGH + _GAP), width, said, look))
                x += width + 3
        elif more[0]:
            boxes += [Box(x, row * (_HIGH + _GAP), 2 * _LETTER, "…", "") for row in range(3)]
            x += 2 * _LETTER
    title = f"{found.differing} of {found.total} bytes differ, first at {found.first}"
    return Picture(x, 3 * _HIGH + 2 * _GAP, plain(title), boxes)
