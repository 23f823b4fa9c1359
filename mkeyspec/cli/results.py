"""Results of runs on the command line: which streams are meant, and reports as files."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mkeyspec.cli.output_file import write
from mkeyspec.cli.session import Failure
from mkeyspec.files.project import project_of
from mkeyspec.report import reader
from mkeyspec.report.place import FILE, newest, streams_of
from mkeyspec.report.reader import Run


def runs_of(names: Sequence[str]) -> list[Run]:
    """The runs of these names, or the newest one; of a lab, one for each device. Raises Failure."""
    return [run for group in groups_of(names) for run in group]


def groups_of(names: Sequence[str]) -> list[list[Run]]:
    """Of each name its run, or those of a lab; without a name, of the newest one. Raises Failure."""
    reports = project_of().reports
    if not names:
        streams = newest(reports)
        if not streams:
            text = f"there are no results below {os.path.relpath(reports)}; run some cases, or name a results.ndjson"
            raise Failure("MKS0903", text)
        return [[run_at(stream) for stream in streams]]
    return [[run_at(stream) for stream in _streams_of(name, reports)] for name in names]


def run_at(path: Path) -> Run:
    try:
        return reader.read(path)
    except reader.Unusable as error:
        raise Failure(error.code, str(error).partition(": ")[2]) from None


def _streams_of(name: str, reports: Path) -> list[Path]:
    path = Path(name)
    for place in (path / FILE, path, reports / name / FILE):
        if place.is_file() or (place.exists() and not place.is_dir()):  # a pipe, too
            return [place]
    for folder in (path, reports / name):
        if streams := streams_of(folder):
            return streams
    raise Failure("MKS0903", f"no such results: {name}")


def put(output: str | None, data: bytes) -> None:
    """To a file, or to standard output."""
    if output is not None:
        write(Path(output), data, "--output")
        return
    sys.stdout.write(data.decode())
