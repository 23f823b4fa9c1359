"""`mkeyspec check`: find the errors of `.mks` files."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from mkeyspec import __version__
from mkeyspec.cli import warning_options
from mkeyspec.cli.findings import once, summary
from mkeyspec.cli.options import add_paths, command
from mkeyspec.cli.sources import named_paths, sources_of
from mkeyspec.files.project import project_of
from mkeyspec.project_settings import checked_settings
from mkeyspec.store import at_levels, compile_source

_EXAMPLE = """\
example:
  $ mkeyspec check cases
  $ mkeyspec check --format github cases     # annotations in a workflow
Exit code: 0 without errors (warnings may be there), 2 with errors, 3 if there is no .mks file."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    check = command(commands, "check", _check, "find the errors of .mks files", _EXAMPLE)
    add_paths(check)
    warning_options.add(check)
    check.add_argument("--format", choices=("text", "json", "github", "sarif"), default="text", help="default: text")


def _check(options: argparse.Namespace) -> int:
    from mkeyspec.diagnostics import render

    sources, place = sources_of(options.paths), project_of(named_paths(options.paths))
    levels = warning_options.levels(options, checked_settings(place.settings))
    found = once(at_levels(compile_source(path, place.root), levels).diagnostics for path in sources)
    colour = options.format == "text" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    sys.stdout.write(render.render(found, options.format, colour=colour, version=__version__))
    return summary("checked", sources, found)
