"""Renders diagnostics as text and for tools.

`text` looks like rustc's output; `json_document`, `github` and `sarif` are for tools. All take
any iterable of `Diagnostic`, in the order wanted (a `Diagnostics` iterates by place). Characters
of the file that could reorder or erase what a terminal shows are never echoed as they are.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from mkeyspec.diagnostics.codes import CODES
from mkeyspec.diagnostics.diagnostic import Diagnostic, Edit, Note, edits_of
from mkeyspec.diagnostics.source import Span

FORMATS = ("text", "json", "github", "sarif")
SCHEMA = 1
"""Version of the JSON document; it changes when a member is renamed or removed."""

_TAB = 4
_WIDEST = 160
"""Columns of a source line that are shown; of a longer one only the part around the span is."""
_RED, _YELLOW, _BLUE, _CYAN, _BOLD, _RESET = (
    "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[1;36m", "\x1b[1m", "\x1b[0m",
)  # fmt: skip


def visible(text: str) -> str:
    """`text` with control, bidi and other invisible characters spelled `<U+202E>`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_character(c) for c in text)


def _visible_character(character: str) -> str:
    if character == " " or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return character
    return f"<U+{ord(character):04X}>"


def _width(character: str) -> int:
    """Columns a terminal gives to a visible character: 2 for wide ones, 0 for combining ones."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _laid_out(line: str) -> tuple[list[str], list[int]]:
    """What is shown for each character of `line`, and the column where each starts (one more: the end)."""
    shown: list[str] = []
    columns = [0]
    for character in line:
        if character == "\t":
            piece = " " * (_TAB - columns[-1] % _TAB)
            wide = len(piece)
        else:
            piece = _visible_character(character)
            wide = len(piece) if piece != character else _width(character)
        shown.append(piece)
        columns.append(columns[-1] + wide)
    return shown, columns


class _Painter:
    """Colours, or none."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self._colour and text else text


def _snippet(span: Span, label: str, gutter: int, style: str, paint: _Painter) -> list[str]:
    """`--> place`, the first and last line of the span, and carets under it."""
    source = span.source
    bar = paint(_BLUE, " " * gutter + " |")
    if not source.text:
        return [paint(_BLUE, " " * gutter + "-->") + f" {visible(source.name)}"]
    first = source.location(span.start)
    last = source.location(max(span.start, span.end - 1))
    lines = [paint(_BLUE, " " * gutter + "-->") + f" {visible(source.name)}:{first.line}:{first.column}", bar]
    numbers = [first.line] if first.line == last.line else [first.line, last.line]
    for number in numbers:
        line = source.line(number)
        begin = first.column - 1 if number == first.line else len(line) - len(line.lstrip())
        end = last.column if number == last.line else len(line)
        if span.end <= span.start:
            end = begin + 1
        shown, columns = _laid_out(line)
        begin, end = min(begin, len(line)), min(end, len(line))
        low, high, dots = _window(columns, begin, end)
        left = columns[begin] - columns[low] + (1 if dots[0] else 0)
        carets = "^" * max(1, columns[min(end, high)] - columns[begin])
        text = ("…" if dots[0] else "") + "".join(shown[low:high]).rstrip() + ("…" if dots[1] else "")
        lines.append(paint(_BLUE, f"{number:>{gutter}} |") + (f" {text}" if text else ""))
        tail = f" {label}" if label and number == last.line else ""
        lines.append(f"{bar} {' ' * left}" + paint(style, carets + tail))
        if number != last.line and last.line - first.line > 1:
            lines.append(paint(_BLUE, "..."))
    return lines


def _window(columns: list[int], begin: int, end: int) -> tuple[int, int, tuple[bool, bool]]:
    """Which characters of a line to show so that `begin` is seen: (low, high, (cut left, cut right))."""
    count = len(columns) - 1
    if columns[-1] <= _WIDEST:
        return 0, count, (False, False)
    low = begin
    while low > 0 and columns[begin] - columns[low - 1] < _WIDEST // 3:
        low -= 1
    high = begin
    while high < count and columns[high + 1] - columns[low] < _WIDEST:
        high += 1
    return low, high, (low > 0, high < count)


def text(diagnostics: Iterable[Diagnostic], colour: bool = False) -> str:
    """All of them as a terminal shows them, one empty line between; "" for none."""
    paint = _Painter(colour)
    blocks = ["\n".join(_block(d, paint)) + "\n" for d in diagnostics]
    return "\n".join(blocks)


def _block(diagnostic: Diagnostic, paint: _Painter) -> list[str]:
    spans = [diagnostic.span, *(note.span for note in diagnostic.notes if note.span is not None)]
    gutter = max(len(str(s.source.location(max(s.start, s.end - 1)).line)) for s in spans)
    style = _RED if diagnostic.severity == "error" else _YELLOW
    head = paint(style, f"{diagnostic.severity}[{diagnostic.code}]")
    lines = [head + paint(_BOLD, f": {visible(diagnostic.message)}")]
    lines += _snippet(diagnostic.span, visible(diagnostic.label), gutter, style, paint)
    for note in diagnostic.notes:
        if note.span is not None:
            lines.append(paint(_CYAN, "note") + f": {visible(note.message)}")
            lines += _snippet(note.span, "", gutter, _BLUE, paint)
    pad = " " * gutter
    for note in diagnostic.notes:
        if note.span is None:
            lines += _remark("note", note.message, pad, paint)
    lines += _remark("help", diagnostic.help, pad, paint)
    lines += _remark("page", diagnostic.page, pad, paint)
    return lines


def _remark(kind: str, message: str, pad: str, paint: _Painter) -> list[str]:
    if not message:
        return []
    first, *rest = message.split("\n")
    lead = f"{pad} = {kind}: "
    lines = [paint(_BLUE, f"{pad} =") + f" {paint(_BOLD, kind)}: {visible(first)}"]
    return lines + [" " * len(lead) + visible(line) for line in rest]


def one_line(diagnostic: Diagnostic) -> str:
    """`cases/a.mks:4:9: error[MKS0102]: …`, for a list or a log."""
    return f"{_place(diagnostic.span)}: {diagnostic.severity}[{diagnostic.code}]: {visible(diagnostic.message)}"


def _place(span: Span) -> str:
    name = visible(span.source.name)
    if not span.source.text:
        return name
    where = span.source.location(span.start)
    return f"{name}:{where.line}:{where.column}"


# For programs --------------------------------------------------------------------------------


def _region(span: Span) -> dict[str, int]:
    """Lines and columns from 1, in characters; the end is exclusive. Empty if the file has no text."""
    if not span.source.text:
        return {}
    start, end = span.source.location(span.start), span.source.location(max(span.start, span.end))
    return {"line": start.line, "column": start.column, "end_line": end.line, "end_column": end.column}


def as_data(diagnostic: Diagnostic) -> dict[str, Any]:
    """One finding as JSON-ready data; absent parts are empty strings or lists, places without a line are left out."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": diagnostic.span.source.name,
        **_region(diagnostic.span),
        "label": diagnostic.label,
        "notes": [_note_data(note) for note in diagnostic.notes],
        "help": diagnostic.help,
        "page": diagnostic.page,
        "fix": [{**_region(edit.span), "text": edit.text} for edit in edits_of(diagnostic)],
    }


def _note_data(note: Note) -> dict[str, Any]:
    data: dict[str, Any] = {"message": note.message}
    if note.span is not None:
        data["file"] = note.span.source.name
        data.update(_region(note.span))
    return data


def json_document(diagnostics: Iterable[Diagnostic]) -> str:
    """`{"schema": 1, "errors": n, "warnings": n, "diagnostics": [...]}`."""
    found = list(diagnostics)
    errors = sum(d.severity == "error" for d in found)
    document = {
        "schema": SCHEMA,
        "errors": errors,
        "warnings": len(found) - errors,
        "diagnostics": [as_data(d) for d in found],
    }
    return json.dumps(document, indent=2) + "\n"


def github(diagnostics: Iterable[Diagnostic]) -> str:
    """Workflow commands: GitHub shows each at its line of the pull request."""
    return "".join(_command(d) + "\n" for d in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    region = _region(diagnostic.span)
    values = {"file": diagnostic.span.source.name, "title": diagnostic.code}
    if region:
        values["line"], values["endLine"] = str(region["line"]), str(region["end_line"])
        if region["line"] == region["end_line"]:  # GitHub refuses columns on an annotation of several lines
            values["col"], values["endColumn"] = str(region["column"]), str(region["end_column"])
    properties = ",".join(f"{name}={_escaped_property(value)}" for name, value in values.items())
    message = "\n".join([diagnostic.message, *(f"note: {_note_text(n)}" for n in diagnostic.notes)])
    if diagnostic.help:
        message += f"\nhelp: {diagnostic.help}"
    if diagnostic.page:
        message += f"\npage: {diagnostic.page}"
    shown = "\n".join(visible(line) for line in message.split("\n"))
    return f"::{diagnostic.severity} {properties}::{_escaped(shown)}"


def _note_text(note: Note) -> str:
    return note.message if note.span is None else f"{note.message} ({_place(note.span)})"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def sarif(diagnostics: Iterable[Diagnostic], version: str = "") -> str:
    """A SARIF 2.1.0 log with one run; files are named relative to the suite's root (`SRCROOT`)."""
    found = list(diagnostics)
    codes = sorted({d.code for d in found})
    driver: dict[str, Any] = {
        "name": "mkeyspec",
        "rules": [{"id": code, "shortDescription": {"text": CODES.get(code, code)}} for code in codes],
    }
    if version:
        driver["version"] = version
    log = {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(d, codes) for d in found],
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def _result(diagnostic: Diagnostic, codes: list[str]) -> dict[str, Any]:
    remarks = [diagnostic.message, *(f"note: {n.message}" for n in diagnostic.notes if n.span is None)]
    if diagnostic.help:
        remarks.append(f"help: {diagnostic.help}")
    if diagnostic.page:
        remarks.append(f"page: {diagnostic.page}")
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": diagnostic.severity,
        "message": {"text": "\n".join(remarks)},
        "locations": [{"physicalLocation": _physical(diagnostic.span)}],
    }
    related = [
        {"id": number, "physicalLocation": _physical(note.span), "message": {"text": note.message}}
        for number, note in enumerate(diagnostic.notes)
        if note.span is not None
    ]
    if related:
        result["relatedLocations"] = related
    edits = edits_of(diagnostic)
    if edits:
        result["fixes"] = [_sarif_fix(edits, diagnostic.help)]
    return result


def _sarif_fix(edits: tuple[Edit, ...], help: str) -> dict[str, Any]:
    """All edits are of one file: that of the finding."""
    replacements = [
        {"deletedRegion": _physical(edit.span)["region"], "insertedContent": {"text": edit.text}} for edit in edits
    ]
    place = _physical(edits[0].span)["artifactLocation"]
    return {
        "description": {"text": help},
        "artifactChanges": [{"artifactLocation": place, "replacements": replacements}],
    }


def _physical(span: Span) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(span.source.name), "uriBaseId": "SRCROOT"}}
    region = _region(span)
    if region:
        place["region"] = {
            "startLine": region["line"],
            "startColumn": region["column"],
            "endLine": region["end_line"],
            "endColumn": region["end_column"],
        }
    return place


def render(diagnostics: Iterable[Diagnostic], format: str = "text", *, colour: bool = False, version: str = "") -> str:
    """`diagnostics` in one of `FORMATS`; raises ValueError for another."""
    if format == "text":
        return text(diagnostics, colour)
    if format == "json":
        return json_document(diagnostics)
    if format == "github":
        return github(diagnostics)
    if format == "sarif":
        return sarif(diagnostics, version)
    raise ValueError(f"no format {format!r}; there are {', '.join(FORMATS)}")
