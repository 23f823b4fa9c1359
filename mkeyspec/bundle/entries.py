"""The entries of a row: the calls in their order, what they gave or raised, and the marks between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mkeyspec.bundle.frames import WrongFrame
from mkeyspec.bundle.frames import length_of as frame_length
from mkeyspec.bundle.values import WrongValue, answer, error_of
from mkeyspec.device.protocol import (
    AsyncEvent,
    Completion,
    Dek,
    DekState,
    Login,
    Memory,
    Mkey,
    Pd,
    Qp,
    QpPair,
    SignatureError,
)

Entry = dict[str, Any]

RAN_OUT, QUIET, END = "ran out", "quiet", "end"
MARKS = frozenset({RAN_OUT, QUIET, END})
"""A wait has ended at its deadline; because nothing new came; the steps are over."""
LOOKS = frozenset({"poll", "events", "read"})
"""Calls that tell what came, and change nothing."""
OBJECTS: dict[str, type[Any]] = {
    "pd": Pd, "memory": Memory, "mkey": Mkey, "retag": Mkey, "qp_pair": QpPair, "dek": Dek, "query_dek": DekState,
    "login_object": Login, "reconnect": QpPair,
}  # fmt: skip
"""Calls that give an object, and its class."""
NUMBERS = frozenset({"post", "post_recv", "cancel", "resume", "login_state", "query_login", "dct"})
"""Calls that give a number."""
NOTHING = frozenset({"write", "destroy", "destroy_dek", "login", "logout", "destroy_login", "release"})
"""Calls that give nothing."""
EFFECTS = frozenset({"post", "post_recv", "cancel", "resume", "reconnect"})
"""Calls after which the device may change memory."""
_CALLS = LOOKS | OBJECTS.keys() | NUMBERS | NOTHING | {"mkey_check", "lab_login"}


class WrongRow(Exception):
    """A row that can't be what a recording wrote; `str()` says what is wrong."""


def check_row(row: Entry, length_of: Callable[[str], int], blob: Callable[[str], bytes]) -> None:
    """Raises WrongRow. `blob`: the bytes with this checksum, `length_of`: how many; KeyError if they are not there."""
    if type(row.get("id")) is not str:
        raise WrongRow("it has no id")
    unmet, blocked = row.get("unmet"), row.get("blocked")
    if not (unmet is None or _texts(unmet)) or not (blocked is None or (_texts(blocked) and len(blocked) == 2)):
        raise WrongRow("why it was not run is not said in words")
    if unmet is not None or blocked is not None:
        return
    late, calls = row.get("late", {}), row.get("calls")
    right = isinstance(late, dict) and all(one.isascii() and one.isdigit() for one in late)
    if not right or not all(type(one) is int for one in late.values()) or type(row.get("symptom", "")) is not str:
        raise WrongRow("what it took from outside is not what it should be")
    if not isinstance(calls, list) or type(row.get("whole")) is not bool:
        raise WrongRow("it has no calls")
    for entry in calls:
        try:
            _check(entry, length_of, blob)
        except (WrongValue, WrongFrame, KeyError, TypeError, ValueError, AttributeError) as error:
            name = entry.get("call") if isinstance(entry, dict) else None
            raise WrongRow(f"a call {ascii(name)[:40]}: {ascii(str(error))[:200]}") from None


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(type(one) is str for one in value)


def _check(entry: Entry, length_of: Callable[[str], int], blob: Callable[[str], bytes]) -> None:
    if not isinstance(entry, dict) or type(entry.get("call")) is not str:
        raise WrongValue("it is not a call")
    name = entry["call"]
    if name in MARKS:
        return
    if name not in _CALLS:
        raise WrongValue("no device has it")
    arguments, after = entry.get("args", []), entry.get("after", 0)
    if not isinstance(arguments, list) or type(after) is not int or after < 0:
        raise WrongValue("its arguments are not what they should be")
    if "raised" in entry:
        error_of(entry["raised"])
    elif name == "read":
        _, offset, length = _numbers(arguments, 3)
        gave = entry.get("gave")
        if gave is not None:
            if "frame" in gave:
                (size,) = _numbers([gave["length"]], 1)
                if frame_length(blob(gave["frame"])) != size:
                    raise WrongValue("it gave as many bytes as it does not say")
            else:
                size = length_of(gave["sha256"])
            if not gave.get("all"):
                (at,) = _numbers([gave["at"]], 1)
                if not offset <= at or at + size > offset + length:
                    raise WrongValue("it gave bytes that were not read")
    elif name == "poll":
        _numbers(arguments, 1)
        seen(entry, lambda handle: Qp(handle, "owner", 0, 0))
    elif name == "events":
        seen(entry, lambda handle: Qp(handle, "owner", 0, 0))
    else:
        gave_of(entry)
    if name == "post":
        _, requests, abort = arguments
        numbered = [members for request in requests for kind, members in request.items() if kind != "StraySetter"]
        _numbers([arguments[0], *(members[0] for members in numbered)], 1 + len(numbered))
        if type(abort) is not bool or ("own" in entry and len(numbered) != 1):
            raise WrongValue("its requests are not what they should be")
    elif name == "post_recv":
        _numbers(arguments[:2], 2)
        if len(arguments) != 3:
            raise WrongValue("its arguments are not what they should be")


def _numbers(values: list[Any], count: int) -> list[int]:
    if len(values) != count or any(type(one) is not int for one in values):
        raise WrongValue("a number is missing")
    return values


def gave_of(entry: Entry) -> Any:
    """What a call gave, as the device gave it. Raises WrongValue."""
    name, gave = entry["call"], entry.get("gave")
    if name in OBJECTS:
        return answer(gave, OBJECTS[name])
    if name in NUMBERS:
        return _numbers([gave], 1)[0]
    if name == "mkey_check":
        return None if gave is None else answer(gave, SignatureError)
    if name == "lab_login":
        if not isinstance(gave, list):
            raise WrongValue("it gave no login")
        _, length, _, size = _numbers(gave, 4)
        if length != 40 or size not in (16, 32):
            raise WrongValue("it gave no login")
        return gave
    if gave is not None:
        raise WrongValue("it gives nothing")
    return None


def seen(entry: Entry, qp_of: Callable[[int], Qp]) -> list[Any]:
    """The completions of a poll, or the events."""
    kind: type[Any] = Completion if entry["call"] == "poll" else AsyncEvent
    place = 0 if kind is Completion else 1
    found = []
    for one in entry["gave"]:
        ((name, members),) = one.items()
        members = list(members)
        handle = members[place]
        qp = None if handle is None else qp_of(_numbers([handle], 1)[0])
        if qp is None:
            members[place] = None
        else:
            members[place] = {"Qp": [qp.handle, qp.side, qp.number, qp.max_inline_data]}
        found.append(answer({name: members}, kind))
    return found
