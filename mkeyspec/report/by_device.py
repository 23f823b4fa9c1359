"""Runs of one suite on several devices, side by side: counts of each device, and rows by device."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from mkeyspec.report.reader import Run
from mkeyspec.report.record import VERDICTS, WRONG, Result
from mkeyspec.report.rows import plain, results_of

_NO_ROW = "-"
"""Of a device that has no result of a row."""


@dataclass(slots=True)
class Column:
    """A device. `rows`: by their ids; `whole`: what is said of the device itself, where no row could be run."""

    label: str
    device: str = ""
    firmware: str = ""
    rows: dict[str, Result] = field(default_factory=dict)
    whole: Result | None = None
    not_run: int = 0

    @property
    def counts(self) -> Counter[str]:
        return Counter(result.verdict for result in self.rows.values())

    def verdict(self, id: str) -> str:
        if id in self.rows:
            return self.rows[id].verdict
        return _NO_ROW if self.whole is None else self.whole.verdict


@dataclass(frozen=True, slots=True)
class Matrix:
    """`rows`: ids with a verdict of each column. Left out are the rows that are the same, and not wrong, on all."""

    columns: list[Column]
    rows: list[tuple[str, list[str]]]
    same: int


def label_of(run: Run) -> str:
    """What a report calls the device of a run: by the lab file, or by its host and name."""
    return run.begin.unit or "/".join(filter(None, (run.begin.host, run.begin.device or run.device.device)))


def on_several(runs: Sequence[Run]) -> bool:
    """Whether these are runs of more than one device, or of a lab."""
    return len({label_of(run) for run in runs}) > 1 or any(run.begin.unit for run in runs)


def matrix_of(runs: Sequence[Run], *, every: bool = False) -> Matrix:
    """Of runs on several devices; parts of a run (`--shard`) are one column. `every`: also rows that are the same."""
    columns: dict[str, Column] = {}
    for run in runs:
        label = label_of(run)
        column = columns.setdefault(label, Column(label))
        column.device = column.device or run.device.device
        column.firmware = column.firmware or run.device.firmware
        column.not_run += run.not_run
        for result in results_of(run):
            if "::" in result.id:
                column.rows[result.id] = result
            else:
                column.whole = result
    ids = dict.fromkeys(id for column in columns.values() for id in column.rows)
    rows, same = [], 0
    for id in ids:
        verdicts = [column.verdict(id) for column in columns.values()]
        if len(set(verdicts)) == 1 and verdicts[0] not in WRONG:
            same += 1
            if not every:
                continue
        rows.append((id, verdicts))
    rows.sort(key=lambda row: not set(row[1]) & WRONG)  # stable: what is wrong first
    return Matrix(list(columns.values()), rows, same)


def text_of(matrix: Matrix, *, rows: int | None = None) -> str:
    """For a terminal; `rows`: the most that are listed."""
    lines = _table(heads(matrix))
    shown = matrix.rows if rows is None else matrix.rows[:rows]
    if shown:
        several = len(matrix.columns) > 1
        lines += ["", "rows that differ, or are wrong" if several else "rows that are wrong"]
        lines += _table([["", *letters(matrix)], *([plain(id), *verdicts] for id, verdicts in shown)])
    if len(shown) < len(matrix.rows):
        lines.append(f"and {len(matrix.rows) - len(shown)} more; `mkeyspec report matrix` lists them")
    if matrix.same and len(matrix.columns) > 1:
        same = "1 row is" if matrix.same == 1 else f"{matrix.same} rows are"
        lines.append(f"{same} the same on all")
    return "".join(f"{line.rstrip()}\n" for line in lines)


def markdown_of(matrix: Matrix) -> str:
    tables = [heads(matrix)]
    if matrix.rows:
        tables.append([["row", *letters(matrix)], *([f"`{id}`", *verdicts] for id, verdicts in matrix.rows)])
    return "\n".join(map(_markdown_table, tables))


def _markdown_table(lines: Sequence[Sequence[str]]) -> str:
    first, *rest = lines
    cells = [[plain(cell).replace("|", "\\|") for cell in line] for line in (first, ["---"] * len(first), *rest)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def json_of(matrix: Matrix) -> str:
    data = {
        "devices": [
            {
                "name": column.label,
                "device": column.device,
                "firmware": column.firmware,
                "counts": dict(column.counts),
                "not_run": column.not_run,
                "whole": None if column.whole is None else f"{column.whole.code} {column.whole.message}".strip(),
            }
            for column in matrix.columns
        ],
        "rows": [{"id": id, "verdicts": verdicts} for id, verdicts in matrix.rows],
        "same": matrix.same,
    }
    return json.dumps(data, indent=2) + "\n"


def letters(matrix: Matrix) -> list[str]:
    """A letter for each device."""
    return [_letter(number) for number in range(len(matrix.columns))]


def _letter(number: int) -> str:
    """A, B, …, Z, AA, …"""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def heads(matrix: Matrix) -> list[list[str]]:
    """A line for each device: its letter, name, firmware, and how many rows have which verdict."""
    verdicts = [verdict for verdict in VERDICTS if any(column.counts[verdict] for column in matrix.columns)]
    missing = any(column.not_run for column in matrix.columns)
    told = any(column.whole is not None for column in matrix.columns)
    lines = [["", "device", "firmware", *verdicts, *["not run"] * missing, *[""] * told]]
    for letter, column in zip(letters(matrix), matrix.columns, strict=True):
        counts = [str(column.counts[verdict] or "") for verdict in verdicts]
        whole = column.whole
        said = "" if whole is None else f"{whole.verdict}: {whole.code} {whole.message}"
        label = plain(column.label)
        lines.append(
            [
                letter,
                label,
                plain(column.firmware),
                *counts,
                *[str(column.not_run or "")] * missing,
                *[plain(said)] * told,
            ]
        )
    return lines


def _table(lines: Sequence[Sequence[str]]) -> list[str]:
    """Columns side by side; the last one as long as it is."""
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
