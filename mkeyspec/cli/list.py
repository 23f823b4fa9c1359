"""`mkeyspec list`: cases, rows, requirements and needs."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from mkeyspec.cli.findings import count_of, once
from mkeyspec.cli.listing import requirements_text, suite_data, suite_text
from mkeyspec.cli.options import add_paths, command
from mkeyspec.cli.session import NOTHING, OK, USAGE
from mkeyspec.cli.sources import named_paths, project_root, sources_of
from mkeyspec.files.project import project_of
from mkeyspec.project.source import compile_source

_EXAMPLE = """\
example:
  $ mkeyspec list cases --rows
  $ mkeyspec list cases --format json | jq '.[].cases[].verifies[]' | sort | uniq -c"""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    listing = command(commands, "list", _list, "show cases, rows, requirements and needs", _EXAMPLE)
    add_paths(listing)
    listing.add_argument("--requirements", action="store_true", help="show the ledger's ids instead")
    listing.add_argument("--rows", action="store_true", help="show the id of every row")
    listing.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def _list(options: argparse.Namespace) -> int:
    from mkeyspec.diagnostics import render

    if options.requirements:
        sys.stdout.write(requirements_text(options.format, project_root()))
        return OK

    sources, place = sources_of(options.paths), project_of(named_paths(options.paths)).root
    compiled = [(path, compile_source(path, place)) for path in sources]
    errors = [found for found in once(one.diagnostics for _, one in compiled) if found.severity == "error"]
    suites = [suite_data(path, one) for path, one in compiled if one.suite is not None and one.suite.cases]
    if options.format == "json":
        print(json.dumps(suites, indent=2))
    else:
        sys.stdout.write("".join(suite_text(suite, options.rows) for suite in suites))
        cases = sum(len(suite["cases"]) for suite in suites)
        rows = sum(len(case["rows"]) for suite in suites for case in suite["cases"])
        counts = (count_of(cases, "case"), count_of(rows, "row"), count_of(len(suites), "suite"))
        print(f"mkeyspec: {', '.join(counts)}", file=sys.stderr)
    sys.stderr.write(render.text(errors))
    return USAGE if errors else OK if suites else NOTHING
