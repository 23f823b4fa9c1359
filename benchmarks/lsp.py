"""How long after a keystroke the diagnostics of a file are there.

    python benchmarks/lsp.py [--keystrokes N] [--alone]

A real server over standard input and output, as an editor starts it. At each of N places, a character is written and
taken away again; the time is from the notification that is sent to the diagnostics of that version that have come.
Between keystrokes the server has no pause, so that it does not compile meanwhile. Two files of a thousand lines:

    cases     shipped cases, one after the other: what a file is like
    one case  the longest shipped case, of more than a thousand lines: what a keystroke costs at most

and `typing`: the first file, with a pause before each keystroke, so that the server compiles at its other process.

`--alone`: the same keystrokes without server and client, in processor time, which depends less on other work.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

from mkeyspec.language_server.document import changed, opened
from mkeyspec.language_server.place import place_of
from mkeyspec.language_server.protocol_values import diagnostics_of
from mkeyspec.language_server.reading import pieces_of
from mkeyspec.language_server.text import Position

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "cases" / "signature"
LINES = 1_000
AIM = 0.1
PAUSE = 0.45
"""Seconds after which the server compiles: longer than its own pause."""


def thousand_lines() -> str:
    """Cases of files that use nothing but common.mks, each under a name of its own."""
    text = 'mks 1\nuse "../common.mks"\n'
    count = 0
    for path in sorted(CASES.glob("*.mks")):
        source = path.read_text("utf-8")
        head, *cases = pieces_of(source)
        if [line for line in source[slice(*head)].split("\n") if line.startswith(("let", "setup", "needs"))]:
            continue
        for start, end in cases:
            count += 1
            text += source[start:end].replace("case ", f"case c{count}_", 1)
            if text.count("\n") >= LINES:
                return text
    return text


class Editor:
    def __init__(self) -> None:
        self.client = LanguageClient("benchmark", "1")
        self.version = 0
        self.uri = ""
        self._told = asyncio.Event()
        self.shown = 0

        def published(params: types.PublishDiagnosticsParams) -> None:
            if params.uri == self.uri and params.version == self.version:
                self.shown += 1
                self._told.set()

        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)

    async def start(self) -> None:
        await self.client.start_io(sys.executable, "-m", "mkeyspec", "lsp")
        await self.client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
        self.client.initialized(types.InitializedParams())

    async def open(self, path: Path, text: str) -> None:
        self.uri, self.version, self.shown = from_fs_path(str(path)) or "", 1, 0
        item = types.TextDocumentItem(self.uri, "mks", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        while self.shown < 2:  # read, and compiled
            self._told.clear()
            await self._told.wait()

    async def change(self, start: types.Position, end: types.Position, text: str) -> float:
        self.version += 1
        self._told.clear()
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        change = types.TextDocumentContentChangePartial(types.Range(start, end), text)
        begin = time.perf_counter()
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await self._told.wait()
        return time.perf_counter() - begin


async def keystrokes(editor: Editor, path: Path, text: str, count: int, pause: float) -> list[float]:
    await editor.open(path, text)
    found = []
    for place, behind, written in drawn(text, count):
        here, after = types.Position(*place), types.Position(*behind)
        for begin, end, new in ((here, here, written), (here, after, "")):
            await asyncio.sleep(pause)
            found.append(await editor.change(begin, end, new))
    return found


def alone(path: Path, text: str, count: int) -> list[float]:
    """What the server's own process does at a keystroke, in processor time."""
    place = place_of(path)
    document = opened("file:///x.mks", 1, text, place)
    found = []
    for place_, after, new in drawn(text, count):
        for begin, end, what in ((place_, place_, new), (place_, after, "")):
            start = time.process_time()
            document = changed(document, 2, [(Position(*begin), Position(*end), what)])
            diagnostics_of(document)
            found.append(time.process_time() - start)
    return found


def drawn(text: str, count: int) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
    """Places below the first line, the places behind a character that is written there, and the character."""
    chance = random.Random(1)
    lines = text.split("\n")
    for _ in range(count):
        number = chance.randrange(1, len(lines))
        column = chance.randrange(len(lines[number]) + 1)
        yield (number, column), (number, column + 1), "x"


def told(name: str, text: str, found: list[float]) -> None:
    ordered = sorted(found)
    high = ordered[int(len(ordered) * 0.95)]
    row = f"{name:9} {text.count(chr(10)):6} lines  {1000 * statistics.median(ordered):6.0f} ms"
    print(f"{row}  {1000 * high:6.0f} ms of 95 %  {1000 * ordered[-1]:6.0f} ms at most   (aim: {1000 * AIM:.0f} ms)")


async def run(count: int) -> None:
    editor = Editor()
    await editor.start()
    ordinary = thousand_lines()
    long = ROOT / "cases" / "mkey" / "sequences.mks"
    path = CASES / "benchmark.mks"
    told("cases", ordinary, await keystrokes(editor, path, ordinary, count, 0))
    told("one case", long.read_text("utf-8"), await keystrokes(editor, long, long.read_text("utf-8"), count // 4, 0))
    typed = await keystrokes(editor, path.with_name("typing.mks"), ordinary, count // 8, PAUSE)
    told("typing", ordinary, typed)
    await editor.client.shutdown_async(None)
    editor.client.exit(None)
    server: Any = editor.client._server
    await server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keystrokes", type=int, default=200, metavar="N")
    parser.add_argument("--alone", action="store_true", help="without server and client, in processor time")
    options = parser.parse_args()
    if not options.alone:
        asyncio.run(run(options.keystrokes))
        return
    text, long = thousand_lines(), ROOT / "cases" / "mkey" / "sequences.mks"
    told("cases", text, alone(CASES / "benchmark.mks", text, options.keystrokes))
    told("one case", long.read_text("utf-8"), alone(long, long.read_text("utf-8"), options.keystrokes // 4))


if __name__ == "__main__":
    main()
