"""`--allow` and `--deny` on the command lines of mkeyspec: which warnings are not shown, and which are errors."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mkeyspec.cli.session import Failure
from mkeyspec.files.settings import Settings
from mkeyspec.project.settings import levels_of

if TYPE_CHECKING:
    from mkeyspec.compiler.warning_levels import Levels


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--allow", metavar="MKS06nn", action="append", default=[], help="don't show this warning")
    parser.add_argument(
        "--deny",
        metavar="MKS06nn",
        action="append",
        default=[],
        help="make this warning an error; --deny warnings: each of them",
    )


def levels(options: argparse.Namespace, settings: Settings) -> Levels:
    """The levels that the options set, and the project beside them. Raises Failure for a code that is not a warning."""
    from mkeyspec.compiler.warning_levels import Levels

    try:
        return levels_of(settings, Levels.of(options.allow, options.deny))
    except ValueError as error:
        raise Failure("MKS0923", str(error)) from None
