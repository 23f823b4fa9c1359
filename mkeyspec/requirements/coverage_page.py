"""docs/coverage.md: what the cases cover of the ledger and of the parameter space, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from mkeyspec.requirements.coverage import BLOCKS, DIRECTIONS, DOMAINS, KINDS, LAYOUTS, SIZES, Covered, space

_HEAD = """\
# Coverage

<!-- Written by `mkeyspec requirements coverage --format markdown > docs/coverage.md`; a test holds it fresh. -->

Which entries of [the ledger](requirements.md) have their cases, and which corners of the parameter space the cases
visit. `mkeyspec requirements coverage` says the same of any suite, with the outcomes of its last run, and exits with 1
if an entry has lost its case. Where driver and page part: [findings](findings/README.md).

An item is a row of a case. It is negative if it claims a refusal or asks for a signature error, positive if it expects
something to hold; it may be both. *exactness*: the negative half of the entry needs no case of its own, because a byte
or a completion that nothing names fails every positive one.

A claim is a case and an entry of its `verifies`. It is *supported* if the case reports a fault of that entry, by an
expectation or a claim about it: [claims are proved](sabotage.md#claims). The last column has the supported claims, and
how many of them are positive and negative ones."""

_BINS = """\
## Parameter space

Items that move data through a key with a signature, by its kind and seed, the block size, where the signature is
(memory, wire, both), the direction, the kind of layout, and the number of blocks (1, 2, more). A cell is the number of
items that visit it. What a checksum does with a seed of ones is an open point (X-OPEN-14): it is recorded, and not
part of the table."""


def coverage_page(entries: Iterable[Covered], bins: Counter[tuple[str, ...]]) -> str:
    """The page. `entries` in the ledger's order."""
    entries = list(entries)
    testable = [entry for entry in entries if entry.requirement.treatment != "untestable"]
    lost = sum(bool(entry.missing) for entry in testable)
    cases = len({case for entry in entries for case in entry.cases})
    have = f"**{len(testable) - lost} of {len(testable)}** testable entries have their cases"
    claims, supported = sum(len(entry.cases) for entry in entries), sum(entry.supported for entry in entries)
    text = [_HEAD, f"{have}; {len(entries) - len(testable)} are not testable. {cases} cases verify them."]
    text += [f"**{supported} of {claims}** claims are supported."]
    pages = dict.fromkeys(entry.requirement.page for entry in entries)
    for page in pages:
        rows = [_row(entry) for entry in entries if entry.requirement.page == page]
        text += [f"## {page}", _table(("id", "about", "positive", "negative", "cases", "supported"), rows)]
    visited = sum(1 for corner in space() if bins[corner])
    text += [_BINS, f"**{visited} of {sum(1 for _ in space())}** corners are visited."]
    for direction in DIRECTIONS:
        for layout in LAYOUTS:
            heads = [f"{size}, {domain}" for domain in DOMAINS for size in SIZES]
            rows = [
                (kind, *(_cell(bins, kind, size, domain, direction, layout) for domain in DOMAINS for size in SIZES))
                for kind in KINDS
            ]
            text += [f"### {'received' if direction == 'rx' else 'sent'}, {layout}", _table(("", *heads), rows)]
    return "\n\n".join(text) + "\n"


def _row(entry: Covered) -> tuple[str, ...]:
    requirement = entry.requirement
    if requirement.treatment == "untestable":
        return requirement.id, requirement.title, "–", "–", f"not testable: {requirement.reason}", "–"
    positive = str(entry.positive) if requirement.positive or entry.positive else "–"
    if requirement.wants_negative:
        negative = str(entry.negative)
    elif requirement.negative_judged == "exactness":
        negative = "exactness"
    else:
        negative = "–" if not requirement.negative_reason else f"not: {requirement.negative_reason}"
    cases = f"{len(entry.cases)} **lacks {entry.missing}**" if entry.missing else str(len(entry.cases))
    supported = f"{entry.supported} (+{entry.supported_positive} −{entry.supported_negative})"
    return requirement.id, requirement.title, positive, negative, cases, supported


def _cell(bins: Counter[tuple[str, ...]], *corner: str) -> str:
    corners = [(*corner, blocks) for blocks in BLOCKS]
    counts = [bins[one] for one in corners]
    return str(sum(counts)) if all(counts) else f"{sum(counts)} **lacks**"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
