"""A pair of devices in two processes: run by test_on_soft.py in a process on the software NIC."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion, DeviceLost, PathChoice, Qp, QpAttributes, Send, Sge, Unavailable
from mkeyspec.device.select import open_choice, parse
from mkeyspec.device.soft import preload
from mkeyspec.device.verbs.device import Verbs
from mkeyspec.device.verbs.objects import SIDES
from mkeyspec.device.verbs.peer import opening
from mkeyspec.device.verbs.peer.far import FarStation
from mkeyspec.run import health_check
from tests.device.peer.test_process import HERE


def opened(peer: str = "popen", mtu: int | None = None) -> Verbs:
    device = open_choice(parse("soft"), Profile(), path=PathChoice(mtu=mtu, peer=peer))
    assert isinstance(device, Verbs)
    return device


@pytest.fixture
def nic() -> Iterator[Verbs]:
    device = opened()
    yield device
    device.close()


def far(device: Verbs) -> FarStation:
    station = device._at["peer"]
    assert isinstance(station, FarStation)
    return station


def polled(device: Verbs, qp: Qp) -> None:
    """Often: a thread of the peer may be at an answer when a signal comes to it."""
    for _ in range(10000):
        device.poll(qp)


def test_each_side_is_in_its_process(nic: Verbs) -> None:
    pid = far(nic).process.about["pid"]
    assert pid != os.getpid()
    told = nic.info()
    assert told.device == told.versions["peer"] == "soft"
    assert told.firmware == told.versions["peer firmware"]
    assert told.versions["peer host"] == os.uname().nodename
    handles = {nic.mkey(side, create_flags=int(MkeyFlag.INDIRECT), max_entries=4).handle for side in SIDES}
    handles |= {nic.pd(side).handle for side in SIDES}
    pair = nic.qp_pair(QpAttributes())
    assert len(handles | {pair.owner.handle, pair.peer.handle}) == 6
    assert pair.owner.number != pair.peer.number
    assert health_check.symptom(nic, 5.0) == ""


def test_polls_in_one_message(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    memory = nic.memory("peer", 8, access=1)
    assert nic.post_recv(pair.peer, 5, [Sge(memory.addr, 8, memory.lkey)]) == 0
    assert nic.post(pair.owner, [Send(6, 2, ())]) == 0
    found: list[Completion] = []
    end = time.monotonic() + 5
    while not found and time.monotonic() < end:
        found += nic.poll_often(pair.peer, 44)
    assert [(one.wr_id, one.status, one.queue) for one in found] == [(5, "success", "recv")]
    assert nic.poll_often(replace(pair.peer, handle=3), 44) == []


def test_its_smaller_mtu(nic: Verbs, tmp_path: Path) -> None:
    """The path MTU is what both ports can; a QP of one that asks for more gets no answer."""
    small = tmp_path / "small.toml"
    small.write_text("mtu = 256\nmax_sge = 12\n")
    device = opened(f"popen//soft:{small}")
    values = device.capabilities().values
    assert (values["active_mtu"], values["max_sge"]) == (256, 12)
    assert health_check.symptom(device, 5.0) == ""
    device.close()
    with pytest.raises(Unavailable, match="at the peer, this host: --path-mtu 512: the active MTU"):
        opened(f"popen//soft:{small}", 512)


def test_what_the_peer_lacks_is_lacking(nic: Verbs) -> None:
    device = opened("popen//soft:cx5")
    lacks = nic.capabilities().offers - device.capabilities().offers
    assert "signature.crc32c" in lacks
    assert not any(name.startswith("crypto") for name in lacks)  # is the owner's
    device.close()


def test_by_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ssh that starts a shell here, which has nothing of this environment: the software NIC's is brought there."""
    (tmp_path / "ssh").write_text(f"#!/bin/sh\n{HERE}\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    device = opened(f"ssh=lab@host2//python={sys.executable}")
    assert health_check.symptom(device, 5.0) == ""
    device.close()


def test_two_networks(tmp_path: Path) -> None:
    roce = tmp_path / "roce.toml"
    roce.write_text("roce = true\n")
    with pytest.raises(Unavailable) as caught:
        opened(f"popen//soft:{roce}")
    assert caught.value.code == "MKS0983"
    assert "the owner's port is InfiniBand, the peer's Ethernet (RoCE)" in caught.value.message


def test_a_peer_that_is_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    opening.join_fabric()
    real = preload.own_variables
    monkeypatch.setattr(preload, "own_variables", lambda wanted: real(wanted) | {opening.FABRIC: "another"})
    with pytest.raises(Unavailable) as caught:
        opened("popen//soft:cx7")
    assert caught.value.code == "MKS0983"
    assert "a message from the owner does not come through: retry_exc" in caught.value.message


def test_a_device_that_is_not_at_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preload, "own_variables", lambda wanted: {"LD_PRELOAD": ""})
    with pytest.raises(Unavailable, match="at the peer, this host: no RDMA device 'mlx5_0'") as caught:
        opened("popen//soft:cx7")
    assert caught.value.code == "MKS0915"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_peer_that_goes_away(nic: Verbs, number: int) -> None:
    pair = nic.qp_pair(QpAttributes())
    process = far(nic).process
    process._limit = 0.5
    os.kill(process.about["pid"], number)
    with pytest.raises(DeviceLost, match=r"error\[MKS2016\]: the peer, this host, is lost: "):
        polled(nic, pair.peer)
    assert "is lost" in health_check.symptom(nic, 1.0)
    begun = time.monotonic()
    nic.close()
    assert time.monotonic() - begun < 2
    again = opened()
    assert health_check.symptom(again, 5.0) == ""
    again.close()


def test_the_peer_ends_with_this_process() -> None:
    """Though it is killed: its channel ends."""
    there, here = os.pipe()
    if not (child := os.fork()):
        device = opened()
        os.write(here, str(far(device).process.about["pid"]).encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    pid = int(os.read(there, 100))
    end = time.monotonic() + 5
    while Path(f"/proc/{pid}/stat").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}/stat").exists()
