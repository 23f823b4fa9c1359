"""Known departures of drivers and devices from the pages: `expectations/*.toml`, kept outside the cases.

A file may be owned by a vendor. Each `[[shows]]` table names the devices (patterns over the device's own information)
and the departures (ids of the catalogue, each with a description):

    [[shows]]
    device = "mlx5_*"                       # fnmatch pattern; left out: any
    versions = { rdma-core = ">=35, <38" }  # dotted numbers; every comparison must hold
    ids = { X-DIFF-08 = "compares all 64 bits of a CRC32 seed" }

A listed departure that is not seen is a failure (MKS2301). `[[may_show]]` tables have the same keys, and list what a
driver does with an answer that some devices give and others don't: it may be seen or not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from mkeyspec.device.protocol import Info
from mkeyspec.requirements import ledger

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_COMPARISON = re.compile(r"(>=|<=|==|!=|<|>)\s*([0-9]+(?:\.[0-9]+)*)\Z")
VERSIONS = frozenset({"rdma-core", "libibverbs", "libmlx5", "pyverbs", "kernel", "profile"})
"""Names of the versions that devices report (`Info.versions`)."""
_KEYS = {"device", "firmware", "versions", "ids"}


class ExpectationError(ValueError):
    """An expectations file is invalid; `str()` names the file and the fix."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """The departures that are listed for one device: id to (file, what is seen)."""

    departures: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    open: frozenset[str] = frozenset()
    """Those of them that need not be seen."""

    def lists(self, id: str) -> bool:
        return id in self.departures

    def demands(self, id: str) -> bool:
        return id in self.departures and id not in self.open

    @classmethod
    def load(cls, files: Iterable[Path], info: Info) -> Expectations:
        """Read `files` and return the entries for the device that `info` describes."""
        departures: dict[str, tuple[str, str]] = {}
        may, must = set[str](), set[str]()
        for path in sorted(files):
            try:
                document = tomllib.loads(path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
                raise ExpectationError(f"{path.name}: {error}") from error
            for unknown in document.keys() - {"title", "shows", "may_show"}:
                raise ExpectationError(
                    f"{path.name}: unknown key `{unknown}`; the tables are called [[shows]] and [[may_show]]"
                )
            for kind, ids in (("may_show", may), ("shows", must)):
                tables = document.get(kind, [])
                if not isinstance(tables, list):
                    raise ExpectationError(f"{path.name}: {kind} is a list of tables: write [[{kind}]]")
                for table in tables:
                    if _applies(table, info, path.name, kind):
                        departures.update((id, (path.name, str(seen))) for id, seen in table["ids"].items())
                        ids.update(table["ids"])
        return cls(departures, frozenset(may - must))


def _applies(table: Any, info: Info, file: str, kind: str) -> bool:
    if not isinstance(table, dict) or not isinstance(table.get("ids"), dict):
        raise ExpectationError(f'{file}: a [[{kind}]] table needs ids = {{ X-DIFF-nn = "what is seen" }}')
    for unknown in table.keys() - _KEYS:
        raise ExpectationError(f"{file}: unknown key `{unknown}` in [[{kind}]]; known: {', '.join(sorted(_KEYS))}")
    for name in ("device", "firmware"):
        if not isinstance(table.get(name, ""), str):
            raise ExpectationError(f'{file}: {name} is one pattern, as "mlx5_*"; write a table for each')
    for id, seen in table["ids"].items():
        _known(id, file)
        if not isinstance(seen, str):
            raise ExpectationError(f"{file}: what is seen of {id} is a text: what the device does instead")
    versions = table.get("versions", {})
    if not isinstance(versions, dict):
        raise ExpectationError(f'{file}: versions is a table: {{ rdma-core = ">=35" }}')
    inside = [within(info.versions.get(name), str(range_), file) for name, range_ in versions.items()]
    for name in versions.keys() - VERSIONS - info.versions.keys():
        told = ", ".join(sorted(VERSIONS))
        raise ExpectationError(f"{file}: `{name}` is not a version that a device tells; they are: {told}")
    return (
        fnmatchcase(info.device, table.get("device", "*"))
        and fnmatchcase(info.firmware, table.get("firmware", "*"))
        and all(inside)
    )


def _known(id: str, file: str) -> None:
    """Raises ExpectationError unless `id` is a departure of the catalogue: no case can name another one."""
    if id in ledger.departure_ids():
        return
    if id in ledger.ids():
        raise ExpectationError(f"{file}: `{id}` is a requirement; a departure is an X-DIFF or an X-BUG")
    if id in ledger.departures():
        raise ExpectationError(f"{file}: `{id}` is an open point; a departure is an X-DIFF or an X-BUG")
    near = get_close_matches(id.upper(), sorted(ledger.departure_ids()), 3, 0.6)
    help = f"did you mean {' or '.join(near)}?" if near else "docs/requirements.md has the list"
    raise ExpectationError(f"{file}: `{id}` is not a known departure; {help}")


def within(version: str | None, comparisons: str, file: str) -> bool:
    """Whether a version is in `>=35, <38`; an unknown version is in no range."""
    bounds = [_COMPARISON.match(part.strip()) for part in comparisons.split(",")]
    if any(bound is None for bound in bounds):
        raise ExpectationError(f"{file}: `{comparisons}` is not a range of versions; write for example >=35, <38")
    digits = re.match(r"[0-9]+(?:\.[0-9]+)*", version or "")
    if digits is None:
        return False
    have = _numbers(digits.group())
    for bound in bounds:
        assert bound is not None
        operator, want = bound.group(1), _numbers(bound.group(2))
        width = max(len(have), len(want))
        a, b = have + (0,) * (width - len(have)), want + (0,) * (width - len(want))
        holds = {">=": a >= b, "<=": a <= b, "==": a == b, "!=": a != b, "<": a < b, ">": a > b}
        if not holds[operator]:
            return False
    return True


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
