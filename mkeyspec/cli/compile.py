"""`mkeyspec compile`: write the pytest modules of `.mks` files."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from mkeyspec.cli import warning_options
from mkeyspec.cli.findings import once, summary
from mkeyspec.cli.options import add_generated, add_paths, command, path_or_none
from mkeyspec.cli.sources import given_paths, named_paths, sources_of
from mkeyspec.files.project import project_of
from mkeyspec.project.settings import checked_settings
from mkeyspec.store import Result, Store

_EXAMPLE = """\
example: take the cases to a machine that has only Python, pytest and mkeyspec
  $ mkeyspec compile cases && rsync -a generated lab:
  lab$ pytest generated --device model
Only what is out of date is written. Exit code: 0, 2 with errors, 3 if there is no .mks file."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    compile = command(commands, "compile", _compile, "write the pytest modules of .mks files", _EXAMPLE)
    add_paths(compile)
    add_generated(compile)
    warning_options.add(compile)
    compile.add_argument("--force", action="store_true", help="write every module, also those that are up to date")


def _compile(options: argparse.Namespace) -> int:
    from mkeyspec.diagnostics import render

    sources = sources_of(options.paths)
    place = project_of(named_paths(options.paths))
    settings = checked_settings(place.settings)
    levels = warning_options.levels(options, settings)
    usual = place.generated if place.shipped else settings.generated
    store = Store(place.root, path_or_none(options.generated) or usual, levels)
    results: list[Result] = [store.compile(path, force=options.force) for path in sources]
    for path in given_paths(options.paths):
        if path.is_dir():
            store.remove_orphans(path)
    found = once(result.diagnostics for result in results)
    sys.stderr.write(render.text(found, sys.stderr.isatty() and "NO_COLOR" not in os.environ))
    for result in results:
        if result.compiled is None:
            sys.stderr.write("".join(f"{line}\n" for line in result.warnings))
    for result in results:
        if result.state == "written" and result.module is not None:
            print(os.path.relpath(result.module))
    fresh = sum(result.state == "fresh" for result in results)
    return summary(f"compiled ({fresh} up to date)" if fresh else "compiled", sources, found)
