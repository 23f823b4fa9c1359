"""Bytes in a program: literals, and functions that give them, where one gives the bytes exactly."""

from __future__ import annotations

from mkeyspec.repro.language import MOST, TooLong
from mkeyspec.value.bytestring import ByteString, Counter, Fill, Framed, Join, Random, Repeat, Slice

SHORT = 32
"""Bytes that are written where they are used, whatever they are made of."""


class Tables:
    """The bytes of one program: those with a name are `declared`, each after those that it is made of."""

    def __init__(self) -> None:
        self.declared: list[str] = []
        self._found: dict[object, str] = {}
        self._size = 0

    def data(self, value: ByteString) -> str:
        """An expression of these bytes."""
        match value:
            case Fill(0, length):
                return f"bytes({length})"
            case Fill(byte, length):
                return f'b"\\x{byte:02x}" * {length}'
            case Counter(length):
                return f"counter({length})"
            case _ if value.length <= SHORT:
                return self.table(value.data)
            case Slice():
                return f"{self._inner(value.of)}[{value.start} : {value.start + value.length}]"
        if value not in self._found:
            text = self._way(value)
            if text is None:
                return self.table(value.data)
            self._found[value] = f"bytes_{len(self._found) + 1}"
            self.declared.append(f"{self._found[value]} = {text}")
        return self._found[value]

    def _inner(self, value: ByteString) -> str:
        text = self.data(value)
        return f"({text})" if " * " in text else text

    def table(self, data: bytes) -> str:
        """Bytes, each written out."""
        if len(data) <= SHORT:
            return f'bytes.fromhex("{data.hex(" ")}")' if data else 'b""'
        if data not in self._found:
            self._size += len(data)
            if self._size > MOST:
                raise TooLong
            self._found[data] = f"bytes_{len(self._found) + 1}"
            rows = [data[at : at + 32].hex(" ") for at in range(0, len(data), 32)]
            self.declared += [f'{self._found[data]} = bytes.fromhex("""', *rows, '""")']
        return self._found[data]

    def _way(self, value: ByteString) -> str | None:
        """What gives these bytes; None: each of them has to be written out."""
        match value:
            case Random(length, seed):
                return _pcg64(length, seed)
            case Join(parts):
                return " + ".join(self.data(part) for part in parts)
            case Repeat(of, times):
                return f"{self._inner(of)} * {times}"
            case Framed(of) if of.length:
                return self._framed(value)
            case _:
                return None

    def _framed(self, value: Framed) -> str:
        """Its fields are a table: they are what the reference computes, and what is tested."""
        domain, whole = value.domain, value.data
        block, frame = domain.block, domain.frame
        fields = b"".join(whole[at + block : at + frame] for at in range(0, len(whole), frame))
        return f"framed({self.data(value.of)}, {block}, {self.table(fields)}, {frame - block})"


def _pcg64(length: int, seed: int) -> str:
    from numpy.random import PCG64

    state = PCG64(seed).state["state"]
    return f"pcg64({length}, {int(state['state']):#x}, {int(state['inc']):#x})"
