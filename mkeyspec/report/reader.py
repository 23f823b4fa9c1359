"""Reads streams of results. A stream that was cut gives what was written until then; anything else is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mkeyspec.report.record import (
    SCHEMA,
    WRONG,
    Begin,
    Calls,
    Case,
    DeviceInfo,
    End,
    Items,
    Machine,
    NearMiss,
    Result,
    Start,
    Suite,
    WrongRecord,
    record_of,
)

_LONGEST_HEAD = 1 << 16


class Unusable(Exception):
    """A stream that can't be used; `str()` is one line with a code and the fix."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"error[{code}]: {text}")
        self.code = code


_ENDED = frozenset({0, 1})
"""pytest's exit codes of a run that nobody stopped: all passed, some failed."""


@dataclass(slots=True)
class Run:
    """One stream."""

    path: Path
    begin: Begin
    devices: list[DeviceInfo] = field(default_factory=list)
    suites: dict[str, Suite] = field(default_factory=dict)
    """By file."""
    cases: dict[str, Case] = field(default_factory=dict)
    """By their ids."""
    near_misses: dict[str, str] = field(default_factory=dict)
    """By name: the sentence."""
    results: dict[str, Result] = field(default_factory=dict)
    """By id: the last result of each item; of an item that two workers have run, one that is wrong."""
    earlier: dict[str, list[Result]] = field(default_factory=dict)
    """By id: the results before the last one of items that were run again."""
    calls: dict[str, list[str]] = field(default_factory=dict)
    """By id: the calls of rows that failed."""
    machine: list[Machine] = field(default_factory=list)
    """What the machine said of the device, in the order of the looks."""
    in_flight: list[str] = field(default_factory=list)
    """Items that began and have no result."""
    selected: int = 0
    shard: str = ""
    split: str = ""
    """Of a part of a run (`Items`)."""
    end: End | None = None
    """None: the run did not end by itself, or has not ended yet."""
    cut: bool = False
    """The last line was not whole."""

    @property
    def not_run(self) -> int:
        """How many selected items have neither begun nor ended."""
        ours = sum(1 for result in self.results.values() if "::" in result.id)
        return max(0, self.selected - ours - len(self.in_flight))

    @property
    def cut_short(self) -> str:
        """What is missing of a run that was killed, stopped, or is not over yet; "" of one that ended by itself. One
        that ends at a failure (`-x`) has said that it failed."""
        left = self.not_run
        if self.end is not None and (self.end.exit in _ENDED or not left):
            return ""
        said = "the run was stopped" if self.end is not None else "the run did not end by itself"
        verb = "was" if left == 1 else "were"
        rows = f"{left} of {self.selected} selected {'row' if self.selected == 1 else 'rows'} {verb} not run"
        return f"{said}: {rows}" if left else said

    @property
    def device(self) -> DeviceInfo:
        return self.devices[0] if self.devices else DeviceInfo(self.begin.device)


def file_of(id: str) -> str:
    """The file in the id of an item."""
    return id.partition("::")[0]


def case_of(id: str) -> str:
    """The id of the case of a row; a folder may be called `x[1]`."""
    file, mark, name = id.partition("::")
    return f"{file}{mark}{name.partition('[')[0]}"


def read(path: Path) -> Run:
    """Raises Unusable: MKS0903 no such file, MKS0930 not a stream, MKS0931 of a newer mkeyspec."""
    try:
        with path.open("rb") as stream:
            head = stream.readline(_LONGEST_HEAD)
            run = Run(path, _begin(path, head))
            _fill(run, stream)
    except FileNotFoundError:
        raise Unusable("MKS0903", f"no such file: {path}") from None
    except OSError as error:
        raise Unusable("MKS0930", f"{path}: can't read the results: {error.strerror}") from None
    return run


def _begin(path: Path, head: bytes) -> Begin:
    not_ours = Unusable("MKS0930", f"{path}: it is not a stream of results: its first line is not of kind `run`")
    try:
        data = json.loads(head)
    except (ValueError, RecursionError):
        raise not_ours from None
    if not isinstance(data, dict) or data.get("kind") != "run" or type(data.get("schema")) is not int:
        raise not_ours
    if data["schema"] > SCHEMA:
        text = f"{path}: the results have version {data['schema']} of the schema, and this mkeyspec reads {SCHEMA}"
        raise Unusable("MKS0931", f"{text}; read them with the mkeyspec that wrote them, or a later one")
    try:
        begin = record_of(head)
    except WrongRecord as error:
        raise Unusable("MKS0930", f"{path}:1: {error}") from None
    assert isinstance(begin, Begin)
    return begin


def _is_another_trial(before: Result, after: Result) -> bool:
    """Whether two workers have run this item (`--dist=each`): neither result stands for the other."""
    return not before.rerun and "" not in (before.worker, after.worker) and before.worker != after.worker


def _fill(run: Run, lines: Iterable[bytes]) -> None:
    begun: dict[str, None] = {}
    for number, line in enumerate(lines, 2):
        if not line.endswith(b"\n"):
            run.cut = True  # the last one: its process ended while it was written
            break
        try:
            record = record_of(line)
        except WrongRecord as error:
            raise Unusable("MKS0930", f"{run.path}:{number}: {error}") from None
        match record:
            case Result():
                begun.pop(record.node or record.id, None)
                before = run.results.get(record.id)
                counts = record
                if before is not None:
                    if before.verdict in WRONG and _is_another_trial(before, record):
                        before, counts = record, before
                    run.earlier.setdefault(record.id, []).append(before)
                run.results[record.id] = counts
                if record.rerun:
                    begun[record.node or record.id] = None
            case Start():
                begun[record.id] = None
            case Case():
                run.cases[record.case] = record
            case Suite():
                run.suites[record.file] = record
            case NearMiss():
                run.near_misses.setdefault(record.name, record.sentence)
            case DeviceInfo():
                if record not in run.devices:
                    run.devices.append(record)
            case Calls():
                run.calls[record.row] = record.calls
            case Machine():
                run.machine.append(record)
            case Items():
                run.selected, run.shard, run.split = record.selected, record.shard, record.split
            case End():
                run.end = record
            case Begin():
                raise Unusable("MKS0930", f"{run.path}:{number}: a second run begins in this stream; keep them apart")
            case None:
                pass  # of a kind that a later version added
    run.in_flight = list(begun)
