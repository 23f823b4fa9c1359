"""A real client over standard input and output: a session for each feature, and sessions that go wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.language_server.client import SECONDS, Editor, session
from tests.language_server.marked import HEAD, PATH

TEXT = HEAD + "\ncase second\n    verifies SIG-07\n    memory m = counter(64)\n    expect m == counter(64)\n"


def at(text: str, what: str, after: int = 0) -> types.Position:
    """The place of `what`, which is ASCII, so that columns are characters."""
    offset = text.index(what) + after
    return types.Position(text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1)


Steps = Callable[[Editor, str, types.TextDocumentIdentifier], Awaitable[None]]


async def diagnostics(editor: Editor, uri: str, _: types.TextDocumentIdentifier) -> None:
    assert await editor.diagnostics(uri, 1) == []
    [told] = await editor.diagnostics(uri, 1, 2)
    assert (told.code, told.severity) == ("MKS0612", types.DiagnosticSeverity.Warning)
    assert told.range == types.Range(at(TEXT, "expect m"), at(TEXT, "expect m", 23))
    assert told.code_description is not None
    assert told.code_description.href.endswith("/explanations/MKS0612.md")
    place = at(TEXT, "    transmit")
    editor.change(uri, 2, types.TextDocumentContentChangePartial(types.Range(place, place), "    memory src[4]\n"))
    first = {one.code: one for one in await editor.diagnostics(uri, 2)}
    assert set(first) == {"MKS0203", "MKS0612"}
    [related] = first["MKS0203"].related_information or ()
    assert related.location.range.start == at(TEXT, "src")
    assert related.message == "declared here first"
    editor.change(uri, 3, types.TextDocumentContentChangeWholeDocument("mks 1\n\ncase a\n    memory m[4]\n"))
    assert {one.code for one in await editor.diagnostics(uri, 3, 2)} >= {"MKS0602"}
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await editor.until(lambda: not editor.told[uri][-1].diagnostics and editor.told[uri][-1].version is None)


async def quick_fix(editor: Editor, uri: str, document: types.TextDocumentIdentifier) -> None:
    wrong = TEXT.replace("wire == counter", "wire == countre")
    editor.change(uri, 2, types.TextDocumentContentChangeWholeDocument(wrong))
    [told] = [one for one in await editor.diagnostics(uri, 2) if one.severity == types.DiagnosticSeverity.Error]
    context = types.CodeActionContext([told])
    actions = await editor.client.text_document_code_action_async(types.CodeActionParams(document, told.range, context))
    [action] = [one for one in actions or () if isinstance(one, types.CodeAction) and one.is_preferred]
    assert action.title == "write `counter` instead of `countre`"
    assert action.edit is not None
    assert action.edit.changes is not None
    assert list(action.edit.changes[uri]) == [types.TextEdit(told.range, "counter")]
    other = types.CodeActionContext([], [types.CodeActionKind.Refactor])
    assert not await editor.client.text_document_code_action_async(types.CodeActionParams(document, told.range, other))


async def formatting(editor: Editor, uri: str, document: types.TextDocumentIdentifier) -> None:
    options = types.FormattingOptions(8, False)
    editor.change(uri, 2, types.TextDocumentContentChangeWholeDocument("mks 1\ncase a\n  memory   m[4]\n"))
    edits = await editor.client.text_document_formatting_async(types.DocumentFormattingParams(document, options))
    [edit] = edits or ()
    assert edit.new_text == "\ncase a\n    memory m[4]\n"
    assert edit.range == types.Range(types.Position(1, 0), types.Position(3, 0))


async def hover(editor: Editor, uri: str, document: types.TextDocumentIdentifier) -> None:
    found = await editor.client.text_document_hover_async(types.HoverParams(document, at(TEXT, "framed")))
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert "516 bytes: `00 01 02" in found.contents.value
    assert found.range == types.Range(at(TEXT, "framed"), at(TEXT, "framed", 6))
    assert await editor.client.text_document_hover_async(types.HoverParams(document, types.Position(99, 9))) is None


async def navigation(editor: Editor, uri: str, document: types.TextDocumentIdentifier) -> None:
    place = at(TEXT, "list(src)", 5)
    declared = at(TEXT, "src")
    found: Any = await editor.client.text_document_definition_async(types.DefinitionParams(document, place))
    assert [one.range.start for one in found] == [declared]
    for mine, count in ((True, 2), (False, 1)):
        context = types.ReferenceContext(mine)
        used = await editor.client.text_document_references_async(types.ReferenceParams(context, document, place))
        assert len(used or ()) == count
    lit = await editor.client.text_document_document_highlight_async(types.DocumentHighlightParams(document, place))
    assert len(lit or ()) == 2


async def rename(editor: Editor, uri: str, document: types.TextDocumentIdentifier) -> None:
    place = at(TEXT, "list(src)", 6)
    asked = types.PrepareRenameParams(document, place)
    found = await editor.client.text_document_prepare_rename_async(asked)
    assert found == types.Range(at(TEXT, "list(src)", 5), at(TEXT, "list(src)", 8))
    done = await editor.client.text_document_rename_async(types.RenameParams(document, place, "source"))
    assert done is not None
    assert done.changes is not None
    assert [one.new_text for one in done.changes[uri]] == ["source", "source"]
    for new, why in (("case", "word of the language"), ("far", "a name here already"), ("A", "not a name")):
        with pytest.raises(Exception, match=why):
            await editor.client.text_document_rename_async(types.RenameParams(document, place, new))


async def symbols(editor: Editor, uri: str, document: types.TextDocumentIdentifier) -> None:
    found: Any = await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert [one.name for one in found] == ["d", "twice", "first", "second"]
    assert [one.name for one in found[2].children] == ["n", "src", "far", "k", "t"]
    folds = await editor.client.text_document_folding_range_async(types.FoldingRangeParams(document))
    assert at(TEXT, "case first").line in {one.start_line for one in folds or ()}


async def completion(editor: Editor, uri: str, document: types.TextDocumentIdentifier) -> None:
    place = at(TEXT, "signature { mem", 12)
    found: Any = await editor.client.text_document_completion_async(types.CompletionParams(document, place))
    assert [one.label for one in found.items] == ["mem", "wire", "check_mask", "copy_mask", "if"]
    assert found.items[0].text_edit.range == types.Range(place, at(TEXT, "signature { mem", 15))
    place = at(TEXT, "counter(512)", 8)
    help = await editor.client.text_document_signature_help_async(types.SignatureHelpParams(document, place))
    assert help is not None
    assert help.signatures[0].label == "counter(n) -> bytes"


async def colours(editor: Editor, uri: str, document: types.TextDocumentIdentifier) -> None:
    found = await editor.client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
    assert found is not None
    assert editor.capabilities is not None
    options = editor.capabilities.semantic_tokens_provider
    assert options is not None
    legend = options.legend.token_types
    # `case first`: the line after the two before it, column 0, four characters; then `first`, 5 columns on.
    tokens = [found.data[at : at + 5] for at in range(0, len(found.data), 5)]
    words = [(list(one[:3]), legend[one[3]]) for one in tokens]
    place = words.index(([2, 0, 4], "keyword"))
    assert words[place + 1] == ([0, 5, 5], "class")


async def hints(editor: Editor, uri: str, document: types.TextDocumentIdentifier) -> None:
    await editor.diagnostics(uri, 1, 2)
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    found = await editor.client.text_document_inlay_hint_async(types.InlayHintParams(document, whole))
    assert [one.label for one in found or ()] == ["2 rows", "516 bytes", "64 bytes"]
    assert (found or ())[0].position == at(TEXT, "case first", 10)


FEATURES: list[Steps] = [
    diagnostics, quick_fix, formatting, hover, navigation, rename, symbols, completion, colours, hints,
]  # fmt: skip


def test_features() -> None:
    """One after the other with one server, since it takes a second to start; each with a document of its own."""

    async def all_features(editor: Editor) -> None:
        for steps in FEATURES:
            uri = editor.open(PATH.with_name(f"{steps.__name__}.mks"), TEXT)
            try:
                await steps(editor, uri, types.TextDocumentIdentifier(uri))
            except AssertionError as error:
                raise AssertionError(f"{steps.__name__}: {error}") from error

    session(all_features)


def test_run_on_the_model(tmp_path: Path) -> None:
    (tmp_path / "mkeyspec.toml").write_text("", "utf-8")
    path = tmp_path / "a.mks"
    path.write_text(HEAD.replace('use "../common.mks"\n', ""), "utf-8")

    async def steps(editor: Editor) -> None:
        uri = editor.open(path, path.read_text("utf-8"))
        lenses = await editor.client.text_document_code_lens_async(
            types.CodeLensParams(types.TextDocumentIdentifier(uri))
        )
        command = (lenses or ())[0].command
        assert command is not None
        asked = types.ExecuteCommandParams(command.command, arguments=command.arguments)
        found: Any = await editor.client.workspace_execute_command_async(asked)
        assert found["exit_code"] == 0
        assert "2 passed" in found["last_line"]
        for arguments in ([], [uri, "first"], [uri, "first", "gone"], ["file:///no.mks", "first", "model"], [1, 2, 3]):
            with pytest.raises(Exception, match=r"run|open|device|argument"):
                await editor.client.workspace_execute_command_async(
                    types.ExecuteCommandParams(command.command, arguments=arguments)
                )
        editor.change(uri, 2, types.TextDocumentContentChangeWholeDocument(HEAD))
        found = await editor.client.workspace_execute_command_async(asked)
        assert found["exit_code"] is None
        assert "save the file before it is run" in editor.messages

    session(steps)


def test_a_file_that_is_deleted_and_a_library_that_changes(tmp_path: Path) -> None:
    (tmp_path / "mkeyspec.toml").write_text("", "utf-8")
    folder = tmp_path / "cases"
    folder.mkdir()
    library, user = folder / "lib.mks", folder / "user.mks"
    library.write_text("mks 1\nlet size = 4\n", "utf-8")
    text = 'mks 1\nuse "lib.mks"\ncase a\n    verifies SIG-07\n    memory m = counter(sizes)\n'

    async def steps(editor: Editor) -> None:
        uri = editor.open(user, text)  # it was never written
        assert {one.code for one in await editor.diagnostics(uri, 1, 2)} == {"MKS0202"}
        other = editor.open(library, library.read_text("utf-8"))
        place = types.Position(1, 8)
        editor.change(other, 2, types.TextDocumentContentChangePartial(types.Range(place, place), "s"))
        assert "MKS0202" not in {one.code for one in await editor.diagnostics(uri, 1, 3)}
        library.unlink()
        editor.change(
            uri,
            2,
            types.TextDocumentContentChangePartial(types.Range(types.Position(9, 0), types.Position(9, 0)), "\n"),
        )
        assert "MKS0807" in {one.code for one in await editor.diagnostics(uri, 2, 2)}
        folder.rmdir()
        document = types.TextDocumentIdentifier(uri)
        found: Any = await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
        assert [one.name for one in found] == ["a"]

    session(steps)


# Clients that go wrong ------------------------------------------------------------------------


def message(**members: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **members}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


INITIALIZE = message(id=1, method="initialize", params={"processId": None, "rootUri": None, "capabilities": {}})
SHUTDOWN = message(id=99, method="shutdown") + message(method="exit")


def opened_with(text: str, uri: str = "file:///x.mks") -> bytes:
    item = {"uri": uri, "languageId": "mks", "version": 1, "text": text}
    return message(method="textDocument/didOpen", params={"textDocument": item})


def answers(data: bytes, code: int = 0) -> dict[Any, Any]:
    """What the server answers to a client that sends `data` and goes away, by id."""
    done = subprocess.run([sys.executable, "-m", "mkeyspec", "lsp"], input=data, capture_output=True, timeout=SECONDS)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    found: dict[Any, Any] = {}
    rest = done.stdout
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
        one = json.loads(rest[:length])
        found.setdefault(one.get("id", one.get("method")), one.get("error", {}).get("code", one.get("result")))
        rest = rest[length:]
    return found


def test_garbage() -> None:
    """Each request gets an answer, each garbage an error, and the session goes on."""
    position = {"line": -5, "character": 1 << 40}
    where = {"textDocument": {"uri": "file:///x.mks"}, "position": {"line": 3, "character": 4}}
    data = [
        message(id=10, method="textDocument/hover", params=where),  # not initialized
        b"nonsense\r\n\r\n",
        b"Content-Length: 3\r\n\r\n{{{",
        b"Content-Length: 4\r\n\r\n\xff\xfe\x00\x01",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 2\r\n\r\n{}",
        b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000,
        INITIALIZE,
        message(id=2, method="initialize", params={}),
        message(method="initialized", params={}),
        opened_with("mks 1\n# \ud800 half\ncase a\n    memory m[4]\n\ud83d\ude00"),
        message(id=3, method="textDocument/hover", params=where),
        message(id=4, method="textDocument/hover", params={"textDocument": {}}),
        message(id=5, method="textDocument/hover", params=[1]),
        message(id=6, method="textDocument/hover"),
        message(id=7, method="textDocument/hover", params={**where, "position": position}),
        message(id=8, method="textDocument/definition", params={**where, "textDocument": {"uri": "no uri at all"}}),
        message(id=9, method="no/such/method", params={}),
        message(id=[1], method="textDocument/hover", params=where),
        message(id=11, method=5),
        message(id=12, result=None),
        message(method="$/cancelRequest", params={"id": 12345}),
        message(method="$/cancelRequest"),
        message(method="textDocument/didChange", params={"textDocument": {"uri": "file:///y", "version": 1}}),
        message(method="textDocument/didClose", params={"textDocument": {"uri": "file:///never"}}),
        message(id=13, method="textDocument/rename", params={**where, "newName": "\ud800"}),
        message(id=14, method="workspace/executeCommand", params={"command": "rm"}),
        message(id="last", method="textDocument/documentSymbol", params={"textDocument": {"uri": "file:///x.mks"}}),
        SHUTDOWN,
    ]
    found = answers(b"".join(data))
    assert found[10] == -32002
    assert found[None] in (-32700, -32600)
    assert found[1]["capabilities"]["hoverProvider"]
    assert found[2] == -32600
    assert found[3]["contents"]["value"].startswith("```mks")
    assert {found[id] for id in (4, 5, 6)} <= {-32602, -32603}
    assert found[7] is None or isinstance(found[7], dict) or found[7] in (-32602, -32603)
    assert found[8] == []
    assert (found[9], found[11], found[14]) == (-32601, -32600, -32602)
    assert found[13] == -32803
    assert [one["name"] for one in found["last"]] == ["a"]
    assert found[99] is None


def test_ten_megabytes() -> None:
    where = {"textDocument": {"uri": "file:///x.mks"}, "position": {"line": 100, "character": 4}}
    features = (
        "hover",
        "completion",
        "documentSymbol",
        "foldingRange",
        "semanticTokens/full",
        "codeLens",
        "definition",
    )
    asked = [message(id=at, method=f"textDocument/{name}", params=where) for at, name in enumerate(features, 10)]
    found = answers(b"".join([INITIALIZE, opened_with("case a\n    memory m[4]\n" * 450_000), *asked, SHUTDOWN]))
    assert set(range(10, 10 + len(features))) <= set(found)
    assert not any(isinstance(found[id], int) for id in range(10, 10 + len(features)))


@pytest.mark.parametrize("cut", [b"", b"Content-Length: 500\r\n\r\n{"])
def test_a_client_that_goes_away(cut: bytes) -> None:
    """In the middle of a message, while a file is compiled: the server ends, with 1."""
    text = (PATH.parents[1] / "mkey" / "sequences.mks").read_text("utf-8")
    answers(INITIALIZE + opened_with(text) + cut, code=1)


def test_an_exit_without_shutdown_is_1() -> None:
    answers(INITIALIZE + message(method="exit"), code=1)


def test_a_client_that_reads_no_more() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "mkeyspec", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write(INITIALIZE + opened_with(TEXT))
    process.stdin.flush()
    try:
        assert process.wait(SECONDS) == 1
    finally:
        process.kill()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
