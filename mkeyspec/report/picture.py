"""The drawing of a failure as boxes of an SVG: memory, mkey and wire, one under the other, those marked that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

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
    names = ["memory", found.key, "wire"]
    rows = [[cell[row] for cell in found.cells] for row in range(3)]
    marks = [bool(cell[3]) for cell in found.cells]
    title = f"{found.differing} of {found.total} bytes differ, first at {found.first}"
    compared = 2 if found.side == "wire" else 0
    return picture(names, rows, marks, compared, before=found.before, after=found.after, title=title)


def picture(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    marks: Sequence[bool],
    compared: int,
    *,
    before: bool,
    after: bool,
    title: str,
) -> Picture:
    """Rows of cells under one another, each with its name. `marks`: the cells that differ, in the row `compared`."""
    names = [plain(name)[:_LONGEST] for name in names]
    texts = [[plain(text)[:_LONGEST] for text in cell] for cell in zip(*rows, strict=True)]
    left = max(map(len, names)) * _LETTER + _PAD
    count = len(names)
    boxes = [Box(0, row * (_HIGH + _GAP), left, name, "") for row, name in enumerate(names)]
    x = left
    if before:
        boxes += [Box(x, row * (_HIGH + _GAP), 2 * _LETTER, "…", "") for row in range(count)]
        x += 2 * _LETTER
    for text, bad in zip(texts, marks, strict=True):
        width = max(4, *map(len, text)) * _LETTER + _PAD
        for row, said in enumerate(text):
            look = "differs" if bad and row == compared else "cell" if said else "none"
            boxes.append(Box(x, row * (_HIGH + _GAP), width, said, look))
        x += width + 3
    if after:
        boxes += [Box(x, row * (_HIGH + _GAP), 2 * _LETTER, "…", "") for row in range(count)]
        x += 2 * _LETTER
    return Picture(x, count * _HIGH + (count - 1) * _GAP, plain(title), boxes)


_STYLE = (
    "text { font: 12px ui-monospace, monospace; fill: #1a1a1a } rect { fill: #eef3f8; stroke: #8899aa } "
    "rect.none { fill: none; stroke-dasharray: 3 } rect.differs { stroke: #b00020; stroke-width: 3 } "
    "rect.paper { fill: white; stroke: none } text.title { font-weight: bold }"
)


def svg(title: str, parts: Sequence[str | Picture]) -> str:
    """A whole SVG file: lines of text and pictures, one under the other. A heading does not begin with a blank."""
    lines: list[str] = []
    y, wide = 8.0, 0.0
    for part in parts:
        if isinstance(part, str):
            text = plain(part)
            look = "" if part.startswith(" ") else ' class="title"'
            lines.append(f'<text{look} xml:space="preserve" x="8" y="{y + 13:g}">{escape(text)}</text>')
            y, wide = y + 18, max(wide, len(text) * _LETTER)
            continue
        for box in part.boxes:
            x, top = 8 + box.x, y + box.y
            if box.look:
                size = f'width="{box.width:g}" height="24" rx="3"'
                lines.append(f'<rect class="{box.look}" x="{x:g}" y="{top + 1:g}" {size}/>')
            lines.append(f'<text x="{x + (7 if box.look else 0):g}" y="{top + 17:g}">{escape(box.text)}</text>')
        y, wide = y + part.height + 12, max(wide, part.width)
    wide += 16
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{y:g}" viewBox="0 0 {wide:g} {y:g}">'
    paper = f'<rect class="paper" width="{wide:g}" height="{y:g}"/>'
    return "\n".join(
        [head, f"<title>{escape(plain(title))}</title>", f"<style>{_STYLE}</style>", paper, *lines, "</svg>\n"]
    )
