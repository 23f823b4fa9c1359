"""`mkeyspec explain`: what a code, a requirement or a line of a case means; the pages of the documentation."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mkeyspec.cli.explain_line import about_a_word, about_line, place_in, words_of_the_language
from mkeyspec.cli.explain_page import names_of_pages, page_called, pages, terms
from mkeyspec.cli.options import command
from mkeyspec.cli.session import OK, Failure
from mkeyspec.cli.sources import project_root

_EXAMPLE = """\
example:
  $ mkeyspec explain MKS2101
  $ mkeyspec explain CRC-07
  $ mkeyspec explain t10dif
  $ mkeyspec explain cases/first.mks:11
  $ mkeyspec explain tutorial"""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    explain = command(commands, "explain", _explain, "say what a code, a requirement or a line means", _EXAMPLE)
    explain.add_argument(
        "what", nargs="?", metavar="CODE", help="MKS2101, CFG-07, FILE:LINE, a page…; without it, all codes are listed"
    )
    explain.add_argument("--pages", action="store_true", help="list the pages of the documentation")


def _explain(options: argparse.Namespace) -> int:
    from mkeyspec.diagnostics.codes import CODES, explanation
    from mkeyspec.diagnostics.suggest import did_you_mean, id_meant
    from mkeyspec.requirements.ledger import departures
    from mkeyspec.requirements.own import all_requirements

    if options.pages:
        titles = pages()
        width = max(map(len, titles))
        print("\n".join(f"{name:<{width}}  {title}" for name, title in titles.items()))
        return OK
    what = options.what or ""
    if not what:
        for code, title in CODES.items():
            print(f"{code}  {title}")
        return OK
    if (place := place_in(what)) is not None:
        sys.stdout.write(about_line(*place))
        return OK
    wanted = what.strip().upper()
    page = explanation(wanted)
    if page is not None:
        sys.stdout.write(page if page.endswith("\n") else page + "\n")
        return OK
    if (told := about_a_word(what.strip())) is not None:
        sys.stdout.write(told)
        return OK
    ledger = all_requirements(project_root())
    requirement = ledger.get(wanted)
    if requirement is not None:
        section = f", {requirement.section}" if requirement.section else ""
        print(f"{requirement.id}: {requirement.title}\n\n{requirement.statement}\n\npage: {requirement.page}{section}")
        for label, value in (("positive case", requirement.positive), ("negative case", requirement.negative)):
            if value:
                print(f"{label}: {value}")
        return OK
    departure = departures().get(wanted)
    if departure is not None:
        print(f"{departure.id}: {departure.statement}")
        return OK
    text = page_called(what)
    if text is not None:
        sys.stdout.write(text)
        return OK
    advice = (
        id_meant(wanted, [*CODES, *ledger, *departures()])
        or did_you_mean(what.strip().lower(), [*words_of_the_language(), *terms(), *names_of_pages()])
        or "`mkeyspec explain` lists the codes, `mkeyspec explain --pages` the pages"
    )
    raise Failure("MKS0907", f"nothing is called {what!r}; {advice}")
