"""The diagnostic codes and the paths of their explanations.

A code exists because it has a page, `mkeyspec/explanations/MKSnnnn.md`; its first line is
`# MKSnnnn: title in lower case`. A page has four sections, in this order (a test keeps it so):

    ## What it means     why this is refused, in a paragraph or two
    ## Example           a minimal whole file in a ```mks fence that earns the code (```text where none can)
    ## Fix               what to write instead
    ## Page              the man page clause or requirement ids; or a page of docs/ and its section

Families: 01 syntax, 02 names, 03 types and lengths, 04 what the pages forbid, 05 claims and
states, 06 lints, 07 limits, 08 files, 09 command line and devices; 20 steps, 21 expectations,
22 left over, 23 known departures.
"""

from __future__ import annotations

import re

from mkeyspec.files import resource

_TITLE = re.compile(r"# (MKS\d{4}): (\S.*)")


def _read() -> dict[str, str]:
    codes: dict[str, str] = {}
    for page in sorted(resource.directory("explanations").glob("MKS[0-9][0-9][0-9][0-9].md")):
        with page.open(encoding="utf-8") as lines:
            title = _TITLE.match(lines.readline())
        if title is not None and title[1] == page.stem:
            codes[title[1]] = title[2].strip()
    return codes


CODES: dict[str, str] = _read()
"""Every code and its title in one line, in order."""


def explanation(code: str) -> str | None:
    """The page of `code` as Markdown; None if there is no such code. `mks102`, `MKS0102` and `102` are the same."""
    digits = code.upper().removeprefix("MKS")
    name = f"MKS{digits:0>4}"
    return resource.text("explanations", f"{name}.md") if name in CODES else None
