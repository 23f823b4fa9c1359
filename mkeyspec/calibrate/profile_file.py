"""The files that a calibration gives: the profile with its evidence, and the departures that it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from mkeyspec.calibrate.pages import LISTED, OPEN, departures
from mkeyspec.calibrate.point import Found
from mkeyspec.calibrate.worker import Opened
from mkeyspec.device.profile.errno import ERRNO
from mkeyspec.device.profile.profile import DRIVER_ERRNO, IMPORT_METHODS, OFFERS, Profile, ProfileError, parse, show

WQE = ("wqe_overhead", "wqe_unit")
"""Members that a profile checks with one another: both, or neither."""
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def name_of(opened: Opened) -> str:
    """How reports call the profile: the device, and its firmware."""
    name = f"{opened.info.device}-{opened.info.firmware}" if opened.info.firmware else opened.info.device
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)


def consistent(found: Sequence[Found]) -> list[Found]:
    """The same, but members that no profile has together contradict one another."""
    values = {one.key: one.value for one in found if one.decided and one.key in WQE}
    try:
        Profile(**values)
    except ProfileError as error:
        return [
            Found(one.key, "contradicts", None, one.sides, f"{show(one.value)}, but {error}")
            if one.decided and one.key in WQE
            else one
            for one in found
        ]
    return list(found)


def lacks(opened: Opened, found: Sequence[Found]) -> list[str]:
    """What the model offers and the device does not: `without`. What other members say is not repeated."""
    by_member = {one.key: one.value for one in found if one.decided}
    said = set(IMPORT_METHODS.get(by_member.get("import_method", "either"), ()))
    return sorted(OFFERS - opened.capabilities.offers - said)


def write(opened: Opened, found: Sequence[Found], *, name: str, version: str, date: str, command: str) -> str:
    """The text of the profile. Points without a value are left out: the default counts for them."""
    text = "\n".join(_lines(opened, found, name, version, date, command)) + "\n"
    parse(text)  # what is written can be read
    return text


def _lines(opened: Opened, found: Sequence[Found], name: str, version: str, date: str, command: str) -> Iterator[str]:
    yield f"# What `{command}` measured. A point that is not here was not decided: [evidence] says why."
    yield f"name = {_text(name)}"
    yield f"without = {_list(lacks(opened, found))}"
    yield ""
    for one in found:
        if one.decided and "." not in one.key:
            yield f"{one.key} = {_value(one.value)}"
    yield ""
    yield "[errno]  # of a rule where it is not rdma-core's"
    for one in found:
        rule = one.key.partition("errno.")[2]
        if one.decided and rule and one.value != (ERRNO.get(rule) or DRIVER_ERRNO.get(rule, "EINVAL")):
            yield f"{rule} = {_text(one.value)}"
    yield ""
    yield "[measured]"
    info = opened.info
    for key, value in (("device", info.device), ("firmware", info.firmware), ("mkeyspec", version), ("date", date)):
        yield f"{key} = {_text(value)}"
    yield "[measured.versions]"
    for key, value in sorted(info.versions.items()):
        yield f"{_key(key)} = {_text(value)}"
    for table, prefix in (("evidence", ""), ("evidence.errno", "errno."), ("evidence.published", ".")):
        yield ""
        yield f"[{table}]"
        for one in found:
            group = "." if one.key.startswith(".") else "errno." if one.key.startswith("errno.") else ""
            if group == prefix:
                yield f"{one.key.removeprefix(prefix)} = {_entry(one)}"


def _entry(one: Found) -> str:
    parts = [f"value = {_value(one.value)}"] if one.decided else []
    parts.append(f"confidence = {_text(one.confidence)}")
    if one.reason:
        parts.append(f"reason = {_text(one.reason)}")
    if one.decided:
        parts.append(f"sides = {_list([f'{side.side}: {side.text}' for side in one.sides if side.signs is not None])}")
    return "{ " + ", ".join(parts) + " }"


def expectations(opened: Opened, found: Sequence[Found]) -> str | None:
    """A file of expectations that lists the departures that cases name; None if there is none."""
    listed = [(one.id, one.found) for one in departures(found) if one.id in LISTED]
    if not listed:
        return None
    lines = [f"title = {_text(f'departures measured on {opened.info.device}')}"]
    for kind in ("shows", "may_show"):
        ids = [(id, one) for id, one in listed if (id in OPEN) == (kind == "may_show")]
        if ids:
            lines += ["", f"[[{kind}]]", f"device = {_text(opened.info.device)}"]
            lines += [f"firmware = {_text(opened.info.firmware)}"] if opened.info.firmware else []
            lines += [f"[{kind}.ids]", *(f"{id} = {_text(f'{one.key} is {show(one.value)}')}" for id, one in ids)]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return _list([str(one) for one in value])
    return _text(value) if isinstance(value, str) else str(value)


def _list(texts: Sequence[str]) -> str:
    return "[" + ", ".join(map(_text, texts)) + "]"


def _text(text: str) -> str:
    """JSON's strings are TOML's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if _BARE.match(key) else _text(key)
