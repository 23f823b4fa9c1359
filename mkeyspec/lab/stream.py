"""The stream of results of one device of a lab: its lines as they come from the host, and what they lack at the end."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from mkeyspec.report.record import (
    SCHEMA,
    WRONG,
    Begin,
    DeviceInfo,
    End,
    Items,
    Record,
    Result,
    Verdict,
    WrongRecord,
    line_of,
    record_of,
)

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
"""Of a folder's name."""
_FAILED = 1
"""pytest's exit code of a run with rows that went wrong."""
ITSELF = "the device"
"""The id of what is said of a device and not of a row."""


class UnitStream:
    """`about`: changes the first line, so that it says of which lab and device the stream is."""

    def __init__(self, path: Path, about: Callable[[Begin], Begin]) -> None:
        self.path = path
        self._about = about
        self._closed = False
        self.begun = False
        self.ended = False
        self.selected = 0
        self.device: DeviceInfo | None = None
        self.counts: Counter[str] = Counter()
        self.ids: list[str] = []
        """Of all rows that are selected, once the host has said them."""
        self._results: dict[str, None] = {}
        self._flying: dict[str, None] = {}
        self._part = b""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] | None = None

    def take(self, data: bytes) -> None:
        """Bytes of the stream there, in order. Raises WrongRecord."""
        *lines, self._part = (self._part + data).split(b"\n")
        whole = b"".join(self._seen(line + b"\n") for line in lines)
        if whole:
            self._put(whole)

    def _seen(self, line: bytes) -> bytes:
        if not self.begun:
            begin = record_of(line)
            if not isinstance(begin, Begin):
                raise WrongRecord("the first line is not of kind `run`")
            self.begun = True
            return line_of(self._about(begin))
        try:
            data = json.loads(line)
            kind, id = data["kind"], str(data.get("node") or data.get("id", ""))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise WrongRecord("a line is not a record") from None
        if kind == "start":
            self._flying[id] = None
        elif kind == "result":
            self._flying.pop(id, None)
            self._results[id] = None
            self.counts[str(data.get("verdict"))] += 1
        elif kind == "items":
            self.selected = int(data.get("selected", 0))
        elif kind == "device" and self.device is None:
            found = record_of(line)
            assert isinstance(found, DeviceInfo)
            self.device = found
        elif kind == "end":
            self.ended = True
        return line

    @property
    def done(self) -> int:
        return len(self._results)

    @property
    def wrong(self) -> int:
        return sum(self.counts[verdict] for verdict in WRONG)

    @property
    def left(self) -> list[str]:
        """Rows without a result: those that had begun first."""
        rows = dict.fromkeys([*self._flying, *self.ids])
        return [id for id in rows if id not in self._results]

    def begin(self, device: str, mkeyspec: str, started: str) -> None:
        """If nothing came."""
        if not self.begun:
            self.begun = True
            self._write(self._about(Begin(SCHEMA, "", started, mkeyspec, device=device)))

    def close_rows(self, verdict: Verdict, code: str, why: str) -> int:
        """Give each row without a result this one, or the device if no row is known; how many rows that were.

        `why`: a line, whose place and code are not in the message.
        """
        left = self.left
        mark = f"error[{code}]: "
        text = why if mark in why else f"{mark}{why}"
        why = text.partition(mark)[2]
        if self.ids and not self.selected:
            self._write(Items(len(self.ids)))
        results = [Result(id, verdict, code=code, message=why, text=text) for id in left]
        unknown = not self.ids and (self.selected > self.done or not self.done)
        if unknown:
            results.append(Result(ITSELF, verdict, code=code, message=why, text=text))
        # What is missing has been told: a stream without an end would have one more cause, MKS2012.
        self._write(*results, *(() if self.ended else (End(0.0, _FAILED),)))
        self.ended = True
        self.counts[verdict] += len(results)
        self._results.update(dict.fromkeys(left))
        return len(left)

    def _write(self, *records: Record) -> None:
        self._put(b"".join(map(line_of, records)))

    def _put(self, data: bytes) -> None:
        """Not buffered: the kernel has each line at once. A stream without a line has no file."""
        if self._closed:
            return
        if self._file is None:
            self._file = self.path.open("xb", buffering=0)
        self._file.write(data)

    def close(self) -> None:
        self._closed = True
        if self._file is not None:
            self._file.close()


def about(values: dict[str, object], begin: Begin) -> Begin:
    """A first line with these values in place of its own."""
    return dataclasses.replace(begin, **values)  # type: ignore[arg-type]


def folder_names(names: Iterable[str]) -> dict[str, str]:
    """A folder for each name: its letters, digits, dots and dashes; each is another one."""
    found: dict[str, str] = {}
    for name in names:
        word = "".join(one if one in _LETTERS else "-" for one in name).strip("-.")[:80]
        word = word or "device"
        number, used = 2, set(found.values())
        unique = word
        while unique in used:
            unique, number = f"{word}-{number}", number + 1
        found[name] = unique
    return found
