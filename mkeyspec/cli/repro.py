"""`mkeyspec repro`: a row as a program of its own, for a ticket."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from mkeyspec.cli.options import command
from mkeyspec.cli.output_file import write
from mkeyspec.cli.results import run_at, runs_of
from mkeyspec.cli.row import Item, row_of
from mkeyspec.cli.session import OK, Failure
from mkeyspec.files.project import project_of
from mkeyspec.report.place import streams_in
from mkeyspec.report.record import Result

_EXAMPLE = """\
example:
  $ mkeyspec repro 'cases/signature/crc.mks::strip_on_transmit[crc=crc32c,n=3]' -o repro.c
  $ cc -Wall -Wextra -Werror repro.c -libverbs -lmlx5 && ./a.out mlx5_0
  $ mkeyspec softnic exec -- ./a.out
  $ mkeyspec repro 'cases/signature/crc.mks::strip_on_transmit[crc=crc32c,n=3]' --language python -o repro.py
  $ python3 repro.py mlx5_0
Exit code: 0 if a program was written, 2 for wrong input."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(commands, "repro", _repro, "a row as a stand-alone program in C or Python", _EXAMPLE)
    parser.add_argument("item", metavar="ID", help="as a report names it: FILE::CASE[ROW]")
    parser.add_argument(
        "--language", choices=("c", "python"), default="c", help="C over libmlx5, or Python over pyverbs (default: c)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (default: stdout)")
    parser.add_argument(
        "--results", metavar="FILE", help="a stream of results that says what was got (default: the newest)"
    )
    parser.add_argument("--device-profile", metavar="FILE", help="TOML: the device's implementation-defined points")


def _repro(options: argparse.Namespace) -> int:
    from mkeyspec.device.profile.profile import Profile, ProfileError, load
    from mkeyspec.repro.program import Subject
    from mkeyspec.repro.python.language import Lacking
    from mkeyspec.repro.trace import Unsayable
    from mkeyspec.repro.writer import Writer

    item = row_of(options.item)
    got = _got(options, item)
    try:
        profile = load(Path(options.device_profile)) if options.device_profile else Profile()
    except ProfileError as error:
        raise Failure("MKS0904", str(error)) from None
    id = f"{item.source}::{item.case.name}" + (f"[{item.row.id}]" if item.row.id else "")
    subject = Subject(item.case, item.row, id, item.source, Path(item.path), profile, got)
    try:
        writer = Writer(subject, options.language)
        text = writer.text()
    except Lacking as error:
        place = f"{item.path}:{error.at.line}:{error.at.column}"
        raise Failure("MKS0948", f"{place}: pyverbs lacks {error}; --language c writes it in C") from None
    except Unsayable as error:
        raise Failure(
            "MKS0947", f"{item.path}:{error.at.line}:{error.at.column}: no program says this: {error}"
        ) from None
    if options.output is None:
        sys.stdout.write(text)
    else:
        write(Path(options.output), text.encode(), "-o")
    if writer.cut:
        print(f"mkeyspec: the program ends early: {writer.cut}", file=sys.stderr)
    return OK


def _got(options: argparse.Namespace, item: Item) -> tuple[str, ...]:
    """What was got where the row failed: of the stream that is named, or of the newest one."""
    if options.results is not None:
        run = runs_of([options.results])[0]
    else:
        streams = streams_in(project_of().reports)
        if not streams:
            return ()
        try:
            run = run_at(streams[-1])
        except Failure:  # the command line does not name it
            return ()
    row = f"[{item.row.id}]" if item.row.id else ""
    for id in (f"{item.source}::{item.case.name}{row}", options.item):
        found = run.results.get(id)
        if found is not None and found.verdict == "failed":
            return tuple(_said(found, run.device.device, run.device.firmware))
    return ()


def _said(result: Result, device: str, firmware: str) -> list[str]:
    lines = [f"It failed on {device}{f', firmware {firmware}' if firmware else ''}:"]
    lines.append(f"{result.code} at line {result.line}: {result.message}")
    difference = result.difference
    if difference is not None:
        lines += [f"expected {_bytes(difference.expected)}", f"got      {_bytes(difference.got)}"]
    return lines


def _bytes(text: str) -> str:
    data = text.replace(" ", "")[:64]
    return " ".join(data[at : at + 2] for at in range(0, len(data), 2))
