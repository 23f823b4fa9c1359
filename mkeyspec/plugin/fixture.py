"""Fixtures: the device of a session, and the rig that a case drives it with."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec.plugin.opening import DEVICE, make_rig, open_device, read_choice, read_expectations, read_profile
from mkeyspec.plugin.outcome import BEGUN, RIG, Unmet
from mkeyspec.plugin.property import session_properties
from mkeyspec.plugin.watch import watched
from mkeyspec.run.mark import case_of, row_needs
from mkeyspec.run.verdict import CaseInfo

if TYPE_CHECKING:
    from mkeyspec.device.protocol import Device
    from mkeyspec.run.rig import Rig


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
    try:
        yield opened
    finally:
        with watched(pytestconfig, "closed"):
            opened.close()


@pytest.fixture(scope="session")
def rig(request: pytest.FixtureRequest) -> Rig:
    """The rig on that device. Each test that takes it finds it begun for itself, and ends with `rig.finish()`.

    It asks for the device when it is made: pytest looks up again in each test whatever a fixture's signature names.
    """
    device: Device = request.getfixturevalue("device")
    pytestconfig = request.config
    option = pytestconfig.getoption
    info = device.info()
    expectations = read_expectations(option("--expectations"), read_choice(option("--device")), info)
    made = make_rig(device, read_profile(option("--device-profile")), expectations, option("--deadline"))
    pytestconfig.stash[RIG] = made
    # What thousands of items leave is not looked through for cycles again, several times, when the process ends:
    # that took as long as 600 cases, in every worker, with the controller waiting for it.
    atexit.register(gc.freeze)
    session_properties(pytestconfig, info)
    return made


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Begin the case. Not a fixture of each test: pytest spends on one what the model spends on a whole case."""
    arguments: dict[str, Any] = pyfuncitem.funcargs
    rig: Rig | None = arguments.get("rig")
    if rig is None:
        return
    mark = case_of(pyfuncitem.obj)
    path = pyfuncitem.path
    if mark is None:
        info = CaseInfo(pyfuncitem.nodeid, path.name)
    else:
        needs = (*mark.needs, *row_needs(arguments.get("row")))
        source = path if path.suffix == ".mks" else None
        info = CaseInfo(pyfuncitem.nodeid, mark.suite.source, mark.verifies, needs, source, mark.at, mark.isolated)
    pyfuncitem.config.stash[BEGUN] = pyfuncitem
    unmet = rig.begin(info)
    if unmet:
        raise Unmet(f"needs {', '.join(unmet)}")
