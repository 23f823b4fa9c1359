"""Values of the device protocol as plain JSON, and back.

An object is `{"Qp": [its members in order]}`, bytes are `{"hex": "00ff"}`, a sequence is a list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from mkeyspec.device import protocol

HEX = "hex"


class WrongValue(Exception):
    """A value that is none of the protocol; `str()` says what is wrong."""


# To JSON -----------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value of the protocol as plain JSON."""
    kind: Any = type(value)
    if kind is int or kind is str or value is None or kind is bool:
        return value
    if kind is tuple or kind is list:
        return [plain(one) for one in value]
    if kind is bytes:
        return {HEX: value.hex()}
    if is_dataclass(value):
        return {kind.__name__: [plain(getattr(value, name)) for name in _members(kind)]}
    if isinstance(value, int):  # of an enum, or of numpy
        return int(value)
    return {"other": repr(value)[:200]}


@cache
def _members(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


# From JSON ---------------------------------------------------------------------------------------

Answer = Union[
    protocol.Pd, protocol.Memory, protocol.Mkey, protocol.Qp, protocol.QpPair, protocol.Dek, protocol.Login,
    protocol.DekState, protocol.SignatureError, protocol.AsyncEvent, protocol.Completion,
]  # fmt: skip
_ANSWERS: dict[str, type[Any]] = {one.__name__: one for one in get_args(Answer)}


def answer(value: Any, kind: Any) -> Any:
    """The object of this class that `plain` gave; raises WrongValue."""
    if not isinstance(value, dict) or len(value) != 1:
        raise WrongValue(f"a {kind.__name__} is missing")
    ((name, members),) = value.items()
    hints = _hints(kind)
    if name != kind.__name__ or not isinstance(members, list) or len(members) != len(hints):
        raise WrongValue(f"it is no {kind.__name__}")
    return kind(*(_member(one, hint, kind) for one, hint in zip(members, hints, strict=True)))


@cache
def _hints(kind: Any) -> tuple[Any, ...]:
    hints = get_type_hints(kind)
    return tuple(hints[name] for name in _members(kind))


def _member(value: Any, hint: Any, kind: type[Any]) -> Any:
    if get_origin(hint) in (Union, UnionType):
        if value is None and type(None) in get_args(hint):
            return None
        (hint,) = (one for one in get_args(hint) if one is not type(None))
    if get_origin(hint) is Literal:
        right = type(value) is str and value in get_args(hint)
    elif hint is bytes:
        return _bytes(value)
    elif hint.__name__ in _ANSWERS:
        return answer(value, hint)
    else:
        right = type(value) is hint
    if not right:
        raise WrongValue(f"a member of {kind.__name__} is not what it should be")
    return value


def _bytes(value: Any) -> bytes:
    try:
        return bytes.fromhex(value[HEX])
    except (TypeError, KeyError, ValueError):
        raise WrongValue("bytes are not written in hex") from None


# What a call raised ------------------------------------------------------------------------------


def raised(error: BaseException) -> list[Any]:
    """An exception of a device as plain JSON: its class, and what it says."""
    match error:
        case protocol.Refused():
            return ["Refused", error.call, error.errno]
        case protocol.Unsupported():
            return ["Unsupported", str(error)]
        case protocol.NoSuchCall():
            return ["NoSuchCall", str(error)]
        case _:
            return [type(error).__name__, str(error)]


def error_of(value: Any) -> Exception:
    """The exception that `raised` gave; raises WrongValue. One that is not of the protocol is of a class of the same
    name."""
    match value:
        case ["Refused", str(call), int(errno)]:
            return protocol.Refused(call, errno)
        case ["Unsupported", str(text)]:
            return protocol.Unsupported(text)
        case ["NoSuchCall", str(text)]:
            return protocol.NoSuchCall(text)
        case [str(name), str(text)] if name.isidentifier() and len(name) < _LONGEST_NAME:
            return _class_of(name)(text)
        case _:
            raise WrongValue("what a call raised is not what it should be")


_LONGEST_NAME = 100


def _class_of(name: str) -> Callable[[str], Exception]:
    found: type[Exception] = type(name, (Exception,), {})
    return found
