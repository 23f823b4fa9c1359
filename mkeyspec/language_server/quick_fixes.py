"""The corrections that diagnostics carry, and the ways to allow a warning."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.language_server.document import Document
from mkeyspec.language_server.finding import Finding


@dataclass(frozen=True, slots=True)
class QuickFix:
    """`edits`: places of the text, and what comes there. `preferred`: the correction that the compiler names."""

    title: str
    finding: Finding
    edits: tuple[tuple[int, int, str], ...]
    preferred: bool = True


def quick_fixes(document: Document, start: int, end: int) -> list[QuickFix]:
    """Those of the diagnostics that touch [start, end)."""
    found: list[QuickFix] = []
    end_of_line = "\r\n" if "\r\n" in document.text.value else "\n"
    for one in document.findings():
        if one.end < start or one.start > end:
            continue
        if one.edits:
            edits = tuple((at, until, text.replace("\n", end_of_line)) for at, until, text in one.edits)
            found.append(QuickFix(_title(document, one), one, edits))
        if one.severity == "warning" and one.code.startswith("MKS06") and one.code != "MKS0609":
            found += _allow(document, one, end_of_line)
    return found


def _title(document: Document, one: Finding) -> str:
    if len(one.edits) == 1:
        start, end, text = one.edits[0]
        old = document.text.value[start:end]
        shown = text.strip().partition("\n")[0]
        if not text.strip():
            return f"remove `{old.strip()}`" if old.strip() else "remove the blank"
        if "\n" not in old and len(old) + len(shown) < 80:
            return f"write `{shown}` instead of `{old}`" if old.strip() else f"insert `{shown}`"
    return f"correct {one.code}"


def _allow(document: Document, one: Finding, end_of_line: str) -> list[QuickFix]:
    """`allow MKS06nn` in the head of the case."""
    piece = document.piece_at(one.start)
    if piece is None or not piece.cases or piece is document.head:
        return []
    case = piece.cases[0]
    before = case.title.span if case.title is not None else case.name.span
    place = piece.place(before)
    if place is None:
        return []
    line = document.text.line_of(place[1])
    at = document.text.start_of(line + 1)
    text = f"    allow {one.code}{end_of_line}"
    if line + 1 >= document.text.lines:
        text = end_of_line + text
    return [QuickFix(f"allow {one.code} in this case", one, ((at, at, text),), preferred=False)]
