"""`mkeyspec requirements` on the command line: the ledger, what the cases cover of it, what a newer page changed."""

from __future__ import annotations

import argparse
import json
import os
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mkeyspec import plan
from mkeyspec.cli.listing import requirements_text
from mkeyspec.cli.options import command
from mkeyspec.cli.session import FAILED, NOTHING, OK, Failure
from mkeyspec.cli.sources import project_root, sources_of
from mkeyspec.files.project import project_of
from mkeyspec.project.source import compile_source
from mkeyspec.requirements.coverage import Covered, count_bins, cover, space
from mkeyspec.requirements.coverage_page import coverage_page
from mkeyspec.requirements.drift import drift, mark, sentences
from mkeyspec.requirements.ledger import Requirement
from mkeyspec.requirements.own import all_requirements, own_ledger
from mkeyspec.requirements.proofs import ProofsError, read

_HELP = "the ledger: its entries, what the cases cover of them, what a newer man page changed"

_EXAMPLE = """\
example:
  $ mkeyspec requirements list
  $ mkeyspec requirements coverage            # of cases/, with the outcomes of reports/junit.xml
  $ mkeyspec requirements coverage --format markdown > docs/coverage.md
  $ mkeyspec requirements coverage --space -n 2                 # classes and pairs of each entry's dimensions
  $ mkeyspec requirements coverage --space --pairs --only SIG-01 # which pairs are missing
  $ mkeyspec requirements coverage --life                       # which events of a key's life come after which
  $ man -P cat mlx5dv_wr_mkey_configure > mlx5dv_wr_mkey_configure.txt
  $ mkeyspec requirements drift mlx5dv_wr_mkey_configure.txt
  $ echo 'All setters are optional.' | mkeyspec requirements mark
Exit code: 0; 1 if an entry that can be tested lacks its case, or a page lost a sentence; 2 for wrong input."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(commands, "requirements", _missing, _HELP, _EXAMPLE)
    verbs = parser.add_subparsers(metavar="VERB")
    listing = verbs.add_parser("list", help="every entry: id, page, title")
    listing.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    listing.set_defaults(command=_list)
    coverage = verbs.add_parser("coverage", help="every entry: its cases, items, and outcomes of the last run")
    coverage.add_argument("paths", nargs="*", metavar="PATH", help=".mks files and directories (default: cases)")
    coverage.add_argument("--report", metavar="FILE", help="default: reports/junit.xml")
    coverage.add_argument("--own", action="store_true", help="only the entries of the project's own ledgers")
    coverage.add_argument("--bins", action="store_true", help="the parameter space too: kind, block size, domain…")
    coverage.add_argument("--format", choices=("text", "json", "markdown"), default="text", help="default: text")
    coverage.add_argument("--space", action="store_true", help="what is covered of the dimensions of each entry")
    coverage.add_argument("--life", action="store_true", help="which events of a key's life come after which")
    coverage.add_argument("--only", nargs="+", default=[], metavar="ID", help="with --space: these entries")
    coverage.add_argument("--pairs", action="store_true", help="with --space or --life: name the missing pairs, too")
    coverage.add_argument("-n", type=int, default=1, metavar="N", dest="workers", help="with --space: N processes")
    coverage.set_defaults(command=_coverage)
    drifting = verbs.add_parser("drift", help="which entries a man page no longer states in the same words")
    drifting.add_argument("pages", nargs="+", metavar="PAGE", help="a page as text or Markdown, named after itself")
    drifting.set_defaults(command=_drift)
    marking = verbs.add_parser("mark", help="how the ledger remembers sentences: one a paragraph, on standard input")
    marking.set_defaults(command=_mark)


def _missing(options: argparse.Namespace) -> int:
    raise Failure("MKS0907", "requirements: say list, coverage, drift or mark")


def _list(options: argparse.Namespace) -> int:
    sys.stdout.write(requirements_text(options.format, project_root()))
    return OK


# Coverage --------------------------------------------------------------------------------------


def _suites(paths: Sequence[str]) -> list[plan.Suite]:
    project = project_root()
    compiled = [(path, compile_source(path, project)) for path in sources_of(paths)]
    broken = [path.name for path, one in compiled if one.diagnostics.errors]
    if broken:
        raise Failure("MKS0907", f"these files have errors, see `mkeyspec check`: {', '.join(broken)}")
    return [one.suite for _, one in compiled if one.suite is not None]


def _coverage(options: argparse.Namespace) -> int:
    if options.space:
        from mkeyspec.cli import requirements_space

        return requirements_space.coverage(options)
    if options.only:
        raise Failure("MKS0905", "--only: say --space, too")
    if options.life:
        from mkeyspec.cli import requirements_life

        return requirements_life.coverage(options, _suites(options.paths))
    if options.pairs:
        raise Failure("MKS0905", "--pairs: say --space or --life, too")
    suites = _suites(options.paths)
    if not any(suite.cases for suite in suites):
        return NOTHING
    usual = os.path.relpath(project_of().reports / "junit.xml")
    outcomes = _outcomes(Path(options.report or usual))
    try:
        proofs = read(project_root())
    except ProofsError as error:
        raise Failure("MKS0904", str(error)) from None
    project = project_root()
    found = cover(suites, all_requirements(project), outcomes, proofs)
    if options.own:
        own = own_ledger(project).entries
        found = [entry for entry in found if entry.requirement.id in own]
    counted = count_bins(suites) if options.bins or options.format == "markdown" else Counter()
    lost = [entry for entry in found if entry.missing]
    if options.format == "json":
        print(json.dumps({"entries": [_data(entry) for entry in found], "bins": _bin_rows(counted)}, indent=2))
    elif options.format == "markdown":
        sys.stdout.write(coverage_page(found, counted))
    else:
        for entry in found:
            print(_line(entry))
        for kind, size, where, direction, layout, blocks, items in _bin_rows(counted):
            print(f"{kind:18} {size:>5} {where:5} {direction} {layout:11} {blocks:>4} {items:6}")
        if options.bins:
            visited = sum(1 for corner in space() if counted[corner])
            print(f"mkeyspec: {visited} of {sum(1 for _ in space())} corners of the parameter space are visited")
        testable = [entry for entry in found if entry.requirement.treatment != "untestable"]
        cases = len({case for entry in found for case in entry.cases})
        print(
            f"mkeyspec: {len(testable) - len(lost)} of {len(testable)} testable entries have their cases "
            f"({len(found) - len(testable)} are not testable), {cases} cases; "
            f"{sum(entry.supported for entry in found)} of {sum(len(entry.cases) for entry in found)} claims are "
            "supported"
        )
    for entry in lost:
        print(f"mkeyspec: {entry.requirement.id} lacks a {entry.missing} case", file=sys.stderr)
    return FAILED if lost else OK


def _line(entry: Covered) -> str:
    requirement = entry.requirement
    if requirement.treatment == "untestable":
        return f"{requirement.id:8} not testable: {requirement.reason}"
    halves = f"{entry.positive:5} positive {entry.negative:5} negative"
    if requirement.negative_judged == "exactness":
        halves += " (and by exactness)"
    elif not requirement.wants_negative:
        halves += " (none wanted)"
    ran = ", ".join(f"{number} {outcome}" for outcome, number in sorted(entry.outcomes.items())) or "not run"
    lack = f"  LACKS {entry.missing}" if entry.missing else ""
    cases = f"{len(entry.cases):3} cases, {entry.supported:3} supported"
    return f"{requirement.id:8} {halves:50} {cases}; {ran}{lack}"


def _data(entry: Covered) -> dict[str, Any]:
    return {
        "id": entry.requirement.id,
        "page": entry.requirement.page,
        "treatment": entry.requirement.treatment,
        "positive": entry.positive,
        "negative": entry.negative,
        "negative_judged": entry.requirement.negative_judged,
        "missing": entry.missing,
        "cases": entry.cases,
        "supported": entry.supported,
        "supported_positive": entry.supported_positive,
        "supported_negative": entry.supported_negative,
        "outcomes": dict(entry.outcomes),
    }


def _bin_rows(counted: Counter[tuple[str, ...]]) -> list[tuple[Any, ...]]:
    return [(*key, items) for key, items in sorted(counted.items())]


def _outcomes(report: Path) -> dict[str, str]:
    """Item id to outcome, from a JUnit report of `mkeyspec run`, or of pytest; empty if the file does not exist."""
    try:
        tree = ElementTree.parse(report)
    except FileNotFoundError:
        return {}
    except (OSError, ElementTree.ParseError) as error:
        raise Failure("MKS0907", f"{report}: can't read the report: {error}") from None
    found: dict[str, str] = {}
    files = {case: suite.get("name", "") for suite in tree.iter("testsuite") for case in suite.iter("testcase")}
    for case, file in files.items():
        names = [one.get("value", "") for one in case.iter("property") if one.get("name") == "case"]
        names = names or [f"{file}::{case.get('name', '')}"]
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        found.update((name, outcome) for name in names)
    return found


# Drift -----------------------------------------------------------------------------------------


def _drift(options: argparse.Namespace) -> int:
    ledger = all_requirements(project_root())
    cases = {entry.requirement.id: entry.cases for entry in cover(_suites(()), ledger, {})}
    changed = 0
    for name in options.pages:
        path = Path(name)
        entries = _entries_of(path.name, ledger)
        if not entries:
            pages = sorted({requirement.page.split("(")[0] for requirement in ledger.values()})
            raise Failure("MKS0907", f"{name}: name the file after its page, one of {', '.join(pages)}")
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Failure("MKS0907", f"{name}: can't read the page: {error}") from None
        found = drift(text, entries)
        changed += len(found)
        for one in found:
            requirement = one.requirement
            print(f"{name}: {requirement.id}: {one.lost} of {one.sentences} sentences are not there any more")
            print(f"    {requirement.statement}")
            for case in cases[requirement.id]:
                print(f"    read again: {case}")
        anchored = sum(bool(requirement.sentences) for requirement in entries)
        print(f"mkeyspec: {name}: {len(found)} of {anchored} entries drifted", file=sys.stderr)
    return FAILED if changed else OK


def _mark(options: argparse.Namespace) -> int:
    try:
        found = sentences(sys.stdin.read())
    except UnicodeDecodeError as error:
        raise Failure("MKS0907", f"standard input: not UTF-8: {error}") from None
    for sentence in found:
        print(mark(sentence))
    return OK if found else NOTHING


def _entries_of(name: str, ledger: dict[str, Requirement]) -> list[Requirement]:
    stem = name.split(".")[0]
    return [requirement for requirement in ledger.values() if requirement.page.split("(")[0] == stem]
