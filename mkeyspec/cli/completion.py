"""`mkeyspec completion`: what a shell needs to complete commands, options and files."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mkeyspec.cli.options import command
from mkeyspec.cli.session import OK

SHELLS = ("bash", "zsh", "fish")

_EXAMPLE = """\
example:
  $ mkeyspec completion bash > ~/.local/share/bash-completion/completions/mkeyspec
  $ mkeyspec completion zsh > ~/.zfunc/_mkeyspec       # a folder of $fpath
  $ mkeyspec completion fish > ~/.config/fish/completions/mkeyspec.fish"""

_FILES = ("PATH", "FILE", "RUN", "BUNDLE", "ID")
_FOLDERS = ("DIR",)


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(commands, "completion", _completion, "print the completion of a shell", _EXAMPLE)
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def _completion(options: argparse.Namespace) -> int:
    import shtab

    from mkeyspec.cli.entry import _parser

    parser = _parser()
    for one in _all(parser):
        for action in one._actions:
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab's own mark
            elif action.metavar in _FOLDERS:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    sys.stdout.write(shtab.complete(parser, shell=options.shell))
    return OK


def _all(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The parser, and those of its commands."""
    found = [parser]
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for inner in action.choices.values():
                found += _all(inner)
    return found
