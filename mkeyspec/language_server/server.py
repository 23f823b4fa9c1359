"""The server: which request is answered by which feature."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from mkeyspec import __version__
from mkeyspec.language_server import protocol_values as values
from mkeyspec.language_server.code_lens import COMMAND, DEVICES, code_lenses
from mkeyspec.language_server.completion import completions
from mkeyspec.language_server.connection import INVALID_REQUEST, Connection, Writer, guarded
from mkeyspec.language_server.document import Document
from mkeyspec.language_server.formatting import formatting
from mkeyspec.language_server.hover import hover
from mkeyspec.language_server.inlay_hints import inlay_hints
from mkeyspec.language_server.navigation import definition, references
from mkeyspec.language_server.quick_fixes import quick_fixes
from mkeyspec.language_server.rename import Refused, rename, renamed_at
from mkeyspec.language_server.running import Runs
from mkeyspec.language_server.semantic_tokens import semantic_tokens
from mkeyspec.language_server.session import Session, Timer
from mkeyspec.language_server.signature_help import signature
from mkeyspec.language_server.symbols import folds, symbols
from mkeyspec.language_server.text import Text

REQUEST_FAILED = -32803

Found = TypeVar("Found")

_FOLDS = {"comment": types.FoldingRangeKind.Comment, "region": types.FoldingRangeKind.Region}


class MksServer:
    """One session with one client; the methods are named as the protocol's."""

    def __init__(self) -> None:
        self.pygls = LanguageServer("mkeyspec", __version__)
        self.session = Session(self)
        self.runs = Runs()
        self._register()

    def _register(self) -> None:
        manager = self.pygls.protocol.fm
        for name, notified in (
            (types.TEXT_DOCUMENT_DID_OPEN, self.did_open),
            (types.TEXT_DOCUMENT_DID_CHANGE, self.did_change),
            (types.TEXT_DOCUMENT_DID_CLOSE, self.did_close),
        ):
            # In place of pygls's own, which keep a second copy of each text and end lines where the protocol does not.
            manager.add_builtin_feature(name, guarded(notified))
        triggers = types.CompletionOptions(trigger_characters=[".", '"', " "])
        actions = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
        for feature, answer, options in (
            (types.TEXT_DOCUMENT_DID_SAVE, self.did_save, None),
            (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self.did_save, None),
            (types.TEXT_DOCUMENT_CODE_ACTION, self.code_action, actions),
            (types.TEXT_DOCUMENT_FORMATTING, self.formatting, None),
            (types.TEXT_DOCUMENT_HOVER, self.hover, None),
            (types.TEXT_DOCUMENT_DEFINITION, self.definition, None),
            (types.TEXT_DOCUMENT_REFERENCES, self.references, None),
            (types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, self.highlight, None),
            (types.TEXT_DOCUMENT_PREPARE_RENAME, self.prepare_rename, None),
            (types.TEXT_DOCUMENT_RENAME, self.rename, types.RenameOptions(prepare_provider=True)),
            (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, self.document_symbol, None),
            (types.TEXT_DOCUMENT_FOLDING_RANGE, self.folding_range, None),
            (types.TEXT_DOCUMENT_COMPLETION, self.completion, triggers),
            (
                types.TEXT_DOCUMENT_SIGNATURE_HELP,
                self.signature_help,
                types.SignatureHelpOptions(trigger_characters=["(", ","]),
            ),
            (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, self.semantic_tokens, values.LEGEND),
            (types.TEXT_DOCUMENT_INLAY_HINT, self.inlay_hint, None),
            (types.TEXT_DOCUMENT_CODE_LENS, self.code_lens, None),
        ):
            self.pygls.feature(feature, options)(guarded(answer))

        async def run(*arguments: Any) -> dict[str, Any]:
            return await self.run(*arguments)

        self.pygls.command(COMMAND)(run)

    # What the session asks (`session.Client`) --------------------------------------------------

    def publish(self, document: Document) -> None:
        found = values.diagnostics_of(document)
        self.pygls.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(document.uri, found, document.version)
        )

    def closed(self, uri: str) -> None:
        self.pygls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def refresh(self) -> None:
        workspace = self.pygls.client_capabilities.workspace
        if workspace is None:
            return
        if workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.pygls.workspace_inlay_hint_refresh(None)
        if workspace.semantic_tokens is not None and workspace.semantic_tokens.refresh_support:
            self.pygls.workspace_semantic_tokens_refresh(None)

    def failed(self, error: Exception) -> None:
        message = f"mkeyspec itself failed; please report it: {type(error).__name__}: {error}"
        self.pygls.window_log_message(types.LogMessageParams(types.MessageType.Error, message))

    def later(self, seconds: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, self._protected(call))

    def soon(self, call: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._protected(call))

    def _protected(self, call: Callable[[], None]) -> Callable[[], None]:
        def protected() -> None:
            try:
                call()
            except Exception as error:
                self.failed(error)

        return protected

    # Documents ---------------------------------------------------------------------------------

    def _document(self, params: Any) -> Document | None:
        """The document of a request; None if it is not open."""
        return self.session.documents.get(params.text_document.uri)

    def _at(self, params: Any, ask: Callable[[Document, int], Found]) -> tuple[Document, Found] | None:
        document = self._document(params)
        return None if document is None else (document, ask(document, values.offset_of(document, params.position)))

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        one = params.text_document
        self.session.open(one.uri, values.path_of(one.uri), one.version, one.text)

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        one = params.text_document
        self.session.change(one.uri, one.version, [values.change_of(change) for change in params.content_changes])

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self.session.close(params.text_document.uri)

    def did_save(self, params: Any) -> None:
        self.session.files_changed()

    # Features ----------------------------------------------------------------------------------

    def code_action(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        document = self._document(params)
        if document is None or not _wants_fixes(params.context.only):
            return []
        start = document.text.offset(params.range.start.line, params.range.start.character)
        end = document.text.offset(params.range.end.line, params.range.end.character)
        return [
            types.CodeAction(
                title=fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[values.diagnostic_of(document, fix.finding)],
                is_preferred=fix.preferred,
                edit=types.WorkspaceEdit(changes={document.uri: values.edits_of(document.text, fix.edits)}),
            )
            for fix in quick_fixes(document, start, end)
        ]

    def formatting(self, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        document = self._document(params)
        return [] if document is None else values.edits_of(document.text, formatting(document))

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        document, one = self._at(params, hover) or (None, None)
        if document is None or one is None:
            return None
        return types.Hover(values.markdown(one.text), values.range_of(document.text, one.start, one.end))

    def definition(self, params: types.DefinitionParams) -> list[types.Location]:
        found = self._at(params, definition)
        return [] if found is None else [values.location_of(found[0], one) for one in found[1]]

    def references(self, params: types.ReferenceParams) -> list[types.Location]:
        found = self._at(params, references)
        if found is None:
            return []
        document, places = found
        declared: Iterable[tuple[int, int]] = ()
        if not params.context.include_declaration:
            offset = values.offset_of(document, params.position)
            declared = [(one.start, one.end) for one in definition(document, offset) if one.path is None]
        return [
            types.Location(document.uri, values.range_of(document.text, *place))
            for place in places
            if place not in declared
        ]

    def highlight(self, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        found = self._at(params, references)
        if found is None:
            return []
        return [types.DocumentHighlight(values.range_of(found[0].text, *place)) for place in found[1]]

    def prepare_rename(self, params: types.PrepareRenameParams) -> types.Range:
        document, (start, end) = self._renaming(params, renamed_at)
        return values.range_of(document.text, start, end)

    def rename(self, params: types.RenameParams) -> types.WorkspaceEdit:
        document, done = self._renaming(params, lambda document, at: rename(document, at, params.new_name))
        changes = {document.uri: values.edits_of(document.text, done.edits)}
        for path, (text, edits) in done.others.items():
            changes[values.uri_of(path)] = values.edits_of(Text(text), edits)
        return types.WorkspaceEdit(changes=changes)

    def _renaming(self, params: Any, ask: Callable[[Document, int], Found]) -> tuple[Document, Found]:
        try:
            found = self._at(params, ask)
        except Refused as error:
            raise JsonRpcException(str(error), REQUEST_FAILED) from None
        if found is None:
            raise JsonRpcException("this document is not open", INVALID_REQUEST)
        return found

    def document_symbol(self, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = self._document(params)
        return [] if document is None else [values.symbol_of(document, one) for one in symbols(document)]

    def folding_range(self, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        document = self._document(params)
        found = [] if document is None else folds(document)
        return [types.FoldingRange(one.first, one.last, kind=_FOLDS[one.kind]) for one in found]

    def completion(self, params: types.CompletionParams) -> types.CompletionList:
        found = self._at(params, completions)
        return types.CompletionList(False, []) if found is None else values.completion_of(*found)

    def signature_help(self, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        found = self._at(params, signature)
        return None if found is None or found[1] is None else values.signature_of(found[1])

    def semantic_tokens(self, params: types.SemanticTokensParams) -> types.SemanticTokens:
        document = self._document(params)
        if document is None:
            return types.SemanticTokens(data=[])
        return values.tokens_of(document, semantic_tokens(document))

    def inlay_hint(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        document = self._document(params)
        if document is None:
            return []
        start = document.text.offset(params.range.start.line, params.range.start.character)
        end = document.text.offset(params.range.end.line, params.range.end.character)
        return [
            types.InlayHint(
                values.position_of(document.text.position(one.at)), one.text, tooltip=one.about, padding_left=True
            )
            for one in inlay_hints(document, start, end)
        ]

    def code_lens(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        document = self._document(params)
        return [
            types.CodeLens(
                values.range_of(document.text, one.start, one.end),
                types.Command(one.title, COMMAND, arguments=list(one.arguments)),
            )
            for one in (code_lenses(document) if document is not None else ())
            if document is not None
        ]

    # Commands ----------------------------------------------------------------------------------

    async def run(self, *arguments: Any) -> dict[str, Any]:
        """`mkeyspec.run`: a case of a file on a device; the exit code of the run, and its last line."""
        if len(arguments) != 3 or not all(isinstance(one, str) for one in arguments):
            raise JsonRpcInvalidParams(f"{COMMAND} takes three texts: a URI, a case, a device")
        uri, case, device = arguments
        document = self.session.documents.get(uri)
        if document is None or device not in dict(DEVICES):
            raise JsonRpcInvalidParams("this document is not open" if document is None else f"no device {device!r}")
        path = document.place.path
        if not _is_saved(document):
            self._show(types.MessageType.Warning, "save the file before it is run")
            return {"exit_code": None, "last_line": ""}
        lines: list[str] = []

        def log(line: str) -> None:
            lines.append(line)
            self.pygls.window_log_message(types.LogMessageParams(types.MessageType.Log, line))

        try:
            code = await self.runs.run(path, case, device, document.place.project, log)
        except (OSError, ValueError) as error:
            raise JsonRpcException(f"the run can't be started: {error}", REQUEST_FAILED) from None
        last = next((line for line in reversed(lines) if line.strip()), "")
        kind = types.MessageType.Info if code == 0 else types.MessageType.Error
        self._show(kind, f"{case or path.name} on {device}: {last or f'exit code {code}'}")
        return {"exit_code": code, "last_line": last}

    def _show(self, kind: types.MessageType, text: str) -> None:
        self.pygls.window_show_message(types.ShowMessageParams(kind, text))

    # Life --------------------------------------------------------------------------------------

    async def serve(self, reading: int, writing: int) -> int:
        """Answer the client on two file descriptors, until it says `exit` or goes away; the exit code."""
        self._loop = asyncio.get_running_loop()
        writer = Writer(writing)
        self.pygls.protocol.set_writer(writer)
        try:
            return await Connection(self.pygls.protocol, writer).serve(reading)
        finally:
            self.runs.end()
            self.session.end()


def _wants_fixes(only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether a client that asks for these kinds of actions asks for quick fixes."""
    return only is None or any(types.CodeActionKind.QuickFix.startswith(one) for one in only)


def _is_saved(document: Document) -> bool:
    try:
        return document.place.path.read_bytes().decode("utf-8").lstrip("\ufeff") == document.text.value
    except (OSError, UnicodeDecodeError):
        return False


def serve_stdio() -> int:
    """Serve on standard input and output, which nothing else may write to; the exit code."""
    logging.getLogger("pygls").addHandler(logging.NullHandler())
    logging.getLogger("pygls").propagate = False
    reading, writing = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    return asyncio.run(MksServer().serve(reading, writing))
