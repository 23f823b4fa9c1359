"""`mkeyspec compare`: what differs between runs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from mkeyspec.cli.options import command
from mkeyspec.cli.results import groups_of, put
from mkeyspec.cli.session import FAILED, NOTHING, OK, Failure
from mkeyspec.report import comparison_text
from mkeyspec.report.by_device import label_of
from mkeyspec.report.compare import Comparison, compare
from mkeyspec.report.reader import Run, Unusable

_EXAMPLE = """\
example:
  $ mkeyspec compare reports/20261121-* reports/20261122-*      # the newest against the others
  $ mkeyspec compare good/results.ndjson                        # the newest run below reports/ against it
  $ mkeyspec compare A B --format markdown                      # for a ticket
  $ mkeyspec compare A B --format html -o page.html             # the report of B, with what changed since A
RUN is a stream (results.ndjson), the directory of a run, or its name below reports/; the oldest first. Runs of labs are
compared device by device.
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
    groups = groups_of(options.runs)
    if len(groups) == 1:
        groups += groups_of([])
    if any(len(group) > 1 for group in groups):
        return _by_device(options, groups)
    runs = [run for group in groups for run in group]
    found = _compared(runs)
    if options.format == "html":
        from mkeyspec.report.html import html_of

        put(options.output, html_of(runs[-1:], found))
    else:
        put(options.output, _FORMS[options.format](found).encode(errors="backslashreplace"))
    return _code([found])


_FORMS = {
    "text": comparison_text.text_of,
    "json": comparison_text.json_of,
    "markdown": comparison_text.markdown_of,
}


def _compared(runs: Sequence[Run]) -> Comparison:
    """Raises Failure."""
    if runs[-1].path.resolve() in [run.path.resolve() for run in runs[:-1]]:
        raise Failure("MKS0932", f"{runs[-1].path} would be compared with itself; name another run")
    try:
        return compare(runs)
    except Unusable as error:
        raise Failure(error.code, str(error).partition(": ")[2]) from None


def _by_device(options: argparse.Namespace, groups: Sequence[Sequence[Run]]) -> int:
    """Runs of labs: each device by itself. One that is not in the newest run is lost."""
    if options.format == "html":
        raise Failure("MKS0905", "--format html is of one device: name its folder, RUN/DEVICE")
    labels = dict.fromkeys(label_of(run) for group in groups for run in group)
    found: dict[str, Comparison] = {}
    lost, new = [], []
    for label in labels:
        runs = [run for group in groups for run in group if label_of(run) == label and _has_rows(run)]
        if not any(run in groups[-1] for run in runs):
            lost.append(label)
        elif len(runs) == 1:
            new.append(label)
        else:
            found[label] = _compared(runs)
    put(options.output, _devices_text(options.format, found, lost, new).encode(errors="backslashreplace"))
    return FAILED if lost else _code(list(found.values()))


def _has_rows(run: Run) -> bool:
    """Not of a device that was blocked as a whole."""
    return not run.results or any("::" in id for id in run.results)


def _devices_text(form: str, found: dict[str, Comparison], lost: Sequence[str], new: Sequence[str]) -> str:
    if form == "json":
        devices = {label: json.loads(comparison_text.json_of(one)) for label, one in found.items()}
        return json.dumps({"devices": devices, "lost": lost, "new": new}, indent=2) + "\n"
    mark = "## " if form == "markdown" else "== "
    parts = [f"{mark}{label}\n\n{_FORMS[form](one)}" for label, one in found.items()]
    parts += [f"{mark}{label}\n\nLOST: the newest run has no row of this device\n" for label in lost]
    parts += [f"{mark}{label}\n\nNEW: no older run has this device\n" for label in new]
    return "\n".join(parts)


def _code(found: Sequence[Comparison]) -> int:
    if any(one.bad for one in found):
        return FAILED
    newest = [result for one in found for result in one.runs[-1].results.values()]
    return OK if any(result.verdict not in ("skipped", "blocked") for result in newest) else NOTHING
