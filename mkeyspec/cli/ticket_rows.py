"""What a ticket has of each row: what was said of it, its calls, counters, source, module and reproducer."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mkeyspec import __version__
from mkeyspec.cli.session import Failure
from mkeyspec.cli.ticket_machine import counter_lines
from mkeyspec.files import resource
from mkeyspec.report.reader import Run, file_of
from mkeyspec.report.record import Result, line_of
from mkeyspec.ticket.contents import Contents

if TYPE_CHECKING:
    from mkeyspec.cli.row import Item
    from mkeyspec.device.profile.profile import Profile

_LANGUAGES: tuple[tuple[Literal["c", "python"], str, str], ...] = (
    ("c", "repro.c", "the row as a program in C (`cc repro.c -libverbs -lmlx5`)"),
    ("python", "repro.py", "the row as a program in Python, over pyverbs"),
)
_LONGEST = 40


def add(contents: Contents, run: Run, result: Result, number: int, root: Path, profile: Profile) -> str:
    """The folder of this row."""
    folder = f"rows/{number:02}-{re.sub(r'[^A-Za-z0-9]+', '-', result.id.partition('::')[2])[:_LONGEST].strip('-')}"
    contents.add(f"{folder}/result.json", _json(result), f"the result of `{result.id}`")
    if result.text:
        contents.add(f"{folder}/failure.txt", result.text + "\n", "what `mkeyspec run` said of it")
    if result.id in run.calls:
        lines = "\n".join(run.calls[result.id]) + "\n"
        what = "what was posted and polled, and every other call: milliseconds, call, what it gave"
        contents.add(f"{folder}/calls.txt", lines, what)
    else:
        contents.lacks(f"calls of `{result.id}`", _why_no_calls(result))
    _add_machine(contents, run, result, folder)
    try:
        item = _item(result.id, root)
    except Failure as error:
        contents.lacks(f"source, module and reproducer of `{result.id}`", str(error))
        return folder
    _add_sources(contents, run, item)
    what = "the module that is generated of this row: typed steps with their lines"
    contents.add(f"{folder}/module.py", _module(item), what)
    for language, name, what in _LANGUAGES:
        _add_program(contents, item, language, profile, (f"{folder}/{name}", what), result)
    return folder


def _json(result: Result) -> str:
    return json.dumps(json.loads(line_of(replace(result, text=""))), indent=2) + "\n"


def _why_no_calls(result: Result) -> str:
    if result.verdict == "lost":
        return "its process ended, and they were in its memory"
    if result.verdict == "blocked":
        return "it was not run"
    return "they are kept of a row that fails on a device under a driver, of the first 200"


def _add_machine(contents: Contents, run: Run, result: Result, folder: str) -> None:
    look = next((one for one in run.machine if one.row == result.id), None)
    if look is None:
        return
    since = f"the look after `{look.since}`" if look.since else "the start of the run"
    if look.after:
        contents.add(
            f"{folder}/counters.txt", counter_lines(look), f"counters that changed since {since}: before, after"
        )
    if look.kernel:
        contents.add(f"{folder}/kernel.txt", "\n".join(look.kernel) + "\n", f"lines of the kernel's log since {since}")


def _item(id: str, root: Path) -> Item:
    """The row in the files of today. Raises Failure."""
    from mkeyspec.cli.row import row_of

    file = file_of(id)
    own = root / file
    path = own if own.is_file() else resource.directory("cases").parent / file
    return row_of(f"{os.path.relpath(path)}::{id.partition('::')[2]}")


def _add_sources(contents: Contents, run: Run, item: Item) -> None:
    for source in item.loaded.inputs:
        path = f"sources/{source.name.lstrip('/')}"
        if path not in contents.files:
            contents.add(path, source.text, "a source of the rows")
            if _is_newer(source.path, run.begin.started):
                contents.lacks(f"`{source.name}` as it was in the run", "it was written after the run began")


def _is_newer(path: Path | None, started: str) -> bool:
    """Whether a source was written after the run began."""
    with suppress(OSError, ValueError):
        began = datetime.fromisoformat(started.replace("Z", "+00:00"))
        return path is not None and path.stat().st_mtime > began.timestamp()
    return False


def _module(item: Item) -> str:
    from mkeyspec import plan
    from mkeyspec.emit.header import Header
    from mkeyspec.emit.writer import write

    suite = plan.Suite(item.source, "", (replace(item.case, rows=(item.row,)),))
    return write(suite, Header(item.source, (), "", "", __version__))


def _add_program(
    contents: Contents,
    item: Item,
    language: Literal["c", "python"],
    profile: Profile,
    where: tuple[str, str],
    result: Result,
) -> None:
    from mkeyspec.repro.program import Subject
    from mkeyspec.repro.python.language import Lacking
    from mkeyspec.repro.trace import Unsayable
    from mkeyspec.repro.writer import Writer

    id = f"{item.source}::{item.case.name}" + (f"[{item.row.id}]" if item.row.id else "")
    subject = Subject(item.case, item.row, id, item.source, Path(item.path), profile, ())
    try:
        contents.add(where[0], Writer(subject, language).text(), where[1])
    except Lacking as error:
        contents.lacks(f"`{where[0]}`", f"pyverbs lacks {error}")
    except Unsayable as error:
        contents.lacks(f"`{where[0]}`", f"no program says this: {error}")
