"""The documents that are open in the editor, and when each is read, compiled and told about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from mkeyspec.files.suite_root import real
from mkeyspec.language_server.background import Background
from mkeyspec.language_server.document import Document, changed, opened, read_again, with_whole
from mkeyspec.language_server.place import place_of
from mkeyspec.language_server.text import Position
from mkeyspec.language_server.whole import Whole
from mkeyspec.language_server.worker import Job

PAUSE = 0.3
"""Seconds without a keystroke after which a document is compiled whole."""


class Timer(Protocol):
    def cancel(self) -> None: ...


class Client(Protocol):
    """What a session asks of the connection. Everything but `soon` is called in its thread."""

    def publish(self, document: Document) -> None:
        """Tell the client what is wrong with a document."""
        ...

    def closed(self, uri: str) -> None:
        """Take back what was told."""
        ...

    def refresh(self) -> None:
        """Hints and lenses may have changed."""
        ...

    def failed(self, error: Exception) -> None:
        """An error of the server itself, outside of a request."""
        ...

    def later(self, seconds: float, call: Callable[[], None]) -> Timer: ...

    def soon(self, call: Callable[[], None]) -> None:
        """Call it in the connection's thread."""
        ...


class Session:
    """One client's documents by their URIs."""

    def __init__(self, client: Client) -> None:
        self.documents: dict[str, Document] = {}
        self._client = client
        self._background = Background()
        self._timers: dict[str, Timer] = {}
        self._marks: dict[str, Marks] = {}

    def open(self, uri: str, path: Path, version: int, text: str) -> None:
        place = place_of(path, self._unsaved(uri))
        self._put(opened(uri, version, text, place), 0)

    def change(self, uri: str, version: int, changes: Sequence[tuple[Position, Position, str] | str]) -> None:
        """Changes of a document that is not open are passed over."""
        document = self.documents.get(uri)
        if document is not None:
            self._put(changed(document, version, changes), PAUSE)

    def close(self, uri: str) -> None:
        if self.documents.pop(uri, None) is not None:
            self._stop(uri)
            self._client.closed(uri)

    def files_changed(self) -> None:
        """Files on disk were written, made or deleted: settings, files that are used."""
        for uri in self.documents:
            self._schedule(uri, PAUSE)

    def _put(self, document: Document, pause: float) -> None:
        self.documents[document.uri] = document
        self._client.publish(document)
        self._schedule(document.uri, pause)
        path = real(document.place.path)
        for uri, other in self.documents.items():
            if uri != document.uri and path in _used(other):
                self._schedule(uri, PAUSE)

    def _unsaved(self, uri: str) -> Mapping[Path, bytes]:
        others = (one for one in self.documents.values() if one.uri != uri and not one.too_large)
        return {real(one.place.path): one.compiled_text.encode("utf-8") for one in others}

    def _stop(self, uri: str) -> None:
        timer = self._timers.pop(uri, None)
        if timer is not None:
            timer.cancel()
        self._background.forget(uri)

    def _schedule(self, uri: str, pause: float) -> None:
        self._stop(uri)
        self._timers[uri] = self._client.later(pause, lambda: self._begin(uri))

    def _begin(self, uri: str) -> None:
        """Compile the document as it is now, in the background; read it again, if what it uses has changed."""
        document = self.documents.get(uri)
        if document is None:
            return
        unsaved = self._unsaved(uri)

        def task() -> None:
            try:
                place = place_of(document.place.path, unsaved)
                same = document.is_read and place == document.place and _marks(document) == self._marks.get(uri)
                again = document if same else read_again(replace(document, place=place))
                self._marks[uri] = _marks(again)
                job = Job(replace(place, requirements={}), document.compiled_text)
                whole = None if document.too_large else self._background.compile(job)
            except Exception as error:  # reported to the client: the thread must go on
                failure = error
                self._client.soon(lambda: self._client.failed(failure))
                return
            self._client.soon(lambda: self._done(document, again, whole))

        self._background.submit(uri, task)

    def end(self) -> None:
        """Nothing is compiled any more."""
        self._background.end()

    def _done(self, before: Document, again: Document, whole: Whole | None) -> None:
        now = self.documents.get(before.uri)
        if now is None or now.text is not before.text:
            return  # it has changed meanwhile, and is compiled again
        done = again if whole is None else with_whole(again, whole)
        self.documents[before.uri] = done
        self._client.publish(done)
        self._client.refresh()


def _used(document: Document) -> set[Path]:
    """The files that a document uses."""
    if document.head is None:
        return set()
    paths = (let.name.span.source.path for let in document.head.reading.library)
    return {real(path) for path in paths if path is not None}


Marks = tuple[tuple[Path, int, int], ...]


def _marks(document: Document) -> Marks:
    """What changes when a file that is used is written: of each, the time and the size."""
    found = []
    for path in sorted(_used(document) - {real(document.place.path)}):
        with suppress(OSError):
            stat = path.stat()
            found.append((path, stat.st_mtime_ns, stat.st_size))
    return tuple(found)
