"""The values of the features as those of the protocol, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lsprotocol import types
from pygls import uris

from mkeyspec.diagnostics.codes import CODES
from mkeyspec.files import resource
from mkeyspec.language_server.completion import Item
from mkeyspec.language_server.document import Document
from mkeyspec.language_server.finding import Finding, Related
from mkeyspec.language_server.navigation import Target
from mkeyspec.language_server.semantic_tokens import MODIFIERS, TYPES, Coloured, in_lines_of
from mkeyspec.language_server.signature_help import Signature
from mkeyspec.language_server.symbols import Symbol
from mkeyspec.language_server.text import Position, Text

SOURCE = "mkeyspec"

LEGEND = types.SemanticTokensLegend(token_types=list(TYPES), token_modifiers=list(MODIFIERS))

_KINDS = {
    "keyword": types.CompletionItemKind.Keyword,
    "verb": types.CompletionItemKind.Method,
    "field": types.CompletionItemKind.Field,
    "modifier": types.CompletionItemKind.Property,
    "function": types.CompletionItemKind.Function,
    "word": types.CompletionItemKind.EnumMember,
    "name": types.CompletionItemKind.Variable,
    "member": types.CompletionItemKind.Property,
    "id": types.CompletionItemKind.Reference,
    "code": types.CompletionItemKind.Constant,
    "file": types.CompletionItemKind.File,
}
_SYMBOLS = {
    "case": types.SymbolKind.Class,
    "setup": types.SymbolKind.Namespace,
    "function": types.SymbolKind.Function,
    "value": types.SymbolKind.Constant,
    "let": types.SymbolKind.Constant,
    "for": types.SymbolKind.Variable,
    "label": types.SymbolKind.Key,
    "memory": types.SymbolKind.Array,
}


def path_of(uri: str) -> Path:
    """The file that a URI names; for another scheme (`untitled:`), one of that name in the current directory."""
    path = None
    if uri.startswith("file:"):
        try:
            path = uris.to_fs_path(uri)
        except ValueError:
            path = None
    if path and "\0" not in path:
        return Path(path).absolute()
    name = "".join(character if character.isalnum() else "_" for character in uri[-80:]) or "untitled"
    return Path.cwd() / f"{name.removesuffix('_mks')}.mks"


def uri_of(path: Path) -> str:
    return uris.from_fs_path(str(path)) or path.as_uri()


def position_of(place: Position) -> types.Position:
    return types.Position(place.line, place.column)


def range_of(text: Text, start: int, end: int) -> types.Range:
    return types.Range(position_of(text.position(start)), position_of(text.position(end)))


def offset_of(document: Document, position: types.Position) -> int:
    return document.text.offset(position.line, position.character)


def edits_of(text: Text, edits: Iterable[tuple[int, int, str]]) -> list[types.TextEdit]:
    return [types.TextEdit(range_of(text, start, end), new) for start, end, new in edits]


def change_of(change: types.TextDocumentContentChangeEvent) -> tuple[Position, Position, str] | str:
    """A change as a document takes it."""
    if isinstance(change, types.TextDocumentContentChangePartial):
        start, end = change.range.start, change.range.end
        return Position(start.line, start.character), Position(end.line, end.character), change.text
    return change.text


def diagnostics_of(document: Document) -> list[types.Diagnostic]:
    """What is wrong with a document, and with its project's settings."""
    if document.too_large:
        return [_plain(document, "this file is larger than a .mks file may be (MKS0701)")]
    found = [diagnostic_of(document, one) for one in document.findings()]
    return [_plain(document, document.place.wrong), *found] if document.place.wrong else found


def _plain(document: Document, message: str) -> types.Diagnostic:
    end = document.text.position(len(document.text.line(0)))
    place = types.Range(types.Position(0, 0), position_of(end))
    return types.Diagnostic(place, message, types.DiagnosticSeverity.Error, source=SOURCE)


def diagnostic_of(document: Document, one: Finding) -> types.Diagnostic:
    text = document.text
    severity = types.DiagnosticSeverity.Error if one.severity == "error" else types.DiagnosticSeverity.Warning
    related = [_related(document, note) for note in one.related]
    tags = [types.DiagnosticTag.Unnecessary] if one.code == "MKS0610" else None
    return types.Diagnostic(
        range_of(text, one.start, one.end), one.message, severity, one.code, _page_of(one.code), SOURCE, tags, related
    )


def _page_of(code: str) -> types.CodeDescription | None:
    """A link to the explanation of a code."""
    if code not in CODES:
        return None
    return types.CodeDescription(uri_of(Path(str(resource.directory("explanations") / f"{code}.md"))))


def _related(document: Document, note: Related) -> types.DiagnosticRelatedInformation:
    if note.path is not None and note.range is not None:
        place = types.Range(position_of(note.range[0]), position_of(note.range[1]))
        return types.DiagnosticRelatedInformation(types.Location(uri_of(note.path), place), note.message)
    place = range_of(document.text, note.start, note.end)
    return types.DiagnosticRelatedInformation(types.Location(document.uri, place), note.message)


def markdown(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)


def completion_of(document: Document, items: Sequence[Item]) -> types.CompletionList:
    found = [
        types.CompletionItem(
            label=item.label,
            kind=_KINDS[item.kind],
            detail=item.detail or None,
            documentation=markdown(item.about) if item.about else None,
            sort_text=f"{number:05}",
            text_edit=types.TextEdit(range_of(document.text, item.start, item.end), item.label),
        )
        for number, item in enumerate(items)
    ]
    return types.CompletionList(is_incomplete=False, items=found)


def signature_of(one: Signature) -> types.SignatureHelp:
    parameters = [types.ParameterInformation(text, about or None) for text, about in one.parameters]
    label = types.SignatureInformation(one.label, markdown(one.about), parameters, one.active)
    return types.SignatureHelp([label], 0, one.active)


def location_of(document: Document, target: Target) -> types.Location:
    if target.path is None:
        return types.Location(document.uri, range_of(document.text, target.start, target.end))
    return types.Location(uri_of(target.path), range_of(Text(target.text), target.start, target.end))


def symbol_of(document: Document, one: Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=one.name,
        kind=_SYMBOLS.get(one.kind, types.SymbolKind.Object),
        range=range_of(document.text, one.start, one.end),
        selection_range=range_of(document.text, one.name_start, one.name_end),
        detail=one.detail or None,
        children=[symbol_of(document, inside) for inside in one.inside],
    )


def tokens_of(document: Document, found: list[Coloured]) -> types.SemanticTokens:
    """Five numbers for each word: lines and columns from the one before, length, kind, modifiers."""
    data: list[int] = []
    last_line = last_column = 0
    for line, column, length, kind, modifiers in in_lines_of(document, found):
        bits = sum(1 << MODIFIERS.index(one) for one in modifiers)
        data += [line - last_line, column - last_column if line == last_line else column, length]
        data += [TYPES.index(kind), bits]
        last_line, last_column = line, column
    return types.SemanticTokens(data=data)
