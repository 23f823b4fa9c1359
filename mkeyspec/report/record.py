"""The lines of a stream of results: one JSON object each, of the kind that `kind` names.

`schema/results-1.schema.json` is the published form. A line is written by `line_of` and read by `record_of`. Fields
that are empty are left out. A reader ignores fields and kinds that it does not know: they may be added in the same
version of the schema.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Literal, get_args, get_type_hints

SCHEMA = 1
"""Version of the schema. A reader refuses a higher one."""

Level = Literal["mandatory", "recommended", "optional"]
Verdict = Literal["passed", "failed", "error", "known", "unseen", "blocked", "lost", "skipped"]
"""`error`: a file or the harness is wrong. `unseen`: a listed departure that no row of a case showed. The others are
those of docs/running.md."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

WRONG: frozenset[Verdict] = frozenset({"failed", "error", "unseen", "blocked", "lost"})
"""Verdicts that are no success."""


class WrongRecord(Exception):
    """A line that is not a record; `str()` says what is wrong."""


@dataclass(frozen=True, slots=True)
class Begin:
    """The first line: how the run was started."""

    KIND: ClassVar[str] = "run"

    schema: int
    run: str
    """Name of the run; unique."""
    started: str
    """UTC, as ISO 8601."""
    mkeyspec: str
    """Version."""
    device: str = ""
    """As `--device` names it, with the personality of a software NIC."""
    personality: str = ""
    profile: str = ""
    """Of cases: `--profile`."""
    device_profile: str = ""
    device_points: list[list[str]] = field(default_factory=list)
    """Points of `device_profile` that are not the default's: point, value, default, how it was seen, and then what
    each side saw."""
    expectations: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    """The arguments of the command line."""
    git_commit: str = ""
    git_changed: bool = False
    """Whether files differed from that commit."""
    host: str = ""
    kernel: str = ""
    python: str = ""
    pytest: str = ""
    seed: str = ""
    """Of drawn cases."""
    vary: str = ""
    """The seed of what is around each row."""
    lab: str = ""
    """Of a device of a lab: the name of the run of all of them."""
    unit: str = ""
    """Of a device of a lab: what the lab file calls it, or the pair."""
    judged: str = ""
    """Of a run that judged a bundle: its file, its checksum, and the run that it was kept in."""


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What the device reports of itself; before the first result of a row that used it."""

    KIND: ClassVar[str] = "device"

    device: str
    firmware: str = ""
    pci: str = ""
    """PCI address of a real NIC."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of drivers and libraries, by name."""
    offers: list[str] = field(default_factory=list)
    """Capabilities, by the names of a case's `needs`."""
    values: dict[str, int] = field(default_factory=dict)
    """Numbers that a case may read as `device.NAME`."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A `.mks` file, before the first result of it."""

    KIND: ClassVar[str] = "suite"

    file: str
    title: str = ""
    sha256: str = ""
    """Of the file and of those that it uses."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case, before the first result of it."""

    KIND: ClassVar[str] = "case"

    case: str
    """`cases/crc.mks::published_values`."""
    line: int = 0
    """Counted from 1."""
    title: str = ""
    requirements: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    """The author's own words."""
    level: Level = "mandatory"
    """Of a case that is not mandatory, a failure is known."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A wrong rule that a result names in `looks_like`, before the first one that does."""

    KIND: ClassVar[str] = "near_miss"

    name: str
    """`crc.inversion`."""
    sentence: str
    """Without a full stop: `the final inversion of the CRC is missing`."""


@dataclass(frozen=True, slots=True)
class Items:
    """How many items were selected."""

    KIND: ClassVar[str] = "items"

    selected: int
    shard: str = ""
    """K/N: they are the K-th of N parts."""
    split: str = ""
    """Of a part: a checksum of all parts. Those of one run have the same."""


@dataclass(frozen=True, slots=True)
class Start:
    """An item begins; `id` is that of its result, or the `node` of it."""

    KIND: ClassVar[str] = "start"

    id: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Bytes that differ: the facts of the first such failure of a row."""

    KIND: ClassVar[str] = "difference"

    first: str
    """The first byte, as the case names it: `wire[516]`."""
    differing: int
    total: int
    start: int
    """Of `expected` and `got`: their first byte, in what was compared."""
    expected: str
    """Bytes from `start` on, in hex."""
    got: str
    part: str = ""
    """Block and field or data, and the byte in it."""
    source: str = ""
    """What the byte is computed of, or comes from."""
    way: str = ""
    """The keys and entries on the way of these bytes."""
    groups: list[str] = field(default_factory=list)
    """All bytes that differ, by field, data and entry."""
    key: str = ""
    side: str = ""
    """Of `cells`: where the bytes were compared, `wire` or `mem`."""
    cells: list[list[str]] = field(default_factory=list)
    """A drawing: what is in memory, in the mkey and on the wire, and `differs` or nothing, cell by cell."""
    before: bool = False
    """There are bytes before these cells."""
    after: bool = False
    """There are bytes after these cells."""


@dataclass(frozen=True, slots=True)
class Result:
    """An item has ended. An item that was run again has several; the last one counts."""

    KIND: ClassVar[str] = "result"

    id: str
    """`cases/crc.mks::published_values[crc=crc32]`."""
    verdict: Verdict
    seconds: float = 0.0
    node: str = ""
    """The id of pytest, where that is another one: the row was run from its generated module."""
    code: str = ""
    """Of the first failure: `MKS2101`."""
    message: str = ""
    """Of the first failure, one line; of a skipped row why; of a known departure its sentence."""
    line: int = 0
    column: int = 0
    text: str = ""
    """The whole text of a failure."""
    needs: list[str] = field(default_factory=list)
    """What this row needs beside what its case needs."""
    records: dict[str, str] = field(default_factory=dict)
    known: list[str] = field(default_factory=list)
    quiet: list[str] = field(default_factory=list)
    not_run: str = ""
    consequences: list[str] = field(default_factory=list)
    looks_like: list[str] = field(default_factory=list)
    """Near misses that give exactly what was got, of the first failure that has some."""
    against: list[str] = field(default_factory=list)
    """Of a row that passed: near misses of earlier rows by which it would have gone wrong."""
    difference: Difference | None = None
    size: dict[str, int] = field(default_factory=dict)
    """Of a row that went wrong: its `requests`, the most `entries` of a layout, the `bytes` of its buffers."""
    culprit: str = ""
    """Of a blocked row: the row that left the device unhealthy."""
    waiver: str = ""
    """Of a row that a waiver names: why, who and until when; `expired: ` before it if it does not hold any more."""
    rerun: bool = False
    """The item is run again."""
    worker: str = ""
    """The process of pytest-xdist."""


@dataclass(frozen=True, slots=True)
class Calls:
    """What the rig called in a row that failed, on a device under a driver; before its result."""

    KIND: ClassVar[str] = "calls"

    row: str
    calls: list[str]
    """One line each: milliseconds since the row began, the call, what it gave."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What the machine says of the device: as the run begins, after a row that failed, and at the end."""

    KIND: ClassVar[str] = "machine"

    at: str
    """`start`, `failure`, `end`."""
    row: str = ""
    """The row that failed."""
    since: str = ""
    """Of a failure: the row of the look before this one; empty: the start."""
    before: dict[str, int] = field(default_factory=dict)
    """Counters that changed, as `ports/1/hw_counters/out_of_sequence`: what they were at the look before; at the end of
    the run, what they were at its start."""
    after: dict[str, int] = field(default_factory=dict)
    kernel: list[str] = field(default_factory=list)
    """The kernel's lines since the look before."""
    unread: dict[str, str] = field(default_factory=dict)
    """What can't be read, and why."""


@dataclass(frozen=True, slots=True)
class End:
    """The last line: the run has ended by itself."""

    KIND: ClassVar[str] = "end"

    seconds: float
    exit: int
    """pytest's exit code."""
    reopened: dict[str, str] = field(default_factory=dict)
    """Rows after which the device was opened again, each with the symptom."""


Record = Begin | DeviceInfo | Suite | Case | NearMiss | Items | Start | Result | Calls | Machine | End
_KINDS = (Begin, DeviceInfo, Suite, Case, NearMiss, Items, Start, Result, Calls, Machine, End)
_CLASSES: dict[str, type[Any]] = {one.KIND: one for one in _KINDS}
_PLANS: dict[str, type[Any]] = {**_CLASSES, Difference.KIND: Difference}


@cache
def _plan_of(kind: str) -> tuple[tuple[str, Any, Any], ...]:
    """Of each field of a kind: its name, its type, and its value if it is left out (MISSING if it may not be)."""
    cls = _PLANS[kind]
    hints = get_type_hints(cls)
    found = []
    for one in fields(cls):
        default = one.default if one.default_factory is MISSING else one.default_factory()
        found.append((one.name, hints[one.name], default))
    return tuple(found)


def line_of(record: Record) -> bytes:
    """One line of JSON in ASCII, with its newline."""
    data = {"kind": record.KIND, **_plain(record)}
    return json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"


def _plain(record: Record | Difference) -> dict[str, Any]:
    """Its fields that are not empty."""
    data: dict[str, Any] = {}
    for name, _, default in _plan_of(record.KIND):
        value = getattr(record, name)
        if value != default:
            data[name] = _plain(value) if isinstance(value, Difference) else value
    return data


def record_of(line: bytes) -> Record | None:
    """The record of a line; None for a kind of a later version. Raises WrongRecord."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise WrongRecord("it is not JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        raise WrongRecord("it is not an object with a `kind`")
    cls = _CLASSES.get(data["kind"])
    if cls is None:
        return None
    record: Record = cls(**_values(data, cls.KIND))
    return record


def _values(data: dict[str, Any], kind: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, hint, default in _plan_of(kind):
        if name in data:
            values[name] = _checked(data[name], hint, name)
        elif default is MISSING:
            raise WrongRecord(f"a line of kind `{kind}` lacks `{name}`")
        else:
            values[name] = default
    return values


def _checked(value: Any, kind: Any, name: str) -> Any:
    if kind is str or kind is bool:
        right = type(value) is kind
    elif kind is int:
        right = type(value) is int and value >= 0
    elif kind is float:
        right = type(value) in (int, float) and 0 <= value < float("inf")
    elif kind == Difference | None:
        if not isinstance(value, dict):
            raise WrongRecord(f"`{name}` is not what the schema says")
        return Difference(**_values(value, Difference.KIND))
    elif kind == list[list[str]]:
        right = isinstance(value, list) and all(
            isinstance(one, list) and all(type(text) is str for text in one) for one in value
        )
    elif kind == list[str]:
        right = isinstance(value, list) and all(type(one) is str for one in value)
    elif kind == dict[str, str]:
        right = isinstance(value, dict) and all(type(one) is str for one in value.values())
    elif kind == dict[str, int]:
        right = isinstance(value, dict) and all(type(one) is int for one in value.values())
    else:
        right = type(value) is str and value in get_args(kind)
    if not right:
        raise WrongRecord(f"`{name}` is not what the schema says")
    return value
