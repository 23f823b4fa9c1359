"""What a worker sends to the process that started it: tuples, several at once, each time with their length before them.

The two processes are one program, and the pipe is theirs alone, so reports go through it as Python's own pickles.
"""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

Message = tuple[Any, ...]
ALL = b"all"
"""In place of rows: there are no others than those that were named."""

_LENGTH = struct.Struct("<I")


def framed(messages: Sequence[Message], config: pytest.Config) -> bytes:
    try:
        data = pickle.dumps(messages, pickle.HIGHEST_PROTOCOL)
    except Exception:  # of an object that a plugin or a test has put into a report
        data = pickle.dumps([_plain(one, config) for one in messages], pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


def _plain(message: Message, config: pytest.Config) -> Message:
    """With the text of what can't be sent."""
    kind, *rest = message
    if kind == "report":
        data = config.hook.pytest_report_to_serializable(config=config, report=rest[0])
        return ("data", json.dumps(data, default=str))
    try:
        pickle.dumps(rest)
    except Exception:
        if kind == "warning":
            rest[1] = UserWarning
        elif kind == "end":
            rest = [{name: value for name, value in rest[0].items() if _can_be_sent(value)}]
        else:
            rest = [str(one) for one in rest]
    return (kind, *rest)


def _can_be_sent(value: object) -> bool:
    try:
        pickle.dumps(value)
    except Exception:
        return False
    return True


def report_of_data(text: str, config: pytest.Config) -> pytest.TestReport:
    """The report of a message `data`."""
    report = config.hook.pytest_report_from_serializable(config=config, data=json.loads(text))
    return restored(report)


def restored(report: pytest.TestReport) -> pytest.TestReport:
    """A report that was JSON: of a skipped row pytest insists on a tuple, and JSON has none."""
    if isinstance(report.longrepr, list):
        report.longrepr = tuple(report.longrepr)
    return report


class Reader:
    """Takes bytes as they come."""

    def __init__(self) -> None:
        self._data = bytearray()

    def messages(self, data: bytes) -> Iterator[Message]:
        """Those that are whole now. What its process did not write to the end is never one."""
        self._data += data
        while len(self._data) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._data)
            end = _LENGTH.size + length
            if len(self._data) < end:
                return
            whole = bytes(self._data[_LENGTH.size : end])
            del self._data[:end]
            yield from pickle.loads(whole)
