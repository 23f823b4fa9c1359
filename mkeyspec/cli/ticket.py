"""`mkeyspec ticket`: one archive with what a vendor's support asks for."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mkeyspec.cli import ticket_machine, ticket_rows
from mkeyspec.cli.options import command
from mkeyspec.cli.output_file import write
from mkeyspec.cli.results import runs_of
from mkeyspec.cli.session import NOTHING, OK, Failure
from mkeyspec.diagnostics.suggest import did_you_mean
from mkeyspec.files.project import project_of
from mkeyspec.report.causes import causes_of
from mkeyspec.report.reader import Run, file_of
from mkeyspec.report.record import WRONG, Result
from mkeyspec.report.rows import results_of
from mkeyspec.ticket.archive import SUFFIXES, packed
from mkeyspec.ticket.contents import Contents
from mkeyspec.ticket.redact import Redaction

_EXAMPLE = """\
example:
  $ mkeyspec ticket                              # rows of the last run that went wrong, into ticket.tar.gz
  $ mkeyspec ticket 'cases/signature/crc.mks::published_values[crc=crc32c]' -o crc.zip
  $ mkeyspec ticket --results reports/20261124-101500-mlx5_0-1f3a --redact
The device is not opened. README.md in the archive says what each file is, and what could not be read.
Exit code: 0 if an archive was written, 2 for wrong input, 3 if no row went wrong."""
_USUAL = 10
_REDACTED = "Host names, MAC and IP addresses, GIDs and serial numbers were replaced (`--redact`)."
_NOT_REDACTED = "Host names, addresses, GIDs and serial numbers may be in it: `mkeyspec ticket --redact` replaces them."


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(commands, "ticket", _ticket, "one archive with what a vendor's support asks for", _EXAMPLE)
    parser.add_argument("rows", metavar="ID", nargs="*", help="rows of the run (default: those that went wrong)")
    parser.add_argument("--results", metavar="RUN", help="a run, or its results.ndjson (default: the last run)")
    parser.add_argument(
        "--most", metavar="N", type=int, default=_USUAL, help=f"rows, if none is named (default: {_USUAL})"
    )
    parser.add_argument(
        "--redact", action="store_true", help="replace host names, MAC and IP addresses, GIDs, serial numbers"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="ticket.tar.gz", help="*.tar.gz or *.zip (default: ticket.tar.gz)"
    )


def _ticket(options: argparse.Namespace) -> int:
    if not options.output.endswith(SUFFIXES):
        raise Failure("MKS0905", f"-o {options.output}: name an archive, {', '.join(f'*{one}' for one in SUFFIXES)}")
    if options.most < 1:
        raise Failure("MKS0905", f"--most {options.most}: a ticket has a row at least")
    run = _one_device(runs_of([options.results] if options.results is not None else []))
    wrong = _wrong(run)
    chosen = _named(run, options.rows) if options.rows else _first_of_causes(run, wrong, options.most)
    if not chosen:
        print(
            f"mkeyspec: no row of {run.begin.run} went wrong; name the rows that the ticket is about", file=sys.stderr
        )
        return NOTHING
    contents = _contents(run, chosen, wrong)
    redaction = Redaction([platform.node(), run.begin.host]) if options.redact else None
    path = Path(options.output)
    name = path.name.removesuffix(next(one for one in SUFFIXES if path.name.endswith(one))) or "ticket"
    files = contents.written(_head(run, chosen, wrong, redacted=options.redact), redaction)
    write(path, packed(path.name, files, name), "-o")
    rows = "1 row" if len(chosen) == 1 else f"{len(chosen)} rows"
    left = f" of {len(wrong)} that went wrong" if len(wrong) > len(chosen) and not options.rows else ""
    lacks = f"; {len(contents.missing)} things could not be read, see README.md" if contents.missing else ""
    print(f"mkeyspec: {os.path.relpath(path)}: {len(files)} files, {rows}{left}{lacks}")
    return OK


def _wrong(run: Run) -> list[Result]:
    return [one for one in results_of(run) if one.verdict in WRONG and "::" in one.id]


def _one_device(runs: Sequence[Run]) -> Run:
    """A ticket is about one device. Of a run in a lab: the only one with rows that went wrong. Raises Failure
    (MKS0905) if there are several."""
    counts = {one.path.parent: len(_wrong(one)) for one in runs}
    candidates = [one for one in runs if counts[one.path.parent]] or list(runs)
    if len(candidates) == 1:
        return candidates[0]
    choices = ", ".join(
        f"--results {os.path.relpath(path)} ({counts[path]} {'row' if counts[path] == 1 else 'rows'} went wrong)"
        for path in (one.path.parent for one in candidates)
    )
    raise Failure("MKS0905", f"the run has {len(runs)} devices, and a ticket is about one: {choices}")


def _named(run: Run, ids: Sequence[str]) -> list[Result]:
    """Raises Failure (MKS0907) for a row that the run does not have."""
    for id in ids:
        if id not in run.results:
            near = did_you_mean(id, list(run.results))
            raise Failure("MKS0907", f"{run.begin.run} has no row {id!r}{f'; {near}' if near else ''}")
    return [run.results[id] for id in dict.fromkeys(ids)]


def _first_of_causes(run: Run, wrong: Sequence[Result], most: int) -> list[Result]:
    """The simplest row of each cause, then the second one of each: at most so many."""
    causes = [cause.results for cause in causes_of((run, one) for one in wrong)]
    turns = max(map(len, causes), default=0)
    ordered = [rows[turn] for turn in range(turns) for rows in causes if turn < len(rows)]
    return [one for one in ordered if one.verdict != "blocked"][:most] or ordered[:most]


def _contents(run: Run, chosen: Sequence[Result], wrong: Sequence[Result]) -> Contents:
    from mkeyspec.device.profile.profile import Profile, ProfileError, load

    contents = Contents()
    root = project_of().root
    about: dict[str, Any] = {"run": run.begin, "device": run.device, "end": run.end}
    text = json.dumps({name: dataclasses.asdict(one) for name, one in about.items() if one is not None}, indent=2)
    contents.add("run/about.json", text + "\n", "device, firmware, capabilities, options and host of the run")
    failures = "".join(f"{one.verdict:<8} {one.code:<8} {one.id}  {one.message}\n" for one in wrong)
    contents.add("run/failures.txt", failures, "all rows of the run that went wrong, one line each")
    ticket_machine.add(contents, run)
    profile = Profile()
    named = run.begin.device_profile
    try:
        profile = load(Path(named)) if named else profile
    except ProfileError as error:
        contents.lacks(f"the device profile {named}", str(error))
    points = {name: repr(value) for name, value in dataclasses.asdict(profile).items()}
    what = (
        f"the device profile of the run, `{named}`: every point"
        if named
        else "the device profile: the default, every point"
    )
    contents.add("run/device-profile.json", json.dumps(points, indent=2) + "\n", what)
    for number, name in enumerate(run.begin.expectations, 1):
        try:
            contents.add(f"run/expectations-{number}.toml", Path(name).read_bytes(), f"known departures: `{name}`")
        except OSError as error:
            contents.lacks(f"the expectations {name}", error.strerror or str(error))
    for number, one in enumerate(chosen, 1):
        ticket_rows.add(contents, run, one, number, root, profile)
    return contents


def _head(run: Run, chosen: Sequence[Result], wrong: Sequence[Result], *, redacted: bool) -> list[str]:
    device = run.device
    firmware = f", firmware {device.firmware}" if device.firmware else ""
    lines = [
        f"# {device.device or run.begin.device}: {len(chosen)} of {len(wrong)} rows that went wrong",
        "",
        f"Run {run.begin.run}, {run.begin.started}, mkeyspec {run.begin.mkeyspec}{firmware}.",
        "",
        "| row | verdict | code | says |",
        "| --- | --- | --- | --- |",
    ]
    lines += [f"| `{one.id}` | {one.verdict} | {one.code} | {one.message} |" for one in chosen]
    files = ", ".join(dict.fromkeys(f"`{file_of(one.id)}`" for one in chosen))
    return [
        *lines,
        "",
        (
            "`rows/` has a folder for each of them, with a program that shows the failure without mkeyspec; "
            f"`sources/` has {files}."
        ),
        "",
        "## What is secret",
        "",
        "No credential, no key of a login, no environment variable. Of buffers only the bytes that a failure shows.",
        "Encryption keys that a case writes itself are in its source, its module and its program.",
        _REDACTED if redacted else _NOT_REDACTED,
        "",
    ]
