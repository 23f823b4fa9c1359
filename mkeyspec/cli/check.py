"""`mkeyspec check`: find the errors of `.mks` files, and correct those that have one correction."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkeyspec import __version__
from mkeyspec.cli import fixes, warning_options
from mkeyspec.cli.findings import count_of, once, summary
from mkeyspec.cli.options import add_paths, command
from mkeyspec.cli.session import FAILED
from mkeyspec.cli.sources import named_paths, sources_of
from mkeyspec.files.project import project_of
from mkeyspec.project.settings import checked_settings
from mkeyspec.project.source import at_levels, compile_source

if TYPE_CHECKING:
    from mkeyspec.compiler.warning_levels import Levels
    from mkeyspec.diagnostics.diagnostic import Diagnostic

_EXAMPLE = """\
example:
  $ mkeyspec check cases
  $ mkeyspec check --format github cases     # annotations in a workflow
  $ mkeyspec check --fix cases               # correct what has one correction
  $ mkeyspec check --diff cases              # show these corrections, write nothing
Exit code: 0 without errors (warnings may be there), 2 with errors, 3 if there is no .mks file. --fix: of what is left.
--diff: 1 if there is something to correct."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    check = command(commands, "check", _check, "find the errors of .mks files", _EXAMPLE)
    add_paths(check)
    warning_options.add(check)
    check.add_argument("--format", choices=("text", "json", "github", "sarif"), default="text", help="default: text")
    check.add_argument("--fix", action="store_true", help="write the corrections that findings carry into the files")
    check.add_argument("--diff", action="store_true", help="show what --fix would change, and write nothing")


def _check(options: argparse.Namespace) -> int:
    sources, place = sources_of(options.paths), project_of(named_paths(options.paths))
    levels = warning_options.levels(options, checked_settings(place.settings))
    more = ""
    if options.diff:
        shown = [done for path in sources if (done := _corrected(path, place.root, levels)).count]
        sys.stdout.write("".join(done.difference() for done in shown))
        if shown:
            print(f"mkeyspec: {_said(shown)}, nothing is written", file=sys.stderr)
            return FAILED
    elif options.fix:
        more = _fix(sources, place.root, levels)
    found = once(_findings(path, place.root, levels) for path in sources)
    _show(found, options.format)
    return summary("checked", sources, found, more)


def _findings(path: Path, root: Path, levels: Levels, instead: bytes | None = None) -> list[Diagnostic]:
    return list(at_levels(compile_source(path, root, instead=instead), levels).diagnostics)


def _show(found: Sequence[Diagnostic], format: str) -> None:
    from mkeyspec.diagnostics import render

    colour = format == "text" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    sys.stdout.write(render.render(found, format, colour=colour, version=__version__))


def _corrected(path: Path, root: Path, levels: Levels) -> fixes.Corrected:
    """The file with its corrections; one that can't be read has none, and is reported when it is checked."""
    try:
        before = path.read_bytes()
    except OSError:
        return fixes.Corrected(path, b"", b"")
    return fixes.correct(path, before, lambda raw: _findings(path, root, levels, raw))


def _fix(sources: Sequence[Path], root: Path, levels: Levels) -> str:
    """Correct the files; what was done. Raises Failure before the first is written if one is read-only."""
    done = [one for path in sources if (one := _corrected(path, root, levels)).count]
    for one in done:
        fixes.writable(one.path)
    for one in done:
        fixes.write(one)
    return _said(done) if done else "nothing to correct"


def _said(done: Sequence[fixes.Corrected]) -> str:
    return f"{count_of(sum(one.count for one in done), 'correction')} in {count_of(len(done), 'file')}"
