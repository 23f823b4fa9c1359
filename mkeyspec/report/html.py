"""Results of runs as one HTML file that needs nothing else: no network, no other file.

Counts, causes, requirements, provenance and what changed are in the page as it is written; the rows are data in it, and
`page/report.js` shows those that are asked for. The page's policy (Content-Security-Policy) allows its own style and
script, by their hashes, and nothing else: no text of a run can load or run anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from mkeyspec.report.by_device import heads, label_of, letters, matrix_of, on_several
from mkeyspec.report.causes import causes_of
from mkeyspec.report.compare import BAD, KINDS, Comparison, grouped
from mkeyspec.report.picture import Picture, picture_of
from mkeyspec.report.provenance import DevicePoint, points_of, provenance_of, run_line
from mkeyspec.report.reader import Run, case_of
from mkeyspec.report.record import VERDICTS, WRONG, Case, Result
from mkeyspec.report.rows import parameters_of, plain, results_of
from mkeyspec.requirements.ledger import requirements

_PAGE = Path(__file__).with_name("page")
_TEXTS = 6_000_000
"""Characters of failures that a page keeps in all; after that their first lines."""
_BY_DEVICE = 500
"""Rows that are shown by device."""
_CAUSES, _EXAMPLES = 50, 20
"""Causes that are shown with a failure, and rows of a change."""


@dataclass(frozen=True, slots=True)
class ShownCause:
    """What went wrong by one cause, with its first failure."""

    title: str
    count: int
    id: str
    text: str
    picture: Picture | None
    beside: list[str]
    about: list[str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A requirement and the verdicts of the rows that verify it."""

    id: str
    title: str
    passed: int
    wrong: int
    others: int


@dataclass(frozen=True, slots=True)
class ChangedKind:
    """Rows of one kind of change, by cause: the first row of each with the number of others, and the cause."""

    kind: str
    count: int
    bad: bool
    groups: list[tuple[str, int, str]]
    more: int
    """Groups that are not listed."""


def html_of(runs: Sequence[Run], comparison: Comparison | None = None) -> bytes:
    """The page; `comparison`: what differs between these runs and others, whose newest is the last of `runs`."""
    results = [(run, result) for run in runs for result in results_of(run)]
    counts = Counter(result.verdict for _, result in results)
    several = on_several(runs)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    style, script = ((_PAGE / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    page = environment.get_template("report.html.j2").render(
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=_embedded(_data(results, several)),
        runs=[(run_line(run), [(plain(a), plain(b)) for a, b in provenance_of(run) if b], run) for run in runs],
        points=[(plain(run.begin.device_profile), _points(run)) for run in runs if run.begin.device_points],
        counts=[(verdict, counts[verdict], verdict in WRONG) for verdict in VERDICTS if counts[verdict]],
        total=len(results),
        wrong=sum(counts[verdict] for verdict in WRONG),
        not_run=sum(run.not_run for run in runs),
        seconds=sum(run.end.seconds for run in runs if run.end is not None),
        devices=_devices(runs) if several else None,
        causes=list(_causes(results)),
        entries=_entries(results),
        changed=None if comparison is None else list(_changed(comparison)),
        lists=None if comparison is None else _lists(comparison),
        baseline="" if comparison is None else "; ".join(run_line(run) for run in comparison.runs[:-1]),
    )
    return page.encode("utf-8", "backslashreplace")


def _hash(text: str) -> str:
    """As a policy names it; the page has the text between its tags with nothing around it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _embedded(data: Any) -> str:
    """JSON in which nothing ends the element that it is in."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@dataclass(frozen=True, slots=True)
class Devices:
    """Of runs on several devices: a line for each with its counts, and the rows that differ or are wrong."""

    names: list[str]
    heads: list[list[str]]
    rows: list[tuple[str, list[tuple[str, bool]]]]
    more: int


def _devices(runs: Sequence[Run]) -> Devices:
    matrix = matrix_of(runs)
    rows = [(plain(id), [(one, one in WRONG) for one in verdicts]) for id, verdicts in matrix.rows[:_BY_DEVICE]]
    return Devices(letters(matrix), heads(matrix), rows, max(0, len(matrix.rows) - _BY_DEVICE))


def _data(results: Sequence[tuple[Run, Result]], several: bool) -> dict[str, Any]:
    """Cases with their rows: what is the same for all rows of a case is there once. `several`: the first column is
    the device."""
    cases: dict[str, dict[str, Any]] = {}
    left = _TEXTS
    for run, result in results:
        id = case_of(result.id)
        about = run.cases.get(id, Case(id))
        values = [*([("device", label_of(run))] if several else []), *parameters_of(result.id)]
        case = cases.get(id)
        if case is None:
            case = cases[id] = {
                "id": plain(id),
                "title": plain(about.title),
                "line": about.line,
                "requirements": [plain(one) for one in about.requirements],
                "columns": [plain(name) for name, _ in values],
                "rows": [],
            }
        text = plain(result.text) if result.verdict in WRONG else ""
        left -= len(text)
        said = plain(" ".join(filter(None, (result.code, result.message))))
        more: dict[str, Any] = {"n": plain(result.id)}
        if said and result.verdict != "passed":
            more["m"] = said
        if text and left > 0:
            more["t"] = text
        if result.records:
            more["r"] = {plain(name): plain(value) for name, value in result.records.items()}
        row = [VERDICTS.index(result.verdict), round(result.seconds, 4), [plain(value) for _, value in values]]
        if len(more) > 1 or not values:
            row.append(more)
        case["rows"].append(row)
    return {"verdicts": VERDICTS, "wrong": sorted(WRONG), "cases": list(cases.values())}


def _points(run: Run) -> list[DevicePoint]:
    return [
        DevicePoint(
            plain(one.point), plain(one.value), plain(one.default), plain(one.seen), tuple(map(plain, one.sides))
        )
        for one in points_of(run)
    ]


def _causes(results: Sequence[tuple[Run, Result]]) -> Iterator[ShownCause]:
    for number, cause in enumerate(causes_of(results)):
        first = cause.results[0]
        text = plain(first.text) if number < _CAUSES else ""
        picture = picture_of(first.difference) if number < _CAUSES else None
        yield ShownCause(
            plain(cause.title),
            len(cause.results),
            plain(first.id),
            text,
            picture,
            [plain(one) for one in cause.beside],
            [plain(one) for one in cause.about],
        )


def _entries(results: Sequence[tuple[Run, Result]]) -> list[Entry]:
    seen: dict[str, Counter[str]] = {}
    for run, result in results:
        case = run.cases.get(case_of(result.id))
        for id in case.requirements if case is not None else ():
            kind = "wrong" if result.verdict in WRONG else "passed" if result.verdict == "passed" else "others"
            seen.setdefault(id, Counter())[kind] += 1
    ledger = requirements()
    testable = [id for id, one in ledger.items() if one.treatment != "untestable"]
    found = []
    for id in dict.fromkeys([*testable, *seen]):
        counts = seen.get(id, Counter())
        title = ledger[id].title if id in ledger else ""
        found.append(Entry(plain(id), title, counts["passed"], counts["wrong"], counts["others"]))
    return found


def _changed(comparison: Comparison) -> Iterator[ChangedKind]:
    for kind in KINDS:
        its = comparison.of(kind)
        if not its:
            continue
        groups = grouped(its, comparison)
        shown = [
            (plain(group[0].id), len(group) - 1, "" if cause == case_of(group[0].id) else plain(cause))
            for cause, group in groups[:_EXAMPLES]
        ]
        yield ChangedKind(kind, len(its), kind in BAD, shown, len(groups) - len(shown))


def _lists(comparison: Comparison) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """What else differs: title, and lines of name, before, now."""
    records = [(f"{id} {name}", before, now) for id, name, before, now in comparison.records]
    durations = [(id, f"{before:.3f} s", f"{now:.3f} s") for id, before, now in comparison.durations]
    lists = [
        ("Changed provenance", comparison.provenance),
        ("Changed capabilities of the device", comparison.capabilities),
        ("Changed records", records),
        ("Changed durations", durations),
    ]
    return [
        (title, [(plain(name), plain(before), plain(now)) for name, before, now in lines[:_EXAMPLES]])
        for title, lines in lists
        if lines
    ]
