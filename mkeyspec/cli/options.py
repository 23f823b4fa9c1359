"""Options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def command(commands: Any, name: str, function: Any, help: str, example: str) -> argparse.ArgumentParser:
    """A new subparser; `function` carries the command out, and returns the exit code."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=example,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=function)
    return parser


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Add the paths that the command works on."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: cases)")


def add_generated(parser: argparse.ArgumentParser) -> None:
    """Where the generated modules are."""
    parser.add_argument("--generated", metavar="DIR", help="where the modules are kept (default: generated/)")


def path_or_none(name: str | None) -> Path | None:
    """The path that an option names, if it was given."""
    return Path(name) if name is not None else None
