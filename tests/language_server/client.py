"""A client that drives `mkeyspec lsp` over its standard input and output, as an editor does."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

SECONDS = 120.0
"""The longest time that a test waits for the server: it hangs."""

Result = TypeVar("Result")


class Editor:
    """One session with one server. `told`: the diagnostics of each publication, by URI."""

    def __init__(self) -> None:
        self.client = LanguageClient("tests", "1")
        self.told: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.messages: list[str] = []
        self._news = asyncio.Event()
        for name, note in (
            (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, self._published),
            (types.WINDOW_SHOW_MESSAGE, self._said),
            (types.WINDOW_LOG_MESSAGE, self._said),
        ):
            self.client.feature(name)(partial(note))
        self.capabilities: types.ServerCapabilities | None = None

    def _published(self, params: types.PublishDiagnosticsParams) -> None:
        self.told.setdefault(params.uri, []).append(params)
        self._news.set()

    def _said(self, params: Any) -> None:
        self.messages.append(params.message)

    async def start(self) -> None:
        await self.client.start_io(sys.executable, "-m", "mkeyspec", "lsp", env={**os.environ})
        asked = types.InitializeParams(capabilities=types.ClientCapabilities(), process_id=os.getpid())
        self.capabilities = (await self.client.initialize_async(asked)).capabilities
        self.client.initialized(types.InitializedParams())

    def open(self, path: Path, text: str) -> str:
        """Open a file with a text, which need not be the one on disk; its URI."""
        uri = from_fs_path(str(path)) or ""
        item = types.TextDocumentItem(uri, "mks", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, version: int, *changes: types.TextDocumentContentChangeEvent) -> None:
        document = types.VersionedTextDocumentIdentifier(version, uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of what was told."""
        while not holds():
            self._news.clear()
            await self._news.wait()

    async def diagnostics(self, uri: str, version: int, publications: int = 1) -> list[types.Diagnostic]:
        """What is told of a version, in the publication of that number (2: after compiling it whole)."""

        def of_it() -> list[types.PublishDiagnosticsParams]:
            return [one for one in self.told.get(uri, []) if one.version == version]

        await self.until(lambda: len(of_it()) >= publications)
        return list(of_it()[-1].diagnostics)

    async def end(self) -> int:
        """Shut the server down; its exit code."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        server: Any = self.client._server
        code: int = await server.wait()
        return code


def session(steps: Callable[[Editor], Awaitable[Result]]) -> Result:
    """What `steps` give, carried out with a server that is started for them and must end well."""

    async def run() -> Result:
        editor = Editor()
        await editor.start()
        try:
            result = await steps(editor)
            assert await editor.end() == 0
            return result
        finally:
            server: Any = editor.client._server
            if server.returncode is None:
                server.kill()
                await server.wait()

    return asyncio.run(asyncio.wait_for(run(), SECONDS))
