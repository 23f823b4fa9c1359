"""What a stream of results says of a row beside its verdict, set on the row's last report.

Plain values in an attribute of the report: pytest-xdist and the journal keep such attributes. What does not differ
between the rows of a case, and what the device says of itself, goes with the first report of each process only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec.plan import Need
from mkeyspec.plugin import waivers
from mkeyspec.plugin.case_report import blocked_report, row_verdict
from mkeyspec.plugin.evidence import calls_of_failed
from mkeyspec.plugin.quarantine import WEDGED
from mkeyspec.plugin.report_properties import case_properties
from mkeyspec.plugin.unseen_departures import SHOWN
from mkeyspec.run.marks import CaseMark, case_of, row_needs
from mkeyspec.run.verdict import Blocked

if TYPE_CHECKING:
    from mkeyspec.device.protocol import Capabilities, Info
    from mkeyspec.run.verdict import Verdict

ATTRIBUTE = "mkeyspec_row"
DEVICE: pytest.StashKey[dict[str, Any]] = pytest.StashKey()
"""In the config's stash: what the device says of itself, until a report has taken it along."""

TELL: pytest.StashKey[Callable[[tuple[str, dict[str, Any]]], None]] = pytest.StashKey()
"""In the config's stash of a worker of `processes`: sends a message to the process that started it at once."""

_TOLD: pytest.StashKey[set[str]] = pytest.StashKey()
"""In the config's stash: the cases and suites that a report has taken along."""


class RowReports:
    """Registered in each process that runs tests."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        if report is not None and call.when == "teardown":
            mark = case_of(getattr(item, "obj", None))
            if mark is not None:
                report.__dict__[ATTRIBUTE] = _row(item, mark)
            verdict = row_verdict(item)
            if verdict is not None and verdict.shown is not None:
                report.__dict__[SHOWN] = verdict.shown
            if verdict is not None and verdict.unhealthy:
                report.__dict__[WEDGED] = verdict.unhealthy
        return report


def remember_device(config: pytest.Config, info: Info, capabilities: Capabilities, pci: str) -> dict[str, Any]:
    """What the device says of itself, which goes with the next report."""
    config.stash[DEVICE] = about = {
        "device": info.device,
        "firmware": info.firmware,
        "pci": pci,
        "versions": dict(sorted(info.versions.items())),
        "offers": sorted(capabilities.offers),
        "values": dict(sorted(capabilities.values.items())),
    }
    if (tell := config.stash.get(TELL, None)) is not None:
        tell(("device", about))  # before any report of its rows
    return about


def row_id(mark: CaseMark, nodeid: str) -> str:
    """`cases/crc.mks::published_values[crc=crc32]`, whatever module it was collected from."""
    _, bracket, rest = nodeid.partition("::")[2].partition("[")
    return f"{mark.suite.source}::{mark.name}{bracket}{rest}"


def blocked_row(item: pytest.Item, error: Blocked) -> pytest.TestReport:
    """The one report of a row that no process was given."""
    report = blocked_report(item, error)
    mark = case_of(getattr(item, "obj", None))
    if mark is not None:
        report.user_properties = case_properties(item.config, mark, item.nodeid)
        report.__dict__[ATTRIBUTE] = {"id": row_id(mark, item.nodeid), "about": case_data(mark)}
    return report


def case_data(mark: CaseMark) -> dict[str, Any]:
    """The lines of a suite and a case, as plain values."""
    return {
        "suite": {"file": mark.suite.source, "title": mark.suite.title, "sha256": mark.suite.digest},
        "case": {
            "case": f"{mark.suite.source}::{mark.name}",
            "line": mark.at.line,
            "title": mark.title,
            "requirements": list(mark.verifies),
            "needs": needs_text(mark.needs),
            "tags": list(mark.tags),
            "level": mark.level,
        },
    }


def needs_text(needs: Iterable[Need]) -> list[str]:
    return [str(need) for need in needs]


def _row(item: pytest.Item, mark: CaseMark) -> dict[str, Any]:
    id = row_id(mark, item.nodeid)
    row: dict[str, Any] = {"id": id}
    needs = row_needs(getattr(item, "funcargs", {}).get("row"))
    if needs:
        row["needs"] = needs_text(needs)
    config = item.config
    told = config.stash.setdefault(_TOLD, set())
    case = f"{mark.suite.source}::{mark.name}"
    if case not in told:
        told.add(case)
        row["about"] = case_data(mark)
    device = config.stash.get(DEVICE, None)
    if device is not None:
        del config.stash[DEVICE]
        row["device"] = device
    verdict = row_verdict(item)
    if verdict is not None:
        row.update(_judged(verdict))
        sentences = row.get("near_misses", {})
        new = {name: text for name, text in sentences.items() if f"near {name}" not in told}
        told.update(f"near {name}" for name in new)
        row["near_misses"] = new
        if verdict.status == "fail" and (calls := calls_of_failed(config)):
            row["calls"] = calls
    row.update(waivers.told(item, verdict))
    return row


def _judged(verdict: Verdict) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if verdict.failures:
        first = verdict.failures[0]
        found.update(code=first.code, message=first.message, line=first.at.line, column=first.at.column)
        near = next((one.looks_like for one in verdict.failures if one.looks_like), ())
        if near:
            found["looks_like"] = [name for name, _ in near]
            found["near_misses"] = dict(near)
        differing = next((one.difference for one in verdict.failures if one.difference is not None), None)
        if differing is not None:
            found["difference"] = asdict(differing)
    if verdict.size:
        found["size"] = dict(verdict.size)
    if verdict.against:
        found["against"] = list(verdict.against)
    if verdict.records:
        found["records"] = dict(verdict.records)
    if verdict.known:
        found["known"] = list(verdict.known)
    if verdict.quiet:
        found["quiet"] = [f"{at} {text}" for at, text in verdict.quiet]
    if verdict.not_run:
        found["not_run"] = ", ".join(f"{at}" for at in verdict.not_run)
    if verdict.consequences:
        found["consequences"] = [f"{one.at} {one.code}" for one in verdict.consequences]
    return found
