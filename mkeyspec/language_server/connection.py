"""Reads the client's messages from a file descriptor, has each answered, and writes what is answered.

pygls turns messages into values and finds their handlers. What comes before that is done here: framing, JSON, and the
order of a session's life. So a client that sends garbage gets an error, and one that goes away ends the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import Callable
from typing import Any

from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCProtocol

from mkeyspec.language_server.frames import Frames, Garbage

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32602, -32603
NOT_INITIALIZED = -32002
CHUNK = 1 << 16


class Writer:
    """Writes whole messages to a file descriptor; `gone` once the client reads no more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.gone = False

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while len(view) and not self.gone:
            try:
                view = view[os.write(self._descriptor, view) :]
            except OSError:
                self.gone = True

    def close(self) -> None:
        """The descriptor is the caller's."""


class Connection:
    """The life of one session: nothing, initialized, shut down, ended."""

    def __init__(self, protocol: JsonRPCProtocol, writer: Writer) -> None:
        self._protocol = protocol
        self._writer = writer
        self._initialized = False
        self._shut_down = False
        self._ended: asyncio.Future[int] | None = None

    async def serve(self, descriptor: int) -> int:
        """Answer until the client says `exit` or goes away: 0 after a `shutdown`, else 1."""
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        frames = Frames()

        def received(data: bytes) -> None:
            for one in frames.feed(data):
                if self._ended is not None and not self._ended.done():
                    self.message(one)
            if not data or self._writer.gone:
                self._end()

        def read() -> None:
            while True:
                try:
                    data = os.read(descriptor, CHUNK)
                except OSError:
                    data = b""
                try:
                    loop.call_soon_threadsafe(received, data)
                except RuntimeError:  # the loop is closed
                    return
                if not data:
                    return

        threading.Thread(target=read, name="mkeyspec reads", daemon=True).start()
        return await self._ended

    def message(self, body: bytes | Garbage) -> None:
        """Have one message handled. It raises nothing."""
        if isinstance(body, Garbage):
            self._refuse(None, PARSE_ERROR, body.why)
            return
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            self._refuse(None, PARSE_ERROR, f"this is not JSON: {error}")
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._refuse(_id_of(message), INVALID_REQUEST, "this is not a message of JSON-RPC 2.0")
            return
        id, method = _id_of(message), message.get("method")
        if "method" not in message and ("result" in message or "error" in message):
            self._handle(message, None)
        elif not isinstance(method, str) or ("id" in message and id is None):
            self._refuse(id, INVALID_REQUEST, "this is not a message of JSON-RPC 2.0")
        elif method == "exit":
            self._end()
        else:
            why = self._out_of_order(method)
            if why is None:
                self._begin(method, message)
                self._handle(message, id)
            elif "id" in message:
                self._refuse(id, *why)

    def _out_of_order(self, method: str) -> tuple[int, str] | None:
        if self._shut_down:
            return INVALID_REQUEST, "the server was shut down"
        if method == "initialize":
            return (INVALID_REQUEST, "the server is initialized") if self._initialized else None
        return None if self._initialized else (NOT_INITIALIZED, "the server is not initialized")

    def _begin(self, method: str, message: dict[str, Any]) -> None:
        """Note what the message does to the session."""
        self._initialized = self._initialized or method == "initialize"
        self._shut_down = method == "shutdown"
        if method == "initialize":  # columns are counted in UTF-16, which every client knows
            with contextlib.suppress(KeyError, TypeError, AttributeError):
                message["params"]["capabilities"]["general"].pop("positionEncodings", None)

    def _handle(self, message: dict[str, Any], id: int | str | None) -> None:
        try:
            self._protocol.handle_message(self._protocol.structure_message(message))
        except JsonRpcException as error:
            self._failed(message, id, error.code, "the parameters are not those of this method")
        except Exception as error:  # of the client's message, or of ours: the session goes on
            self._failed(message, id, INTERNAL_ERROR, f"{type(error).__name__}: {error}")

    def _failed(self, message: dict[str, Any], id: int | str | None, code: int, why: str) -> None:
        if message.get("method") == "initialize":
            self._initialized = False
        if "id" in message and "method" in message:
            self._refuse(id, code, why)

    def _refuse(self, id: int | str | None, code: int, why: str) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def _end(self) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(0 if self._shut_down else 1)


def _id_of(message: Any) -> int | str | None:
    id = message.get("id") if isinstance(message, dict) else None
    return id if isinstance(id, (int, str)) and not isinstance(id, bool) else None


Answer = Callable[[Any], Any]


def guarded(answer: Answer) -> Answer:
    """A handler whose failure is one line of an error, without a traceback."""

    def call(params: Any) -> Any:
        try:
            return answer(params)
        except JsonRpcException:
            raise
        except Exception as error:
            why = f"mkeyspec itself failed; please report it: {type(error).__name__}: {error}"
            raise JsonRpcException(why, INTERNAL_ERROR) from None

    return call
