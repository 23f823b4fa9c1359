"""Waivers: rows of which a vendor knows that they fail, are flaky, or are not to be run; each with its reason and end.

    [[waiver]]
    rows = ["cases/crc.mks::published_values[crc=crc32c*"]  # `*` and `?`; a case without `[` is all of its rows
    outcome = "fails"                                        # or "flaky", "skip"
    code = "MKS2101"                                         # what the failure says; left out: any
    device = "mlx5_*"                                        # these four as in a file of expectations
    firmware = ">=20.31, <20.40"                             # a range, or a pattern
    versions = { rdma-core = ">=50" }
    owner = "Ada"
    reason = "the seed of CRC32C is taken from the wrong register"
    ticket = "NIC-1234"
    expires = 2027-03-31

A waived failure is not a pass: its verdict is known, and a waiver whose failure does not come is reported.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from mkeyspec.device.protocol import Info
from mkeyspec.diagnostics.codes import CODES
from mkeyspec.files.toml_places import Document, TomlError
from mkeyspec.run.departures import VERSIONS, ExpectationError, within
from mkeyspec.run.verdict import JUDGED

CODE = "MKS0942"
OUTCOMES = ("fails", "flaky", "skip")

_TEXTS = ("outcome", "code", "device", "firmware", "owner", "reason", "ticket")
_NEEDED = ("rows", "outcome", "owner", "reason", "expires")
_KEYS = ("rows", *_TEXTS, "versions", "expires")


@dataclass(frozen=True, slots=True)
class Waiver:
    """One table. `place`: `waivers.toml:3`."""

    place: str
    rows: tuple[str, ...]
    outcome: str
    owner: str
    reason: str
    expires: datetime.date
    code: str = ""
    ticket: str = ""
    device: str = "*"
    firmware: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    def matches(self, row: str) -> bool:
        """Whether the id of a row is among those that it names."""
        return any(_pattern(one).fullmatch(row) for one in self.rows)

    def applies(self, info: Info) -> bool:
        """Whether it is for this device, its firmware and the versions below it."""
        ranges = all(within(info.versions.get(name), range_, self.place) for name, range_ in self.versions.items())
        firmware = (
            not self.firmware
            or (within(info.firmware, self.firmware, self.place) if _is_range(self.firmware) else False)
            or fnmatchcase(info.firmware, self.firmware)
        )
        return ranges and firmware and fnmatchcase(info.device, self.device)

    def expired(self, today: datetime.date) -> bool:
        """It holds on its last day."""
        return today > self.expires

    def covers(self, codes: Iterable[str]) -> bool:
        """Whether failures with these codes are the one that it is for."""
        found = set(codes)
        return found <= JUDGED and (not self.code or found == {self.code})

    @property
    def text(self) -> str:
        """Why, who and until when, in a line."""
        ticket = f"{self.ticket}, " if self.ticket else ""
        return f"{self.reason} ({ticket}{self.owner}, until {self.expires}; {self.place})"


def load(files: Iterable[Path]) -> tuple[Waiver, ...]:
    """The waivers of files, in their order. Raises TomlError (MKS0942) with all that is wrong with them."""
    found: list[Waiver] = []
    errors: list[str] = []
    for path in files:
        try:
            document = Document(path, os.path.relpath(path), CODE)
        except TomlError as error:
            errors.append(str(error))
            continue
        found += _read(document)
        errors += document.errors
    if errors:
        raise TomlError(CODE, *errors)
    return tuple(found)


def _read(document: Document) -> list[Waiver]:
    for key in document.values.keys() - {"waiver", "title"}:
        document.error(f"unknown key `{key}`; the tables are called [[waiver]]", key)
    tables = document.values.get("waiver", [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        document.error("waiver is a list of tables: write [[waiver]]", "waiver")
        return []
    found = []
    for number, table in enumerate(tables):
        before = len(document.errors)
        _check(document, number, table)
        if len(document.errors) == before:
            rows = table.pop("rows")
            rows = (rows,) if isinstance(rows, str) else tuple(rows)
            found.append(Waiver(place=document.line("waiver", number), rows=rows, **table))
    return found


def _check(document: Document, number: int, table: dict[str, Any]) -> None:
    here = ("waiver", number)
    for key in _NEEDED:
        if key not in table:
            document.error(f"a waiver needs `{key}`: {_HELP[key]}", *here)
    for key, value in table.items():
        at = (*here, key)
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1)
            fix = f"did you mean `{near[0]}`?" if near else f"the keys are: {', '.join(_KEYS)}"
            document.error(f"unknown key `{key}` in [[waiver]]; {fix}", *at)
        elif key in _TEXTS and not (isinstance(value, str) and value.strip()):
            document.error(f"`{key}` is a text", *at)
        elif key == "outcome" and value not in OUTCOMES:
            document.error(f"`outcome` is one of {', '.join(OUTCOMES)}", *at)
        elif key == "code":
            _check_code(document, table, str(value), at)
        elif key == "expires" and not _is_date(value):
            document.error(f"`expires` is a day: {_HELP['expires']}", *at)
        elif key == "firmware" and _is_range(value):
            _check_range(document, value, at)
        elif key == "rows":
            _check_rows(document, value, at)
        elif key == "versions":
            _check_versions(document, value, at)


def _check_code(document: Document, table: dict[str, Any], code: str, at: Sequence[str | int]) -> None:
    if table.get("outcome") == "skip":
        document.error("a row that is skipped has no failure: take `code` away", *at)
    elif code not in CODES or not code.startswith("MKS2"):
        near = get_close_matches(code, [one for one in CODES if one.startswith("MKS2")], n=1)
        document.error(f"no failure of a row has the code {code}{f'; did you mean {near[0]}?' if near else ''}", *at)
    elif code not in JUDGED:
        document.error(f"{code} is not a verdict about the device; no waiver covers that", *at)


def _check_rows(document: Document, value: Any, at: Sequence[str | int]) -> None:
    rows = [value] if isinstance(value, str) else value
    if not isinstance(rows, list) or not rows or not all(isinstance(one, str) for one in rows):
        document.error(f"`rows` is a list of patterns: {_HELP['rows']}", *at)
        return
    for number, one in enumerate(rows):
        file, colons, case = one.partition("::")
        if not colons or not file or not case:
            document.error(f"`{one}` names no row: {_HELP['rows']}", *at, number)


def _check_versions(document: Document, value: Any, at: Sequence[str | int]) -> None:
    if not isinstance(value, dict):
        document.error('`versions` is a table: { rdma-core = ">=50" }', *at)
        return
    for name, range_ in value.items():
        if name not in VERSIONS:
            document.error(f"`{name}` is not a version that a device tells: {', '.join(sorted(VERSIONS))}", *at, name)
        elif not isinstance(range_, str):
            document.error(f'the range of {name} is a text: {name} = ">=50"', *at, name)
        else:
            _check_range(document, range_, (*at, name))


def _check_range(document: Document, range_: str, at: Sequence[str | int]) -> None:
    try:
        within("0", range_, "")
    except ExpectationError:
        document.error(f"`{range_}` is not a range of versions; write for example >=35, <38", *at)


_HELP = {
    "rows": 'rows = ["cases/a.mks::a_case", "cases/b.mks::b_*[n=1*"]',
    "outcome": 'outcome = "fails", "flaky" or "skip"',
    "owner": 'owner = "who answers for it"',
    "reason": 'reason = "what is wrong"',
    "expires": "expires = 2027-03-31",
}


def _is_date(value: Any) -> bool:
    return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)


def _is_range(text: str) -> bool:
    return text.strip().startswith(("<", ">", "=", "!"))


_PATTERNS: dict[str, re.Pattern[str]] = {}


def _pattern(text: str) -> re.Pattern[str]:
    """`*` and `?` alone are special: ids of rows have brackets. A case without them is all of its rows."""
    found = _PATTERNS.get(text)
    if found is None:
        whole = "".join({"*": ".*", "?": "."}.get(one, re.escape(one)) for one in text)
        rows = "" if "[" in text else r"(\[.*\])?"
        found = _PATTERNS[text] = re.compile(whole + rows, re.DOTALL)
    return found


def names(pattern: str, row: str) -> bool:
    """Whether one pattern names a row."""
    return _pattern(pattern).fullmatch(row) is not None
