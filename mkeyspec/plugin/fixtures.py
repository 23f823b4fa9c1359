"""Fixtures: the device of a session, and the rig that a case drives it with."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec.plugin.case_report import BEGUN, CULPRITS, JUDGED, RIG, Unfinished, Unhealthy, Unmet, rig_taken
from mkeyspec.plugin.device_opening import (
    DEVICE,
    OPEN,
    asked,
    close_device,
    make_rig,
    not_closed,
    open_anew,
    open_device,
)
from mkeyspec.plugin.evidence import begin_row
from mkeyspec.plugin.judging import bundle_of, device_choice, replay_of
from mkeyspec.plugin.not_closed import NOT_CLOSED
from mkeyspec.plugin.option_values import read_expectations, read_profile
from mkeyspec.plugin.provenance import pci_of
from mkeyspec.plugin.quarantine import quarantined
from mkeyspec.plugin.recording import keep_device, keep_not_closed, keep_sources, recorder_of
from mkeyspec.plugin.report_properties import reopened_after, session_properties
from mkeyspec.plugin.row_report import remember_device
from mkeyspec.plugin.waivers import for_device, skip_if_waived
from mkeyspec.plugin.watchdog import watched
from mkeyspec.run.marks import case_of, row_needs
from mkeyspec.run.verdict import Blocked, CaseInfo

if TYPE_CHECKING:
    from mkeyspec.bundle.replay import Replay
    from mkeyspec.device.protocol import Device
    from mkeyspec.run.rig import Rig


_FIXTURE: pytest.StashKey[Device] = pytest.StashKey()
"""In the config's stash: the value of the fixture `device`, which may have been closed since."""


@pytest.fixture(scope="session")
def device(pytestconfig: pytest.Config) -> Iterator[Device]:
    """The device named by `--device`, open for the session (of each xdist worker)."""
    opened = pytestconfig.stash.get(DEVICE, None)
    if opened is None:
        from mkeyspec.device.protocol import Unavailable

        try:
            opened = open_device(pytestconfig)
        except Unavailable as error:
            pytest.fail(str(error), pytrace=False)
    else:
        del pytestconfig.stash[DEVICE]
    pytestconfig.stash[OPEN] = pytestconfig.stash[_FIXTURE] = opened
    try:
        yield opened
    finally:
        # Not `opened`, if that was closed after a case that left it unhealthy.
        last, pytestconfig.stash[OPEN] = pytestconfig.stash.get(OPEN, None), None
        if last is not None and (text := not_closed(pytestconfig, last)) is not None:
            pytestconfig.stash[NOT_CLOSED] = text
            keep_not_closed(pytestconfig, text)


@pytest.fixture(scope="session")
def rig(request: pytest.FixtureRequest) -> Rig:
    """The rig on that device. It is begun for each test that uses it; the test ends with `rig.finish()`. It requests
    the device when it is created, because pytest looks up the parameters of a fixture again in each test.
    """
    device: Device = request.getfixturevalue("device")
    with asked(request.config):
        return _made(request.config, device)


def _made(pytestconfig: pytest.Config, device: Device) -> Rig:
    option = pytestconfig.getoption
    info = device.info()
    expectations = read_expectations(option("--expectations"), device_choice(pytestconfig), info)
    profile = read_profile(option("--device-profile"))
    profile = replace(profile, require=(*profile.require, *option("--require")))
    made = make_rig(pytestconfig, device, profile, expectations)
    pytestconfig.stash[RIG] = made
    # What thousands of items leave is not looked through for cycles again, several times, when the process ends:
    # that took as long as 600 cases, in every worker, with the controller waiting for it.
    atexit.register(gc.freeze)
    for_device(pytestconfig, info)
    session_properties(pytestconfig, info)
    bundle = bundle_of(pytestconfig)
    pci = pci_of(pytestconfig) if bundle is None else str(bundle.about.get("pci", ""))
    about = remember_device(pytestconfig, info, made.capabilities, pci)
    keep_device(pytestconfig, about | {"versions": dict(info.versions)})  # in the order of the texts
    return made


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A row on a device that is not healthy is an error of its setup; it has no verdict. The device is first opened
    again, once after each case that caused it; if it is healthy then, the row runs.
    """
    config = item.config
    rig = rig_taken(item)
    if JUDGED in item.stash:  # it is run again
        del item.stash[JUDGED]
    if rig is not None:
        skip_if_waived(item)
        culprit = config.stash.get(CULPRITS, {}).get(item.nodeid)
        if culprit is not None:  # run again by another plugin: what it did is its verdict
            raise culprit
        blocked = rig.blocked
        replay = replay_of(config)
        if replay is not None:
            _as_in_the_run(item, rig, replay)
        elif (stopped := quarantined(config)) is not None:
            raise stopped
        elif blocked is not None:
            opened = open_anew(config, rig.deadline)
            if opened is not None:
                with asked(config):
                    rig.take_over(opened)
                if rig.blocked is not None:
                    with suppress(Exception):
                        close_device(config)  # it is not opened once more
            if rig.blocked is not None:
                if (recorder := recorder_of(config)) is not None:
                    recorder.blocked(item.nodeid, rig.blocked.culprit, rig.blocked.symptom)
                raise Blocked(rig.blocked.culprit, rig.blocked.symptom)
            reopened_after(config, blocked.culprit, blocked.symptom)
    arguments = getattr(item, "funcargs", {})
    current = config.stash.get(OPEN, None)
    if current is not None and arguments.get("device") is config.stash.get(_FIXTURE, None):
        arguments["device"] = current


def _as_in_the_run(item: pytest.Item, rig: Rig, replay: Replay) -> None:
    """A row that was blocked in the run is blocked; for any other the device was opened again."""
    blocked = replay.blocked(item.nodeid)
    if blocked is not None:
        raise Blocked(*blocked)
    if rig.blocked is not None:
        reopened_after(item.config, rig.blocked.culprit, rig.blocked.symptom)
        rig.take_over(rig.device)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Begin the case, and make sure that it ends. This is not a fixture, because a fixture costs as much time as a
    whole case on the model."""
    rig = rig_taken(pyfuncitem)
    if rig is None:
        if case_of(pyfuncitem.obj) is not None:
            raise Unfinished(
                "error[MKS2011]: the `rig` of this row is not that of mkeyspec: a conftest.py or a plugin has a "
                "fixture of that name; give it another one"
            )
        return (yield)
    _begin(pyfuncitem, rig)
    result = yield from _varied(pyfuncitem, rig)
    if rig.under_way:
        raise Unfinished(
            "error[MKS2011]: the test ended without rig.finish(): nothing of it was judged; "
            "call rig.finish() as its last statement"
        )
    pyfuncitem.stash[JUDGED] = True
    return result


def _varied(item: pytest.Function, rig: Rig) -> Generator[None, object, object]:
    """Call the test, with `--vary` with a rig that puts other things around its steps."""
    seed: str | None = item.config.option.vary
    if seed is None or case_of(item.obj) is None:
        return (yield)
    from mkeyspec.vary.rig import VariedRig

    arguments: dict[str, Any] = item.funcargs
    arguments["rig"] = VariedRig(rig, seed, item.nodeid)
    try:
        return (yield)
    finally:
        arguments["rig"] = rig


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Release at once the objects of a test function that ended with its own exception."""
    rig = rig_taken(item)
    before = after = None
    if rig is not None and rig.under_way:
        before = rig.blocked
        with watched(item.config, f"left after {item.nodeid}"):
            rig.leave()
        after = rig.blocked
    result = yield
    if after is not None and after is not before:
        raise Unhealthy(f"error[MKS2206]: the device is not healthy after this case: {after.symptom}")
    return result


def _begin(item: pytest.Function, rig: Rig) -> None:
    arguments: dict[str, Any] = item.funcargs
    mark = case_of(item.obj)
    path = item.path
    if mark is None:
        info = CaseInfo(item.nodeid, path.name)
    else:
        needs = (*mark.needs, *row_needs(arguments.get("row")))
        source = path if path.suffix == ".mks" else None
        about = mark.suite.source, mark.verifies, needs, source, mark.at, mark.isolated, mark.title
        info = CaseInfo(item.nodeid, *about)
    item.config.stash[BEGUN] = item
    begin_row(item.config)
    if mark is not None:
        keep_sources(item.config, path, mark)
    unmet = rig.begin(info)
    if unmet:
        raise Unmet(f"needs {', '.join(unmet)}")
