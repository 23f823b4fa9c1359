"""Opens the peer's side of a device in a process of its own, and connects it with the owner's."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from time import monotonic, sleep

from mkeyspec.abi.constants import SendFlag
from mkeyspec.device.protocol import (
    DeviceLost,
    Info,
    PathChoice,
    Qp,
    QpAttributes,
    Refused,
    Unavailable,
    Write,
)
from mkeyspec.device.verbs import device_lock
from mkeyspec.device.verbs.device import Verbs
from mkeyspec.device.verbs.peer.far import FarStation
from mkeyspec.device.verbs.peer.process import PeerProcess
from mkeyspec.device.verbs.peer.spec import PeerSpec
from mkeyspec.device.verbs.station import Station

UNCONNECTED = "MKS0983"
REACH = 5.0
"""Seconds for a message of length zero to come through, each way."""
FABRIC = "MKEYSPEC_SOFTNIC_FABRIC"


def join_fabric() -> None:
    """Two processes on the software NIC communicate if they name one fabric. It is read once, when a process first
    opens a device; a worker's own, so that it meets nobody else."""
    if not os.environ.get(FABRIC):
        os.environ[FABRIC] = f"peer-{os.getpid()}-{secrets.token_hex(4)}"


def open_pair(
    owner: Station,
    spec: PeerSpec,
    *,
    name: str,
    port: int,
    label: str,
    shared: bool,
    allow_busy_port: bool,
    path: PathChoice,
    environment: Mapping[str, str],
) -> Verbs:
    """The device with this owner's side, and the peer's side on port `port` of `name` where `spec` says. Raises
    Unavailable, and has closed the owner's side then."""
    try:
        process = PeerProcess(spec, environment)
        try:
            device_lock.be_one_run()  # the peers of all its processes share one device there
            info, capabilities, address = process.open({
                "name": name, "port": port, "label": label, "shared": shared, "allow_busy_port": allow_busy_port,
                "gid_index": spec.gid_index, "mtu": path.mtu,
                "run": os.environ[device_lock.RUN],
            })  # fmt: skip
            told = {"host": str(process.about["host"]), "python": str(process.about["python"])}
            info = Info(info.device, info.firmware, told | info.versions)
            return _connected(owner, FarStation(process, (info, capabilities, address)), spec)
        except BaseException:
            process.close()
            raise
    except BaseException:
        owner.close()
        raise


def _connected(owner: Station, peer: FarStation, spec: PeerSpec) -> Verbs:
    layers = ["Ethernet (RoCE)" if one.address().ethernet else "InfiniBand" for one in (owner, peer)]
    if layers[0] != layers[1]:
        raise _unconnected(spec, f"the owner's port is {layers[0]}, the peer's {layers[1]}")
    device = Verbs(owner, peer)
    try:
        pair = device.qp_pair(QpAttributes(private=True))
        for qp in (pair.owner, pair.peer):
            if why := _unreached(device, qp):
                raise _unconnected(spec, f"a message from the {qp.side} does not come through: {why}")
        device.release(healthy=True)
        device.events()
    except (Refused, DeviceLost) as error:
        raise _unconnected(spec, str(error)) from None
    return device


def _unconnected(spec: PeerSpec, why: str) -> Unavailable:
    advice = "both ports must be of one network; //gid-index=N and --gid-index name the addresses"
    return Unavailable(UNCONNECTED, f"the peer, {spec.where}, can't be connected: {why}; {advice}")


def _unreached(device: Verbs, qp: Qp) -> str:
    """What is wrong with an RDMA WRITE of length zero; "" if it was acknowledged."""
    if number := device.post(qp, [Write(1, int(SendFlag.SIGNALED), (), 0, 0)]):
        return f"it is refused ({os.strerror(number)})"
    end = monotonic() + REACH
    while not (found := device.poll(qp)):
        if monotonic() > end:
            return f"nothing within {REACH:g} s"
        sleep(1e-4)
    return "" if found[0].status == "success" else found[0].status
