"""Properties of a case and of a session, for JUnit and other reports.

A case's are `user_properties` of its item, which survive xdist. A session's are set on the controller's JUnit report;
workers send theirs to the controller when they end.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec import __version__
from mkeyspec.device.profile.difference import differences
from mkeyspec.plugin.compilation import merge_warnings, warnings
from mkeyspec.plugin.junitxml_option import report_of
from mkeyspec.run.marks import CaseMark

if TYPE_CHECKING:
    from mkeyspec.device.protocol import Info
    from mkeyspec.run.verdict import Verdict

SESSION = pytest.StashKey[dict[str, str]]()
_KEY = "mkeyspec"
_WARNINGS = "mkeyspec warnings"
_REOPENED = "reopened:"
Property = tuple[str, object]


def session_properties(config: pytest.Config, info: Info) -> None:
    """Remember the device's information."""
    values = {"device": info.device, "firmware": info.firmware, "mkeyspec": __version__}
    values.update({f"version:{name}": version for name, version in sorted(info.versions.items())})
    values.update(device_points(config.option.device_profile))
    if config.option.drawn_from:
        values["seed"] = config.option.drawn_from
    if config.option.vary is not None:
        values["vary"] = config.option.vary
    config.stash[SESSION] = values


def device_points(profile: str | None) -> dict[str, str]:
    """Where a device profile is not the default one, by `profile:POINT`."""
    if profile is None:
        return {}
    found = differences(Path(profile))
    return {f"profile:{one.point}": f"{one.value} (default {one.default}; {one.seen})" for one in found}


def reopened_after(config: pytest.Config, culprit: str, symptom: str) -> None:
    """Remember that the device of the session was opened again."""
    config.stash.setdefault(SESSION, {})[f"{_REOPENED}{culprit}"] = symptom


def reopened(config: pytest.Config) -> dict[str, str]:
    """The rows after which the device was opened again, each with the symptom."""
    found = config.stash.get(SESSION, {}).items()
    return {name.removeprefix(_REOPENED): symptom for name, symptom in found if name.startswith(_REOPENED)}


def case_properties(config: pytest.Config, mark: CaseMark, id: str) -> list[Property]:
    session = config.stash.get(SESSION, {})
    return [
        ("case", id),
        ("source", mark.suite.source),
        ("line", mark.at.line),
        ("requirements", " ".join(mark.verifies)),
        *([("tags", " ".join(mark.tags))] if mark.tags else []),
        *([("level", mark.level)] if mark.level != "mandatory" else []),
        ("suite_sha256", mark.suite.digest),
        ("device", session.get("device", "")),
        ("firmware", session.get("firmware", "")),
        ("seed", _seed(config)),
    ]


def _seed(config: pytest.Config) -> object:
    """What the cases were drawn from. The language has no seed: the data of a case is the same in every run; beside
    `mkeyspec run --generate` only an order of tests can be random."""
    return config.option.drawn_from or getattr(config.option, "randomly_seed", None) or 0


def verdict_properties(verdict: Verdict) -> Iterable[Property]:
    found: list[Property] = [(f"record:{name}", value) for name, value in verdict.records.items()]
    if verdict.status != "fail" and verdict.not_run:  # the text of a failure tells them
        found.append(("not_run", ", ".join(f"{at}" for at in verdict.not_run)))
    if verdict.known:
        found.append(("known", " ".join(verdict.known)))
    found.extend(("quiet", f"{at} {text}") for at, text in verdict.quiet)
    if verdict.status != "fail":  # the text of a failure tells them
        found.extend(("consequence", f"{one.at} {one.code}") for one in verdict.consequences)
    return found


# Session -------------------------------------------------------------------------------------


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """On the controller, when a worker has ended."""
    output = getattr(node, "workeroutput", {})
    merge_warnings(node.config, output.get(_WARNINGS, ()))
    values = output.get(_KEY)
    if values:
        node.config.stash.setdefault(SESSION, {}).update(values)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output[_WARNINGS] = warnings(config)
    values = config.stash.get(SESSION, None)
    if values is None:
        return
    if output is not None:
        output[_KEY] = values
        return
    xml = report_of(config)
    if xml is not None:
        for name, value in values.items():
            xml.add_global_property(name, value)
