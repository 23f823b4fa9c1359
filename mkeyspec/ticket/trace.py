"""The calls that the rig made of a device in the row under way, and what they gave: the trace of a row that fails.

Nothing is written and no value is turned into text unless it fails. Keys of encryption, credentials and the bytes of
buffers are left out.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, cast

from mkeyspec.device.protocol import Device

MOST = 1000
"""Calls that are kept of a row: the last ones."""
_LONGEST = 1600
"""Characters of a line."""
_LOOKS = frozenset({"poll", "events"})
_DATA = {"write": "bytes", "dek": "bytes of a key"}
"""Calls with bytes among their arguments, whose number alone is told."""
_CREDENTIALS = frozenset({"login", "login_object", "lab_login"})
_CALLS = (
    "pd", "memory", "write", "read", "mkey", "retag", "destroy", "mkey_check", "qp_pair", "post", "post_recv", "cancel",
    "resume", "query_dek", "dek", "destroy_dek", "lab_login", "login", "login_state", "logout", "login_object",
    "query_login", "destroy_login", "dct", "reconnect", "release",
)  # fmt: skip
_AS_HEX = frozenset({"addr", "remote_addr", "lkey", "rkey", "number", "vendor_error"})
_MADE_BY = frozenset({"pd", "memory", "mkey", "retag", "qp_pair", "reconnect", "dek"})
"""Calls whose objects are told whole; elsewhere by their handles."""

Entry = tuple[float, str, tuple[Any, ...], dict[str, Any], Any, int]
"""Seconds, call, arguments by place and by name, what it gave or raised, and how many looks before gave nothing."""


class Trace:
    """Of one process. `over` gives a device whose calls are kept."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=MOST)
        self._number = 0
        self._empty = 0
        self._began = 0.0

    def over(self, device: Device) -> Device:
        return cast(Device, Traced(device, self))

    def begin(self) -> None:
        """A row begins."""
        self._entries.clear()
        self._number = self._empty = 0
        self._began = time.monotonic()

    def keep(self, name: str, args: tuple[Any, ...], named: dict[str, Any], gave: Any) -> None:
        self._entries.append((time.monotonic(), name, args, named, gave, self._empty))
        self._number += 1
        self._empty = 0

    def saw_nothing(self) -> None:
        """A look gave nothing."""
        self._empty += 1

    def lines(self) -> list[str]:
        """One for each call: milliseconds since the row began, the call, and what it gave."""
        found = []
        if self._number > len(self._entries):
            found.append(f"({self._number - len(self._entries)} calls before these are not kept)")
        for at, name, args, named, gave, empty in self._entries:
            if empty:
                found.append(f"{'':>10}  ({_times(empty)} poll and events gave nothing)")
            text = f"{(at - self._began) * 1000:10.3f}  {name}({_arguments(name, args, named)}) -> {_given(name, gave)}"
            found.append(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
        if self._empty:
            found.append(f"{'':>10}  ({_times(self._empty)} poll and events gave nothing)")
        return found


class Traced:
    """A device whose calls are kept."""

    def __init__(self, device: Device, trace: Trace) -> None:
        self.device = device
        for name in _CALLS:
            call = getattr(device, name, None)
            if call is not None:
                setattr(self, name, _kept(trace, name, call))
        for name in _LOOKS:
            setattr(self, name, _looked(trace, name, getattr(device, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.device, name)


def _kept(trace: Trace, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def kept(*args: Any, **named: Any) -> Any:
        try:
            gave = call(*args, **named)
        except BaseException as error:
            trace.keep(name, args, named, error)
            raise
        trace.keep(name, args, named, None if name == "read" else gave)  # a view would keep the buffer
        return gave

    return kept


def _looked(trace: Trace, name: str, call: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    def looked(*args: Any) -> list[Any]:
        try:
            gave = call(*args)
        except BaseException as error:
            trace.keep(name, args, {}, error)
            raise
        if gave:
            trace.keep(name, args, {}, gave)
        else:
            trace.saw_nothing()
        return gave

    return looked


# Text ----------------------------------------------------------------------------------------


def _times(number: int) -> str:
    return "1 time" if number == 1 else f"{number} times"


def _arguments(name: str, args: Sequence[Any], named: dict[str, Any]) -> str:
    if name in _CREDENTIALS:
        return "left out"
    told = [_argument(name, one) for one in args]
    return ", ".join([*told, *(f"{key}={_shown(value, key)}" for key, value in named.items() if value is not None)])


def _argument(name: str, value: Any) -> str:
    if name in _DATA and not is_dataclass(value) and hasattr(value, "__len__"):
        return f"{len(value)} {_DATA[name]}"
    return _shown(value)


def _given(name: str, gave: Any) -> str:
    if isinstance(gave, BaseException):
        return f"{type(gave).__name__}: {gave}"
    return "left out" if name in _CREDENTIALS and gave is not None else _shown(gave, whole=name in _MADE_BY)


def _shown(value: Any, name: str = "", *, whole: bool = False) -> str:
    """Members that are as usual are left out. `whole`: an object with its members, not by its handle alone."""
    if is_dataclass(value) and not isinstance(value, type):
        handle = getattr(value, "handle", None)
        if handle is not None and not whole:
            return f"{type(value).__name__}#{handle}"
        members = [(one.name, getattr(value, one.name), one.default) for one in fields(value)]
        told = [
            f"{key}={_shown(of, key, whole=whole)}" for key, of, usual in members if usual is MISSING or of != usual
        ]
        return f"{type(value).__name__}({', '.join(told)})"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, int) and not isinstance(value, bool) and name in _AS_HEX:
        return f"{value:#x}"
    return "ok" if value is None and not name else repr(value)
