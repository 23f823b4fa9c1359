"""Two ends of two stations are connected by what each says of itself: over a pyverbs of our own (fake.py)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from mkeyspec.device.protocol import PathChoice, Qp, QpAttributes, Send, Unavailable
from mkeyspec.device.verbs import device_lock, opening
from mkeyspec.device.verbs.address import EndAddress, PortAddress
from mkeyspec.device.verbs.peer import opening as peer_opening
from mkeyspec.device.verbs.peer.spec import PeerSpec, parse
from mkeyspec.device.verbs.station import Station
from tests.device.verbs.fake import Fake
from tests.device.verbs.test_opening import fake as fake

FAR = EndAddress(Qp(1 << 32, "peer", 0x4711, 64), 0xABCDEF)
OWN_GID, FAR_GID = "fe80:0000:0000:0000:0000:0000:0000:0001", "fe80:0000:0000:0000:0000:0000:0000:0009"


@pytest.fixture
def station(fake: Fake) -> Iterator[Station]:
    made = opening.open_station("mlx5_0", shared=True)
    yield made
    made.close()


def connected(station: Station, far: PortAddress, kind: str = "rc") -> EndAddress:
    station.join(far)
    own = station.end("owner", QpAttributes(type=kind, send_ops=0))
    station.connect(own.qp.handle, FAR)
    return own


def test_numbers(fake: Fake, station: Station) -> None:
    own = connected(station, PortAddress(False, 9, FAR_GID, False, 1))
    told: dict[str, Any] = fake.set["QPAttr"]
    assert told["dest_qp_num"] == 0x4711
    assert told["rq_psn"] == 0xABCDEF
    assert told["sq_psn"] == own.psn
    assert own.psn != connected(station, PortAddress(False, 9, FAR_GID, False, 1)).psn
    assert fake.given("QPAttr")["path_mtu"] == 1  # the smaller one
    assert fake.given("AHAttr") == {"dlid": 9, "sl": 0, "port_num": 1}


@pytest.mark.parametrize("required_here", [True, False])
def test_a_global_route_for_both_if_one_requires_it(fake: Fake, required_here: bool) -> None:
    fake.port["flags"] = int(required_here)
    station = opening.open_station("mlx5_0", shared=True)
    assert station.address() == PortAddress(False, 7, OWN_GID, required_here, 3)
    connected(station, PortAddress(False, 9, FAR_GID, not required_here, 3))
    assert fake.given("GID") == {"val": FAR_GID}
    assert fake.given("GlobalRoute")["sgid_index"] == 0
    assert fake.given("AHAttr")["dlid"] == 9
    station.close()


@pytest.mark.parametrize("kind", ["ud", "dci"])
def test_an_address_handle_leads_there(fake: Fake, station: Station, kind: str) -> None:
    own = connected(station, PortAddress(True, 0, FAR_GID, True, 3), kind)
    assert "AH" in fake.said()
    assert fake.given("GID") == {"val": FAR_GID}
    assert kind != "ud" or station.post(own.qp.handle, [Send(1, 2, ())], False) == 0


def test_what_is_of_no_end(station: Station) -> None:
    assert station.post(3, [Send(1, 2, ())], False) != 0
    assert station.poll(3) == []
    station.close_ends([3])


@pytest.mark.parametrize("spec", ["popen//mlx5_1", "ssh=lab@host2"])
def test_peers_of_one_run_share_a_lock(
    fake: Fake, station: Station, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    """Each worker of `-n` has a peer of its own, and all of them use one device there."""
    orders: list[dict[str, Any]] = []

    class Asked:
        def __init__(self, spec: PeerSpec, environment: dict[str, str]) -> None:
            pass

        def open(self, order: dict[str, Any]) -> None:
            orders.append(order)
            raise Unavailable("MKS0915", "no such device")

        def close(self) -> None:
            pass

    monkeypatch.setattr(peer_opening, "PeerProcess", Asked)
    with pytest.raises(Unavailable):
        peer_opening.open_pair(
            station, parse(spec), name="mlx5_1", port=1, label="", shared=False, allow_busy_port=False,
            path=PathChoice(), environment={},
        )  # fmt: skip
    assert orders[0]["run"] == "this run"
    assert "Mlx5Context.close" in fake.said()


def test_runs_of_two_hosts_are_not_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(device_lock.RUN, "")
    monkeypatch.delenv(device_lock.RUN)
    device_lock.be_one_run()
    assert os.environ[device_lock.RUN] == f"{os.uname().nodename}-{os.getpid()}"
