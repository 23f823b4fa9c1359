"""The keys of a lab file, each with what it takes in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from mkeyspec.abi.constants import MTUS
from mkeyspec.files.toml_places import Step

_MOST_SECONDS = 86400.0


@dataclass(frozen=True, slots=True)
class Key:
    """`right`: whether a value may be this; `words` and `example` say what is."""

    words: str
    example: str
    right: Callable[[Any], bool]


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _is_seconds(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= _MOST_SECONDS


def _is_wait(value: Any) -> bool:
    return _is_seconds(value) or (type(value) is int and value == 0)


def _is_count(most: int, least: int = 0) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(is_text(one) for one in value)


def _text(example: str) -> Key:
    return Key("a text", example, is_text)


def _texts(example: str) -> Key:
    return Key("a list of texts", example, _is_texts)


_SECONDS = Key("a number of seconds above 0, of a day at most", "deadline = 20", _is_seconds)
_WAIT = Key("a number of seconds", "wait = 600", _is_wait)
_TAGS = _texts('tags = ["nightly"]')

TOP = {"title": _text('title = "third floor"'), "deadline": _SECONDS, "wait": _WAIT}
HOST = {
    "reach": _text('reach = "ssh=root@alpha"'),
    "python": _text('python = "/opt/mkeyspec/bin/python"'),
    "deadline": _SECONDS,
    "at_most": Key("a number of runs, from 1", "at_most = 2", _is_count(1000, 1)),
}
DEVICE = {
    "name": _text('name = "blue"'),
    "host": _text('host = "alpha"'),
    "device": _text('device = "mlx5_0"'),
    "port": Key("a number from 1 to 255", "port = 1", _is_count(255, 1)),
    "firmware": _text('firmware = "28.43.*"'),
    "profile": _text('profile = "cx7.toml"'),
    "expectations": _texts('expectations = ["cx7.toml"]'),
    "waivers": _texts('waivers = ["waivers.toml"]'),
    "require": _texts('require = ["crypto"]'),
    "gid_index": Key("a number from 0", "gid_index = 3", _is_count(65535)),
    "path_mtu": Key(f"one of {', '.join(map(str, MTUS))}", "path_mtu = 4096", lambda value: value in MTUS),
    "allow_busy_port": Key("true or false", "allow_busy_port = true", lambda value: isinstance(value, bool)),
    "deadline": _SECONDS,
    "wait": _WAIT,
    "tags": _TAGS,
    "trial": _text('trial = "soft:cx7"'),
}
PAIR = {
    "name": _text('name = "back to back"'),
    "owner": _text('owner = "alpha/mlx5_0"'),
    "peer": _text('peer = "beta/mlx5_1"'),
    "reach": _text('reach = "ssh=root@beta"'),
    "tags": _TAGS,
}
TABLES = {"hosts": "[hosts.alpha]", "device": "[[device]]", "pair": "[[pair]]"}


def where_of(path: Sequence[Step]) -> str:
    words = [str(step) for step in path if isinstance(step, str)]
    if not words:
        return ""
    return f" in [{'.'.join(words)}]" if words[0] == "hosts" else f" in [[{words[0]}]]"


def near(name: str, known: Iterable[str]) -> str:
    found = get_close_matches(name, list(known), n=1)
    return f"did you mean {found[0]}?" if found else ""


def meant(key: str, here: Sequence[str], path: Sequence[Step]) -> str:
    """What a wrong key should be."""
    found = get_close_matches(key.replace("-", "_").lower(), here, n=1)
    if found:
        return f"did you mean `{found[0]}`?"
    for table, keys in (("[hosts.NAME]", HOST), ("[[device]]", DEVICE), ("[[pair]]", PAIR)):
        if key in keys:
            return f"it belongs in {table}"
    if key in TOP and path:
        return "it belongs above the first table"
    return f"the keys are: {', '.join(here)}"
