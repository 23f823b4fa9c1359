"""The command line: `main` is the entry point of the command `mkeyspec`."""

from mkeyspec.cli.entry import main

__all__ = ["main"]
