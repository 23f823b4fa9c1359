"""Wrong inputs, as a new user writes them: one mistake each, in the `.toml` files beside this module.

A wrong input is a table `[name]`:

    [transmit_via]
    in     = "key"                              the frame around it (frames.toml); "key" if it is left out
    text   = '''    transmit k ⟦via⟧ send'''    ⟦…⟧: what the answer must point at; it must begin at ⟦
    code   = "MKS0503"
    says   = "follows `by`"                     a part of the message: the cause
    advice = "by"                               a part of what is answered: what to write
    fix    = '''    transmit k by send'''       the text after the machine-applicable fix, if there must be one

or, where the mistake is an edit of a whole file that is right (a frame without `HERE`):

    in     = "strip"
    old    = "transmit k by send"               its first occurrence in the frame…
    new    = "transmit k ⟦via⟧ send"            …and what a user wrote in its place; `fix`: what is there afterwards
    place  = "8:5"                              where the answer points, if that is not in `new`
    still  = "place"                            what of the answer is still bad: the other keys are what is wanted
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from mkeyspec.compiler.compile import compile_file
from mkeyspec.diagnostics.diagnostic import Diagnostic

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
NOT_INPUTS = ("frames.toml", "rating.toml")
FRAMES: dict[str, str] = tomllib.loads((HERE / "frames.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Wrong:
    """One wrong input, with what a user expects to be told."""

    name: str
    file: str
    frame: str
    text: str
    line: int
    column: int
    first: int
    """The first line of the input's own text; the lines before are the frame's."""
    last: int
    encoding: str
    code: str
    says: str
    advice: str
    fixed: str | None
    """The whole file after the fix; None: no machine-applicable fix is asked for."""
    still: str = ""
    """What is still bad of the answer."""


def _framed(frame: str, text: str) -> str:
    return FRAMES[frame].replace("HERE", text.strip("\n")).lstrip("\n")


def _wrong(name: str, file: str, entry: dict[str, str]) -> Wrong:
    frame = entry.get("in", "key")
    if "old" in entry:
        return _edited(name, file, frame, entry)
    marked = _framed(frame, entry["text"])
    before = marked.partition("⟦")[0]
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    if "place" in entry:
        line, column = map(int, entry["place"].split(":"))
    first = FRAMES[frame].lstrip("\n").partition("HERE")[0].count("\n") + 1
    last = first + entry["text"].strip("\n").count("\n")
    text = marked.replace("⟦", "").replace("⟧", "")
    fixed = _framed(frame, entry["fix"]) if "fix" in entry else None
    encoding = entry.get("encoding", "utf-8")
    return Wrong(
        name, file, frame, text, line, column, first, last, encoding,
        entry.get("code", ""), entry.get("says", ""), entry["advice"], fixed,
    )  # fmt: skip


def _edited(name: str, file: str, frame: str, entry: dict[str, str]) -> Wrong:
    """An input that is a right file with one edit."""
    right = FRAMES[frame].lstrip("\n")
    begin = right.index(entry["old"])
    marked = right.replace(entry["old"], entry["new"], 1)
    first = right.count("\n", 0, begin) + 1
    last = first + entry["new"].count("\n")
    if "place" in entry:
        line, column = map(int, entry["place"].split(":"))
    else:
        before = marked[: marked.index("⟦")]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    text = marked.replace("⟦", "").replace("⟧", "")
    fixed = right.replace(entry["old"], entry["fix"], 1) if "fix" in entry else None
    return Wrong(
        name, file, frame, text, line, column, first, last, "utf-8",
        entry.get("code", ""), entry.get("says", ""), entry["advice"], fixed, entry.get("still", ""),
    )  # fmt: skip


def corpus() -> list[Wrong]:
    found = []
    for path in sorted(HERE.glob("*.toml")):
        if path.name not in NOT_INPUTS:
            entries = tomllib.loads(path.read_text(encoding="utf-8"))
            found += [_wrong(name, path.name, entry) for name, entry in entries.items()]
    return found


def answers(text: str, directory: Path, encoding: str = "utf-8") -> list[Diagnostic]:
    """What the compiler says of a file with `text`, beside a library `_shared.mks`."""
    for library in HERE.glob("_*.mks"):
        (directory / library.name).write_text(library.read_text())
    path = directory / "wrong.mks"
    path.write_bytes(text.encode(encoding))
    return list(compile_file(path, root=directory).diagnostics)


def judged(wrong: Wrong, found: list[Diagnostic]) -> list[Diagnostic]:
    """The errors; if there is none, the warnings in the input's own lines: the frame's are not its fault."""
    errors = [one for one in found if one.severity == "error"]
    return errors or [one for one in found if wrong.first <= line_of(one) <= wrong.last]


def line_of(one: Diagnostic) -> int:
    return place_of(one)[0]


def place_of(one: Diagnostic) -> tuple[int, int]:
    return tuple(one.span.source.location(one.span.start)) if one.span.source.text else (1, 1)  # type: ignore[return-value]


def told(one: Diagnostic) -> str:
    """All words of an answer."""
    return "\n".join([one.message, one.label, *(note.message for note in one.notes), one.help])
