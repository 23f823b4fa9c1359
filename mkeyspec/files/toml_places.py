"""Where the keys and values of a TOML document stand: Python's reader of TOML does not say."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Step = str | int
"""A key, or the index of an element."""

_KEY = re.compile(r'[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_PLAIN = re.compile(r"[^,\]}\n#]*")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class TomlError(ValueError):
    """Errors in a TOML file of a project; `str()` is a line each: place, code, what is wrong, the fix."""

    def __init__(self, code: str, *errors: str) -> None:
        super().__init__("\n".join(errors))
        self.code = code


class Places:
    """Where the keys and values of a TOML text stand; `name` is what messages call it."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self._text = text
        self._places = _places(text)

    def at(self, *path: Step) -> str:
        """`mkeyspec.toml:3:1`, of the key or value, or of the nearest one around it."""
        while path and path not in self._places:
            path = (*path, 0) if (*path, 0) in self._places else path[:-1]
        offset = self._places.get(path, 0)
        begin = self._text.rfind("\n", 0, offset) + 1
        return f"{self.name}:{self._text.count(chr(10), 0, offset) + 1}:{offset - begin + 1}"


class Document:
    """A TOML file with the places of its keys and values. `code`: of the errors in it."""

    def __init__(self, path: Path, name: str, code: str) -> None:
        """Read `path`, which messages call `name`. Raises TomlError."""
        self.path, self.name, self.code = path, name, code
        self.values: dict[str, Any] = {}
        self.errors: list[str] = []
        text = ""
        try:
            text = path.read_text(encoding="utf-8")
            self.values = tomllib.loads(text)
        except OSError as error:
            raise TomlError(code, f"{name}: error[{code}]: can't read it: {error.strerror}; make it readable") from None
        except UnicodeDecodeError:
            raise TomlError(code, f"{name}: error[{code}]: it is not UTF-8; save it as UTF-8") from None
        except tomllib.TOMLDecodeError as error:
            line, column, what = syntax(str(error), text)
            raise TomlError(code, f"{name}:{line}:{column}: error[{code}]: it is not TOML: {what}") from None
        self._places = Places(text, name)

    def at(self, *path: Step) -> str:
        """`mkeyspec.toml:3:1`, of the key or value, or of the nearest one around it."""
        return self._places.at(*path)

    def line(self, *path: Step) -> str:
        """As `at`, without the column."""
        return self.at(*path).rpartition(":")[0]

    def error(self, what: str, *path: Step) -> None:
        """Keep an error at a key or value; `finish` raises them."""
        self.errors.append(f"{self.at(*path)}: error[{self.code}]: {what}")

    def finish(self) -> None:
        """Raises TomlError if there was an error."""
        if self.errors:
            raise TomlError(self.code, *self.errors)


def syntax(message: str, text: str) -> tuple[int, int, str]:
    """Line and column of an error of Python's reader of TOML, and what is wrong."""
    found = _PLACE.search(message)
    what = _PLACE.sub("", message).rstrip(".")
    if found is None or found[1] is None:
        lines = text.splitlines() or [""]
        return len(lines), len(lines[-1]) + 1, what
    return int(found[1]), int(found[2]), what


def _places(text: str) -> dict[tuple[Step, ...], int]:
    """Offset of each key, element and table of a valid document."""
    found: dict[tuple[Step, ...], int] = {}
    counts: dict[tuple[Step, ...], int] = {}
    table: tuple[Step, ...] = ()
    at = _skip(text, 0)
    while at < len(text):
        begin = at
        if text[at] == "[":
            many = text.startswith("[[", at)
            keys, at = _dotted(text, at + 1 + many)
            table = ()
            for number, key in enumerate(keys):
                table = (*table, key)
                if table in counts and not (many and number == len(keys) - 1):
                    table = (*table, counts[table] - 1)
            if many:
                counts[table] = counts.get(table, 0) + 1
                table = (*table, counts[table] - 1)
            found[table] = begin
            at = _skip(text, at + 1 + many)
        else:
            at = _pair(text, at, table, found)
        at = _skip(text, at)
        if at == begin:  # not TOML after all
            break
    return found


def _pair(text: str, at: int, around: tuple[Step, ...], found: dict[tuple[Step, ...], int]) -> int:
    begin = at
    keys, at = _dotted(text, at)
    path = (*around, *keys)
    found.setdefault(path, begin)
    return _value(text, _skip(text, at + 1), path, found)  # after `=`


def _value(text: str, at: int, path: tuple[Step, ...], found: dict[tuple[Step, ...], int]) -> int:
    if at >= len(text):
        return at
    if text[at] in "[{":
        close = {"[": "]", "{": "}"}[text[at]]
        number = 0
        at = _skip(text, at + 1)
        while at < len(text) and text[at] != close:
            if close == "]":
                element = (*path, number)
                found[element] = at
                at = _value(text, at, element, found)
                number += 1
            else:
                at = _pair(text, at, path, found)
            at = _skip(text, at)
            if at < len(text) and text[at] == ",":
                at = _skip(text, at + 1)
        return at + 1
    whole = _STRING.match(text, at) or _PLAIN.match(text, at)
    return at if whole is None else max(whole.end(), at)


def _dotted(text: str, at: int) -> tuple[tuple[str, ...], int]:
    keys: list[str] = []
    while True:
        at = _skip(text, at)
        key = _KEY.match(text, at)
        if key is None:
            return tuple(keys), at
        keys.append(key[0].strip("\"'"))
        at = _skip(text, key.end())
        if not text.startswith(".", at):
            return tuple(keys), at
        at += 1


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return at if blank is None else blank.end()
