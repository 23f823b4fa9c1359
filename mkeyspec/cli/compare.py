"""`mkeyspec compare`: what differs between runs."""

from __future__ import annotations

import argparse
from typing import Any

from mkeyspec.cli.options import command
from mkeyspec.cli.results import put, runs_of
from mkeyspec.cli.session import FAILED, NOTHING, OK, Failure
from mkeyspec.report import comparison_text
from mkeyspec.report.compare import compare
from mkeyspec.report.reader import Unusable

_EXAMPLE = """\
example:
  $ mkeyspec compare reports/20261121-* reports/20261122-*      # the newest against the others
  $ mkeyspec compare good/results.ndjson                        # the newest run below reports/ against it
  $ mkeyspec compare A B --format markdown                      # for a ticket
  $ mkeyspec compare A B --format html -o page.html             # the report of B, with what changed since A
RUN is a stream (results.ndjson), the directory of a run, or its name below reports/; the oldest first.
Exit code: 0; 1 if a row regressed, was lost, or is new and wrong; 3 if no row of the newest run has a verdict; 2 for
wrong input."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(
        commands, "compare", _compare, "what differs between runs: regressed, fixed, new, lost, flaky", _EXAMPLE
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="the oldest first; with one: the newest run against it")
    parser.add_argument("--format", choices=("text", "json", "markdown", "html"), default="text", help="default: text")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")


def _compare(options: argparse.Namespace) -> int:
    runs = runs_of(options.runs)
    if len(runs) == 1:
        runs += runs_of([])
    if runs[-1].path.resolve() in [run.path.resolve() for run in runs[:-1]]:
        raise Failure("MKS0932", f"{runs[-1].path} would be compared with itself; name another run")
    try:
        found = compare(runs)
    except Unusable as error:
        raise Failure(error.code, str(error).partition(": ")[2]) from None
    if options.format == "html":
        from mkeyspec.report.html import html_of

        put(options.output, html_of(runs[-1:], found))
    else:
        form = {
            "text": comparison_text.text_of,
            "json": comparison_text.json_of,
            "markdown": comparison_text.markdown_of,
        }[options.format]
        put(options.output, form(found).encode(errors="backslashreplace"))
    if found.bad:
        return FAILED
    return OK if any(one.verdict not in ("skipped", "blocked") for one in runs[-1].results.values()) else NOTHING
