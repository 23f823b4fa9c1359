"""Values of the protocol as the builtin values that execnet sends, and back. No code and no pickle goes over the wire.

A value of a class of `CLASSES` is a list: its name, and its members in their order. No other list is sent: a sequence
is a tuple. Bytes are bytes. A frozen set has strings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from mkeyspec.device import protocol
from mkeyspec.device.verbs.address import EndAddress, Ended, PortAddress

CLASSES: dict[str, type] = {
    name: value
    for name, value in vars(protocol).items()
    if isinstance(value, type) and is_dataclass(value) and value.__module__.startswith(f"{protocol.__name__}.")
} | {one.__name__: one for one in (EndAddress, Ended, PortAddress)}

CALLS = (
    "end", "responder", "dct", "connect", "join", "close_ends", "post", "post_recv", "poll", "poll_often", "events",
    "cancel", "resume", "end_case", "give_back", "close",
)  # fmt: skip
"""Of a station."""
OBJECT_CALLS = ("pd", "memory", "write", "read", "mkey", "retag", "destroy", "mkey_check")
"""Of its objects."""


def protocol_digest() -> str:
    """Two programs understand each other if this is the same: the classes with their members, and the calls."""
    told = [(name, [field.name for field in fields(cls)]) for name, cls in sorted(CLASSES.items())]
    return hashlib.sha256(repr((told, CALLS, OBJECT_CALLS)).encode()).hexdigest()[:12]


def encode(value: Any) -> Any:
    found = _ENCODE.get(type(value))
    return _encode_other(value) if found is None else found(value)


def decode(value: Any) -> Any:
    """What `encode` was given, with tuples for lists. Raises ValueError for what it never makes."""
    kind = type(value)
    if kind is list:
        cls = CLASSES.get(value[0]) if value and isinstance(value[0], str) else None
        if cls is None:
            raise ValueError("an unknown class of the protocol")
        return cls(*map(decode, value[1:]))
    if kind is tuple:
        return tuple(map(decode, value))
    if kind is dict:
        return {key: decode(one) for key, one in value.items()}
    return value


def _same(value: Any) -> Any:
    return value


def _sequence(value: Any) -> Any:
    return tuple(map(encode, value))


def _of_class(name: str, cls: type) -> Callable[[Any], Any]:
    members = [field.name for field in fields(cls)]
    return lambda value: [name, *(encode(getattr(value, member)) for member in members)]


_ENCODE: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((int, str, bytes, bool, float, type(None), frozenset), _same),
    tuple: _sequence,
    list: _sequence,
    dict: lambda value: {key: encode(one) for key, one in value.items()},
    **{cls: _of_class(name, cls) for name, cls in CLASSES.items()},
}


def _encode_other(value: Any) -> Any:
    if isinstance(value, int):  # a flag, or a number of numpy's
        return int(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        return value.astype(np.uint8, copy=False).tobytes()
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"{type(value).__name__} is not of the protocol")
