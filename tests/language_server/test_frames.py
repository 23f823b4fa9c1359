"""What is cut out of a stream of bytes, however it comes."""

from __future__ import annotations

import pytest

from mkeyspec.language_server.frames import MOST_BODY, MOST_HEADER, Frames, Garbage


def message(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


NO_LENGTH = Garbage("a header without Content-Length")
NO_HEADER = Garbage("no header of a message")

STREAMS: list[tuple[str, bytes, list[bytes | Garbage]]] = [
    ("one", message(b"{}"), [b"{}"]),
    ("two", message(b"{}") + message(b"[1]"), [b"{}", b"[1]"]),
    ("empty", message(b""), [b""]),
    ("other header", b"Content-Type: x; charset=utf-8\r\nCONTENT-LENGTH:2\r\n\r\n{}", [b"{}"]),
    ("no carriage returns", b"Content-Length: 2\n\n{}", [b"{}"]),
    ("no length", b"hello\r\n\r\n" + message(b"{}"), [NO_LENGTH, b"{}"]),
    ("a length that is none", b"Content-Length: -2\r\n\r\n" + message(b"{}"), [NO_LENGTH, b"{}"]),
    ("noise before", b"noise\r\nContent-Length: 2\r\n\r\n{}", [b"{}"]),
    ("empty lines", b"\r\n\r\n\r\n\r\n" + message(b"{}"), [b"{}"]),
    ("endless noise", b"x" * (MOST_HEADER + 1) + message(b"{}"), [NO_HEADER, b"{}"]),
    ("cut", b"Content-Length: 9\r\n\r\n{}", []),
]


@pytest.mark.parametrize(("stream", "found"), [pytest.param(s, f, id=name) for name, s, f in STREAMS])
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_streams(stream: bytes, found: list[bytes | Garbage], size: int) -> None:
    frames = Frames()
    got = [one for at in range(0, len(stream), size) for one in frames.feed(stream[at : at + size])]
    assert [one for one in got if one != NO_HEADER] == [one for one in found if one != NO_HEADER]
    assert (NO_HEADER in got) == (NO_HEADER in found)


def test_a_message_that_is_too_long_is_passed_over() -> None:
    frames = Frames()
    length = MOST_BODY + 1
    [told] = frames.feed(b"Content-Length: %d\r\n\r\n" % length)
    assert isinstance(told, Garbage)
    for _ in range(MOST_BODY >> 20):
        assert frames.feed(b"x" * (1 << 20)) == []
    assert frames.feed(b"x" + message(b"{}")) == [b"{}"]
