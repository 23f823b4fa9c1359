"""Texts with a mark at a place, and documents of them."""

from __future__ import annotations

from pathlib import Path

from mkeyspec.language_server.document import Document, opened, with_whole
from mkeyspec.language_server.place import place_of
from mkeyspec.language_server.whole import compiled

MARK = "‸"
ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "cases" / "signature" / "not_there.mks"
"""Where the texts are said to be: beside the shipped cases, so that `use "../common.mks"` finds its file."""


def unmarked(text: str) -> tuple[str, int]:
    """`text` without its one mark, and where that is."""
    before, mark, after = text.partition(MARK)
    assert mark
    assert MARK not in after
    return before + after, len(before)


def document(text: str, path: Path = PATH, whole: bool = False) -> Document:
    found = opened("file:///x.mks", 1, text, place_of(path))
    return with_whole(found, compiled(found.place, found.compiled_text)) if whole else found


HEAD = """\
mks 1
suite "a suite"
use "../common.mks"

let d = crc32(ones) every 512
let twice(x) = x + x

case first
    "A title."
    verifies SIG-07
    for n in 1, 2
    memory src = framed(counter(512), d)
    peer memory far[512 * n]
    mkey k { block_signature }
    configure k { layout list(src); signature { mem d } }
    transmit k by send as t
    expect t.wire == counter(512)
"""
"""A file that compiles; statements are put below it."""
