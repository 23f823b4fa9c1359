"""Waivers in a session: which row has one, what becomes of its verdict, and waivers that are not needed any more.

A waived failure is known, not passed. A waiver without its failure is reported at the end (MKS2303), once every row
that it names has run. One that names no row of what was collected is a failing item (MKS0943).
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec.files.toml_places import TomlError
from mkeyspec.plugin.compilation import Outcome
from mkeyspec.plugin.session_failure import fail_session
from mkeyspec.run.marks import case_of
from mkeyspec.run.verdict import CaseFailed, Verdict

if TYPE_CHECKING:
    from mkeyspec.device.protocol import Info
    from mkeyspec.plugin.nodes import BrokenFile
    from mkeyspec.plugin.waiver_file import Waiver

KEY = "waived"
"""In what a row's report carries for the controller (`row_report`)."""

_ALL: pytest.StashKey[tuple[Waiver, ...]] = pytest.StashKey()
_HERE: pytest.StashKey[tuple[Waiver, ...]] = pytest.StashKey()
"""Those for the device of the session."""
_WHOLE: pytest.StashKey[dict[str, int]] = pytest.StashKey()
"""By place: how many rows a waiver names, where the session collects all of its files."""


class Waived(Exception):
    """A waiver says that the row is not run; `str()` is the reason."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a waiver makes of a row. `expired`: nothing; it is only mentioned."""

    waiver: Waiver
    expired: bool

    @property
    def text(self) -> str:
        waiver = self.waiver
        return f"expired: {waiver.text}" if self.expired else waiver.text

    def excuses(self, error: CaseFailed) -> bool:
        """Whether a failure is the one that the waiver is for; if not, its text says why the waiver does not hold."""
        waiver = self.waiver
        codes = list(dict.fromkeys(one.code for one in error.failures))
        if self.expired:
            error.text += f"\n    waiver    expired on {waiver.expires}: {waiver.text}"
        elif not waiver.covers(codes):
            wanted = waiver.code or "verdicts about the device"
            error.text += f"\n    waiver    is for {wanted}, not {', '.join(codes)}: {waiver.text}"
        elif error.unhealthy:
            error.text += f"\n    waiver    is not for a device that is not healthy any more: {waiver.text}"
        else:
            return True
        return False


def register(config: pytest.Config, files: Sequence[str]) -> None:
    """Read the files. Raises UsageError."""
    if not files:
        return
    from mkeyspec.plugin import waiver_file

    try:
        config.stash[_ALL] = waiver_file.load(Path(name) for name in files)
    except TomlError as error:
        raise pytest.UsageError(str(error)) from None
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Unneeded(config), "mkeyspec-unneeded-waivers")


def for_device(config: pytest.Config, info: Info) -> None:
    """The device is open: keep the waivers for it."""
    config.stash[_HERE] = tuple(one for one in config.stash.get(_ALL, ()) if one.applies(info))


def ruling_of(item: pytest.Item) -> Ruling | None:
    """The first waiver for a row that has not expired, else the first that has."""
    here = item.config.stash.get(_HERE, ())
    if not here:
        return None
    row = _row_of(item)
    found = [one for one in here if one.matches(row)]
    today = datetime.date.today()
    valid = [one for one in found if not one.expired(today)]
    return Ruling((valid or found)[0], not valid) if found else None


def _row_of(item: pytest.Item) -> str:
    """`cases/crc.mks::published_values[crc=crc32]`, whatever module it was collected from."""
    mark = case_of(getattr(item, "obj", None))
    if mark is None:
        return item.nodeid
    _, bracket, rest = item.nodeid.partition("::")[2].partition("[")
    return f"{mark.suite.source}::{mark.name}{bracket}{rest}"


def skip_if_waived(item: pytest.Item) -> None:
    """Raises Waived."""
    ruling = ruling_of(item)
    if ruling is not None and not ruling.expired and ruling.waiver.outcome == "skip":
        raise Waived(f"waived: {ruling.text}")


def told(item: pytest.Item, verdict: Verdict | None) -> dict[str, Any]:
    """What a row's report says of its waiver; empty if it has none."""
    ruling = ruling_of(item)
    if ruling is None:
        return {}
    waiver = ruling.waiver
    about = {
        "place": waiver.place,
        "text": waiver.text,
        "outcome": "expired" if ruling.expired else waiver.outcome,
        "rows": item.config.stash.get(_WHOLE, {}).get(waiver.place, 0),
        "failed": verdict is not None and bool(verdict.failures),
        "judged": verdict is not None and verdict.status != "blocked",
    }
    return {"waiver": ruling.text, KEY: about}


def unmatched(
    session: pytest.Session, rows: Sequence[str], is_whole: Callable[[pytest.Config, str], bool]
) -> list[BrokenFile]:
    """A failing item for each waiver that names no row, in files that the session collects whole; see `_WHOLE`."""
    config = session.config
    if not config.stash.get(_ALL, ()):
        return []
    from mkeyspec.plugin import waiver_file
    from mkeyspec.plugin.nodes import BrokenFile

    whole = config.stash.setdefault(_WHOLE, {})
    made: list[BrokenFile] = []
    for waiver in config.stash.get(_ALL, ()):
        collected = [is_whole(config, _folder(one)) for one in waiver.rows]
        for pattern, here in zip(waiver.rows, collected, strict=True):
            if here and not any(waiver_file.names(pattern, row) for row in rows):
                fix = "`mkeyspec list --rows` has the names"
                text = f"{waiver.place}: error[MKS0943]: no row is called {pattern}; {fix}"
                made.append(
                    BrokenFile.from_parent(
                        session,
                        name="MKS0943",
                        nodeid=f"{waiver.place}::MKS0943[{pattern}]",
                        path=Path(config.invocation_params.dir, waiver.place.rpartition(":")[0]),
                        outcome=Outcome(code="MKS0943", line=int(waiver.place.rpartition(":")[2]), text=text),
                    )
                )
        if all(collected):
            whole[waiver.place] = sum(map(waiver.matches, rows))
    return made


def _folder(pattern: str) -> str:
    """The file of a pattern, or the folder around all files that it may name."""
    file = pattern.partition("::")[0]
    wild = min((file.index(one) for one in "*?" if one in file), default=-1)
    return file if wild < 0 else file[:wild].rpartition("/")[0] or "."


class Unneeded:
    """Registered in the process that gets all reports: waivers whose failure did not come, and those that expired."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.rows: dict[str, dict[str, dict[str, Any]]] = {}
        """By the place of a waiver: what its rows said, by their ids."""
        self.unmet: set[str] = set()
        """Rows that need what the device lacks: they did not run."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "unmet"):
            self.unmet.add(report.nodeid)
        about = (getattr(report, "mkeyspec_row", None) or {}).get(KEY)
        if about is not None:
            before = self.rows.setdefault(about["place"], {}).get(report.nodeid)
            failed = about["failed"] or (before is not None and before["failed"])
            self.rows[about["place"]][report.nodeid] = {**about, "failed": failed}

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for place, rows in self.rows.items():
            first = next(iter(rows.values()))
            if first["outcome"] != "fails" or not first["rows"] or len(rows) < first["rows"]:
                continue
            ran = all(one["judged"] and id not in self.unmet for id, one in rows.items())
            if ran and not any(one["failed"] for one in rows.values()):
                self._fail(session, place, first["text"])

    def _fail(self, session: pytest.Session, place: str, text: str) -> None:
        file, _, line = place.rpartition(":")
        said = (
            f"{place}: error[MKS2303]: departure not seen: every row of this waiver went well\n"
            f"    waiver    {text}\n"
            "    fix       take it out of the file, or narrow its `rows`, `firmware` or `versions`"
        )
        fail_session(session, f"{place}::MKS2303", (file, int(line) - 1, "MKS2303"), said, "unseen")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for rows in self.rows.values():
            first = next(iter(rows.values()))
            if first["outcome"] == "expired":
                terminalreporter.write_line(f"mkeyspec: a waiver has expired: {first['text']}", yellow=True)
