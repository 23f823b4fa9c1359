"""Fixtures: the device of a session, and the rig that a case drives it with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from mkeyspec.plugin.opening import make_rig, open_device, read_expectations, read_profile
from mkeyspec.plugin.outcome import RIG, Unmet
from mkeyspec.plugin.property import case_properties, session_properties, verdict_properties
from mkeyspec.run.mark import Row, case_of, row_needs
from mkeyspec.run.verdict import CaseInfo

if TYPE_CHECKING:
    from mkeyspec.device.protocol import Device
    from mkeyspec.run.rig import Rig


@pytest.fixture(scope="session")
def device(pytestconfig: pytest.Config) -> Iterator[Device]:
    """The device named by `--device`, open for the session (of each xdist worker)."""
    profile = read_profile(pytestconfig.getoption("--device-profile"))
    opened = open_device(pytestconfig.getoption("--device"), profile)
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture(scope="session")
def mkeyspec_rig(pytestconfig: pytest.Config, device: Device) -> Iterator[Rig]:
    """The session's rig; tests take `rig`."""
    option = pytestconfig.getoption
    info = device.info()
    expectations = read_expectations(option("--expectations"), info)
    made = make_rig(device, read_profile(option("--device-profile")), expectations, option("--deadline"))
    pytestconfig.stash[RIG] = made
    session_properties(pytestconfig, info)
    yield made
    del pytestconfig.stash[RIG]


@pytest.fixture
def rig(request: pytest.FixtureRequest, mkeyspec_rig: Rig, device: Device) -> Iterator[Rig]:
    """The rig, begun for this case; skips with every unmet need."""
    node = request.node
    mark = case_of(request.function)
    if mark is None:
        info = CaseInfo(node.nodeid, node.path.name)
    else:
        callspec = getattr(node, "callspec", None)
        row: Row | None = callspec.params.get("row") if callspec is not None else None
        path = node.path if node.path.suffix == ".mks" else None
        info = CaseInfo(node.nodeid, mark.suite.source, mark.verifies, (*mark.needs, *row_needs(row)), path)
    unmet = mkeyspec_rig.begin(info)
    if unmet:
        if mark is not None:
            node.user_properties.extend(case_properties(request.config, mark, node.nodeid))
        raise Unmet(f"needs {', '.join(unmet)}")
    yield mkeyspec_rig
    # Set here, in teardown, properties travel in one of the three reports of a test instead of in two.
    if mark is not None:
        node.user_properties.extend(case_properties(request.config, mark, node.nodeid))
        node.user_properties.extend(verdict_properties(mkeyspec_rig.verdict))
