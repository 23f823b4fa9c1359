"""The command line: check, compile, run, judge, report, compare, list, explain, draw, new, doctor, generate, repro…

Exit codes:
  0    all is well; of `run`: at least one row came to a verdict, and each verdict is passed or known
  1    a row failed, was blocked or was lost
  2    bad input or usage: errors in a `.mks` file, a wrong option, an unknown device, a directory
       that can't be written
  3    nothing to do: no case was selected, or every one was skipped
  4    mkeyspec or pytest itself failed
  130  interrupted
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from mkeyspec import __version__
from mkeyspec.cli import stream
from mkeyspec.cli.session import INTERNAL, INTERRUPTED, USAGE, Failure, told
from mkeyspec.files.project import OtherCheckout, Unreadable
from mkeyspec.files.toml_places import TomlError
from mkeyspec.files.unwritable import Unwritable

_COMMANDS = (
    "check",
    "compile",
    "run",
    "judge",
    "report",
    "compare",
    "list",
    "explain",
    "draw",
    "new",
    "fmt",
    "lsp",
    "doctor",
    "calibrate",
    "requirements",
    "sabotage",
    "generate",
    "search",
    "shrink",
    "repro",
    "ticket",
    "softnic",
    "completion",
)
"""In the order that `mkeyspec --help` shows. Each is a module of this package with a function `add`. Only the module of
the command that is called is imported: all take half a second, and an editor or a script calls one at a time."""

_VERSION = frozenset({"--version", "-V"})
"""Behind a command, too: `run` passes on what it does not know, and pytest would print its own version."""

_EXITS = "\n".join((__doc__ or "").split("\n")[2:])

_EXAMPLE = f"""\
example: the first case
  $ cat cases/first.mks
  mks 1
  suite "my first suite"

  case strip_on_transmit
      verifies SIG-07, CRC-08
      for crc in crc32, crc32c
      let d = crc(ones) every 512
      memory src = framed(counter(1024), d)
      mkey k {{ block_signature }}
      configure k {{ layout list(src); signature {{ mem d }} }}
      transmit k by send
      expect wire == counter(1024)

  $ mkeyspec check cases/first.mks
  $ mkeyspec run cases/first.mks
  $ mkeyspec run cases -k crc32c -n 2
  $ mkeyspec explain MKS2101

{_EXITS}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    if arguments is None:  # this process is ours
        stream.make_lasting()
    for one in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            one.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # not of a replaced stream
    try:
        _stand_somewhere()
        words = list(sys.argv[1:] if arguments is None else arguments)
        parser = _parser(words[0] if words else None)
        options, rest = parser.parse_known_args(words)
        # argparse leaves a path that follows an option among the rest.
        paths = [word for word in rest if not word.startswith("-")] if "paths" in options else []
        options.paths = [*getattr(options, "paths", ()), *paths]
        options.rest = [word for word in rest if word not in paths]
        if not _VERSION.isdisjoint(options.rest):
            print(f"mkeyspec {__version__}")
            return 0
        if options.rest and not getattr(options, "passes_on", False):
            parser.error(f"unrecognized arguments: {' '.join(options.rest)}")
        # Whether this process's own command line says all there is to do, should it have to start itself again.
        options.whole = arguments is None
        options.typed = words
        return told(options.command(options))
    except (Failure, Unwritable, Unreadable, OtherCheckout) as error:
        print(f"mkeyspec: {error}", file=sys.stderr)
        return USAGE
    except TomlError as error:  # a line each, with its place
        print(error, file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # an error of ours: what a user can do about it is to report it
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
        print(f"mkeyspec: error[MKS0999]: mkeyspec itself failed; please report it: {what}", file=sys.stderr)
        if os.environ.get("MKEYSPEC_TRACEBACK"):
            traceback.print_exception(error)
        return INTERNAL


def _parser(command: str | None = None) -> argparse.ArgumentParser:
    """With this command, or with all of them if `command` is the name of none."""
    parser = argparse.ArgumentParser(
        prog="mkeyspec",
        description="Cases for mlx5 memory keys, in their own language: checked, compiled to pytest, and run.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"mkeyspec {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    needed = [command] if command in _COMMANDS else [] if command == "--version" else _COMMANDS
    for name in needed:
        importlib.import_module(f"mkeyspec.cli.{name}").add(commands)
    return parser


def _stand_somewhere() -> None:
    try:
        Path.cwd()
    except FileNotFoundError:
        raise Failure("MKS0903", "the current directory was removed; go to one that is there") from None
