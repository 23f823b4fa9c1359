"""`mkeyspec report`: reports made of streams of results."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mkeyspec.cli.options import command
from mkeyspec.cli.output_file import write
from mkeyspec.cli.results import put, runs_of
from mkeyspec.cli.session import FAILED, OK, Failure
from mkeyspec.files.unwritable import Unwritable
from mkeyspec.report.reader import Run
from mkeyspec.report.whole import missing

_Form = Callable[[argparse.Namespace, list[Run]], None]

_EXAMPLE = """\
example:
  $ mkeyspec report text                                  # the newest run below reports/
  $ mkeyspec report junit -o all.xml host1/results.ndjson host2/results.ndjson
  $ mkeyspec report junit --surefire target/surefire-reports
  $ mkeyspec report html -o report.html --against good.ndjson
  $ mkeyspec report matrix lab1/*/results.ndjson          # rows by device
  $ mkeyspec report github                                # annotations of what went wrong
RUN is a stream (results.ndjson), the directory of a run, or its name below reports/.
Exit code: 0, also if rows failed; 1 if a run was stopped, or parts of it (--shard) are not named; 2 for wrong input."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    help = "reports made of the results of runs: JUnit, HTML, text, annotations"
    parser = command(commands, "report", _missing, help, _EXAMPLE)
    forms = parser.add_subparsers(metavar="FORM")
    junit = _form(forms, "junit", _junit, "JUnit XML, of several runs as one")
    junit.add_argument("--case-properties", action="store_true", help="properties of test cases as elements, too")
    junit.add_argument("--surefire", metavar="DIR", help="one file a suite, TEST-….xml, in this directory")
    _form(forms, "text", _text, "counts, and what went wrong by its cause")
    html = _form(forms, "html", _html, "one HTML file that needs nothing else")
    changed = "show what changed since; repeatable"
    html.add_argument("--against", metavar="RUN", action="append", default=[], help=changed)
    matrix = _form(forms, "matrix", _matrix, "rows by device: those that differ, or are wrong")
    matrix.add_argument("--every", action="store_true", help="also rows that are the same on all")
    matrix.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="default: text")
    _form(forms, "github", _github, "annotations of a change on GitHub, of what went wrong")
    _form(forms, "gitlab", _gitlab, "a code quality report of GitLab, of what went wrong")


def _form(forms: Any, name: str, function: _Form, help: str) -> argparse.ArgumentParser:
    form: argparse.ArgumentParser = forms.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
    form.add_argument("runs", nargs="*", metavar="RUN", help="default: the newest below reports/")
    form.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    form.set_defaults(command=partial(_made, function))
    return form


def _made(function: _Form, options: argparse.Namespace) -> int:
    runs = runs_of(options.runs)
    function(options, runs)
    text = missing(runs)
    if text:
        print(f"error[MKS0934]: {text}", file=sys.stderr)
    return FAILED if text else OK


def _missing(options: argparse.Namespace) -> int:
    raise Failure("MKS0907", "report: say junit, html, text, matrix, github or gitlab")


def _junit(options: argparse.Namespace, runs: list[Run]) -> None:
    from mkeyspec.report import junit

    if options.surefire is None:
        put(options.output, junit.junit_of(runs, case_properties=options.case_properties))
        return
    folder = Path(options.surefire)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unwritable(folder, error, "--surefire") from None
    for name, document in junit.surefire_of(runs):
        write(folder / name, document, "--surefire")


def _text(options: argparse.Namespace, runs: list[Run]) -> None:
    from mkeyspec.report import text

    colour = options.output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    put(options.output, text.text_of(runs, colour=colour).encode(errors="backslashreplace"))


def _matrix(options: argparse.Namespace, runs: list[Run]) -> None:
    from mkeyspec.report import by_device

    form = {"text": by_device.text_of, "markdown": by_device.markdown_of, "json": by_device.json_of}[options.format]
    put(options.output, form(by_device.matrix_of(runs, every=options.every)).encode(errors="backslashreplace"))


def _github(options: argparse.Namespace, runs: list[Run]) -> None:
    from mkeyspec.report import annotations

    put(options.output, annotations.github_of(runs).encode(errors="backslashreplace"))


def _gitlab(options: argparse.Namespace, runs: list[Run]) -> None:
    from mkeyspec.report import annotations

    put(options.output, annotations.gitlab_of(runs).encode())


def _html(options: argparse.Namespace, runs: list[Run]) -> None:
    from mkeyspec.report import html
    from mkeyspec.report.compare import compare
    from mkeyspec.report.reader import Unusable

    if options.against and len(runs) > 1 and any(run.begin.unit for run in runs):
        raise Failure("MKS0905", "--against is of one run; of a lab, `mkeyspec compare` compares device by device")
    try:
        comparison = compare([*runs_of(options.against), runs[-1]]) if options.against else None
    except Unusable as error:
        raise Failure(error.code, str(error).partition(": ")[2]) from None
    put(options.output, html.html_of(runs, comparison))
