"""`mkeyspec lsp`: the language server, for editors."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from typing import Any

from mkeyspec.cli.options import command
from mkeyspec.cli.session import Failure

_EXAMPLE = """\
An editor starts it, and talks to it on standard input and output: docs/howto/editor.md.
example:
  $ pip install 'mkeyspec[lsp]'
  $ mkeyspec lsp
Exit code: 0 if the editor has shut it down, 1 if it went away, 2 if pygls is missing."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    lsp = command(commands, "lsp", _lsp, "the language server, for editors", _EXAMPLE)
    lsp.add_argument("--stdio", action="store_true", help="talk on standard input and output, which is always so")


def _lsp(options: argparse.Namespace) -> int:
    if find_spec("pygls") is None:
        raise Failure("MKS0956", "the language server needs pygls: pip install 'mkeyspec[lsp]'")
    from mkeyspec.language_server.server import serve_stdio

    code = serve_stdio()
    sys.stdout.flush()
    sys.stderr.flush()
    # A compilation may run in a thread; nothing waits for it.
    os._exit(code) if options.whole else None
    return code
