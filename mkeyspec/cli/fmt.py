"""`mkeyspec fmt`: write `.mks` files as all are written."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkeyspec import __version__
from mkeyspec.cli import fixes
from mkeyspec.cli.findings import count_of, once
from mkeyspec.cli.options import add_paths, command
from mkeyspec.cli.session import FAILED, NOTHING, OK, USAGE
from mkeyspec.cli.sources import named_paths, sources_of
from mkeyspec.files.project import project_of

if TYPE_CHECKING:
    from mkeyspec.diagnostics.diagnostic import Diagnostic

_EXAMPLE = """\
example:
  $ mkeyspec fmt cases             # format the files
  $ mkeyspec fmt --check cases     # name those that are not formatted, write nothing
  $ mkeyspec fmt --diff cases      # show what would change, write nothing
  $ mkeyspec fmt - < cases/a.mks   # from standard input to standard output
Exit code: 0 if all is formatted (now), 1 of --check and --diff if something is not, 2 if a file can't be parsed (it is
left as it is), 3 if there is no .mks file."""

STDIN = "-"


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    fmt = command(commands, "fmt", _fmt, "format .mks files: blanks, empty lines, columns", _EXAMPLE)
    add_paths(fmt)
    only = fmt.add_mutually_exclusive_group()
    only.add_argument("--check", action="store_true", help="name the files that are not formatted, and write nothing")
    only.add_argument("--diff", action="store_true", help="show what would change, and write nothing")


def _fmt(options: argparse.Namespace) -> int:
    if options.paths == [STDIN]:
        return _standard_input(options)
    sources, root = sources_of(options.paths), project_of(named_paths(options.paths)).root
    done: list[fixes.Corrected] = []
    found: list[Diagnostic] = []
    for path in sources:
        one = _formatted(path, root, None)
        found += one.left
        done += [one] if one.before != one.after else []
    if options.diff:
        sys.stdout.write("".join(one.difference() for one in done))
    elif options.check:
        sys.stdout.write("".join(f"{os.path.relpath(one.path)}\n" for one in done))
    else:
        for one in done:
            fixes.writable(one.path)
        for one in done:
            fixes.write(one)
    looked = options.diff or options.check
    _report(found)
    unread = len({one.span.source.name for one in found})
    rest = len(sources) - len(done) - unread
    are = ("is as it should be" if rest == 1 else "are as they should be") if looked else ""
    said = [
        f"{count_of(len(done), 'file')} {'would be ' if looked else ''}formatted",
        f"{rest} {are or ('left as it is' if rest == 1 else 'left as they are')}",
    ]
    if unread:
        said.append(f"{unread} can't be parsed")
    print(f"mkeyspec: {', '.join(said)}", file=sys.stderr)
    if unread:
        return USAGE
    return FAILED if looked and done else OK if sources else NOTHING


def _standard_input(options: argparse.Namespace) -> int:
    """Format standard input; nothing is printed of a text that can't be parsed."""
    one = _formatted(Path("stdin.mks"), Path.cwd(), sys.stdin.buffer.read())
    if one.left:
        _report(one.left)
        return USAGE
    if options.diff:
        sys.stdout.write(one.difference())
    elif not options.check:
        sys.stdout.flush()
        sys.stdout.buffer.write(one.after)
        sys.stdout.flush()
    return FAILED if (options.check or options.diff) and one.before != one.after else OK


def _formatted(path: Path, root: Path, raw: bytes | None) -> fixes.Corrected:
    """The file with its formatted text; or as it is, with the errors because of which it can't be parsed."""
    from mkeyspec.compiler.loader import read
    from mkeyspec.compiler.used_file import source_name
    from mkeyspec.diagnostics.diagnostic import Diagnostics
    from mkeyspec.formatter.format import formatted
    from mkeyspec.syntax.parser import parse

    diagnostics = Diagnostics()
    source = read(path, source_name(path, root), diagnostics, raw)
    if source is None or parse(source, diagnostics) is None or diagnostics.errors:
        return fixes.Corrected(path, b"", b"", list(diagnostics.errors))
    mark = fixes.MARK if source.raw.startswith(fixes.MARK) else b""
    return fixes.Corrected(path, source.raw, mark + formatted(source.text).encode("utf-8"))


def _report(found: Sequence[Diagnostic]) -> None:
    from mkeyspec.diagnostics import render

    colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    sys.stderr.write(render.render(once([found]), "text", colour=colour, version=__version__))
