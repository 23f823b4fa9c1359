"""Bytes in a program: tables, and arrays that loops fill when it starts, where a loop gives the bytes exactly."""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec.repro.language import MOST, TooLong
from mkeyspec.value.bytestring import ByteString, Counter, Fill, Framed, Join, Random, Repeat, Slice

SHORT = 32
"""Bytes that are a table whatever they are made of."""


def rows(data: bytes, indent: str = "\t") -> list[str]:
    """Hexadecimal, 16 bytes a line."""
    return [indent + " ".join(f"0x{byte:02x}," for byte in data[at : at + 16]) for at in range(0, len(data), 16)]


class Tables:
    """The arrays of one program: `declared` at its top, `filled` in the order of the statements."""

    def __init__(self) -> None:
        self.declared: list[str] = []
        self.filled: list[str] = []
        self._found: dict[object, str] = {}
        self._size = 0

    def pointer(self, value: ByteString) -> str:
        """What points to these bytes."""
        if value.length <= SHORT:
            return self.table(value.data)
        if isinstance(value, Slice):
            return f"{self.pointer(value.of)} + {value.start}" if value.start else self.pointer(value.of)
        if value in self._found:
            return self._found[value]
        fill = self._way(value)
        if fill is None:
            name = self.table(value.data)
        else:
            name = f"bytes_{len(self._found) + 1}"
            self.declared += [f"static uint8_t {name}[{value.length}]; /* {_said(value)} */"]
            self._found[value] = name
            fill(name)
        self._found[value] = name
        return name

    def table(self, data: bytes) -> str:
        """A constant table."""
        found = self._found.get(data)
        if found is None:
            self._size += len(data)
            if self._size > MOST:
                raise TooLong
            found = self._found[data] = f"bytes_{len(self._found) + 1}"
            text = rows(data or b"\0")
            self.declared += [f"static const uint8_t {found}[{max(1, len(data))}] = {{", *text, "};"]
        return found

    def _way(self, value: ByteString) -> Callable[[str], None] | None:
        """What fills an array with these bytes; None: a table is all that is known."""
        match value:
            case Counter(length):
                return lambda name: self.filled.append(f"counter({name}, {length});")
            case Fill(byte, length):
                return lambda name: self.filled.append(f"memset({name}, {byte:#04x}, {length});")
            case Random(length, seed):
                return lambda name: self.filled.append(_pcg64(name, length, seed))
            case Join(parts):
                return lambda name: self._join(name, parts)
            case Repeat(of, times):
                return lambda name: self.filled.append(f"repeated({name}, {self.pointer(of)}, {of.length}, {times});")
            case Framed(of) if of.length:
                return lambda name: self._framed(name, value)
            case _:
                return None

    def _join(self, name: str, parts: tuple[ByteString, ...]) -> None:
        at = 0
        for part in parts:
            to = f"{name} + {at}" if at else name
            if isinstance(part, Fill):
                self.filled.append(f"memset({to}, {part.byte:#04x}, {part.length});")
            elif isinstance(part, Counter):
                self.filled.append(f"counter({to}, {part.length});")
            else:
                self.filled.append(f"memcpy({to}, {self.pointer(part)}, {part.length});")
            at += part.length

    def _framed(self, name: str, value: Framed) -> None:
        """Its fields are a table: they are what the reference computes, and what is tested."""
        domain, whole = value.domain, value.data
        block, frame = domain.block, domain.frame
        blocks = len(whole) // frame
        fields = b"".join(whole[at * frame + block : (at + 1) * frame] for at in range(blocks))
        data, table = self.pointer(value.of), self.table(fields)
        self.filled.append(f"framed({name}, {data}, {blocks}, {block}, {table}, {frame - block});")


def _pcg64(name: str, length: int, seed: int) -> str:
    from numpy.random import PCG64

    state = PCG64(seed).state["state"]
    words = []
    for number in (int(state["state"]), int(state["inc"])):
        words.append(f"(const uint64_t[]){{{number >> 64:#x}, {number & (1 << 64) - 1:#x}}}")
    return f"pcg64({name}, {length}, {words[0]}, {words[1]});"


def _said(value: ByteString) -> str:
    """What it is, for a comment: without its parts, where these are many."""
    text = repr(value)
    return (text if len(text) <= 60 else type(value).__name__ + "(…)").replace("*/", "* /")
