"""Parses `--device`, before anything is opened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mkeyspec.device.outside import open_outside, outside_devices
from mkeyspec.device.protocol import ANY_PATH, PathChoice, Unavailable

if TYPE_CHECKING:
    from mkeyspec.device.profile.profile import Profile
    from mkeyspec.device.protocol import Device
    from mkeyspec.device.verbs.peer.spec import PeerSpec
    from mkeyspec.device.verbs.station import Station

WORDS = ("model", "soft")
HELP = "model, model:late, soft[:PERSONALITY], bundle:FILE, or an RDMA device as mlx5_0[:PORT]"

_NIC = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*)(?::(.*))?\Z", re.DOTALL)
_LOOKS_LIKE_ONE = re.compile(r"(mlx5_|rocep|roceo|ibp|ibs|rdmap|rdma)\w*\d\w*\Z")
Kind = Literal["model", "late", "soft", "nic", "outside", "bundle"]
ANY_PORT = 0
"""The first that is active."""
SOFT_NIC = "mlx5_0"
"""The name of the software NIC's device."""


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """`name` and `port` are those of an RDMA device; `personality` None is that of the process."""

    kind: Kind
    name: str = ""
    port: int = 1
    personality: str | None = None
    argument: str = ""
    """Of a device of another package, and of a bundle: what follows its name."""

    @property
    def text(self) -> str:
        """As it would be written, whole."""
        if self.kind == "nic":
            return f"{self.name}:{self.port}"
        if self.kind in ("outside", "bundle"):
            return f"{self.name}:{self.argument}" if self.argument else self.name
        if self.kind == "late":
            return "model:late"
        return self.kind if self.personality is None else f"{self.kind}:{self.personality}"


def parse(text: str) -> DeviceChoice:
    """What `--device` names. Raises Unavailable (MKS0901, MKS0911); opens nothing."""
    if text == "model":
        return DeviceChoice("model")
    if text == "model:late":
        return DeviceChoice("late")
    if text == "soft":
        return DeviceChoice("soft", SOFT_NIC, ANY_PORT)
    if text.startswith("soft:"):
        from mkeyspec.device.soft.personality import PersonalityError, personality

        wanted = text.removeprefix("soft:")
        try:
            personality(wanted)
        except PersonalityError as error:
            raise Unavailable("MKS0911", str(error)) from None
        return DeviceChoice("soft", SOFT_NIC, ANY_PORT, personality=wanted)
    name, _, argument = text.partition(":")
    if name == "bundle" and argument:
        return DeviceChoice("bundle", name, argument=argument)
    if name in outside_devices():
        return DeviceChoice("outside", name, argument=argument)
    match = _NIC.match(text)
    known = match is not None and (_LOOKS_LIKE_ONE.match(match[1]) or _is_there(match[1]))
    if match is None or not known:
        near = get_close_matches(text.split(":")[0], [*WORDS, *outside_devices()], n=1)
        advice = f"did you mean {near[0]}?" if near else f"there are: {', '.join([HELP, *outside_devices()])}"
        raise Unavailable("MKS0901", f"no device {text!r}; {advice} (--device model needs no hardware)")
    port = match[2] if match[2] is not None else "1"
    if not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 255:
        raise Unavailable("MKS0901", f"no port {port!r}: a port of {match[1]} is a number from 1, as in {match[1]}:1")
    return DeviceChoice("nic", match[1], int(port))


def _is_there(name: str) -> bool:
    return Path("/sys/class/infiniband", name).exists()


def open_choice(
    choice: DeviceChoice,
    profile: Profile,
    *,
    allow_busy_port: bool = False,
    path: PathChoice = ANY_PATH,
) -> Device:
    """The device, open. Raises Unavailable with the fix. `path` is of devices with a port."""
    if path.peer is not None:
        from mkeyspec.device.verbs.peer.spec import parse as parse_peer

        return _open_with(choice, parse_peer(path.peer), allow_busy_port, path)
    if path != ANY_PATH and choice.kind not in ("soft", "nic"):
        text = f"--gid-index and --path-mtu are of RDMA devices and of the software NIC, not of {choice.text}"
        raise Unavailable("MKS0905", text)
    if choice.kind == "model":
        from mkeyspec.device.model.device import Model

        return Model(profile)
    if choice.kind == "late":
        from mkeyspec.device.model.late import Late

        return Late(profile)
    if choice.kind == "outside":
        return open_outside(choice.name, choice.argument, profile)
    from mkeyspec.device.verbs.device import Verbs

    return Verbs(_open_station(choice, allow_busy_port, path))


def _open_station(choice: DeviceChoice, allow_busy_port: bool, path: PathChoice) -> Station:
    from mkeyspec.device.soft import lab_login as soft_login
    from mkeyspec.device.verbs import lab_login
    from mkeyspec.device.verbs.opening import open_station

    if choice.kind == "soft":
        from mkeyspec.device.soft import preload

        preload.ensure(choice.personality, whole=False)
        lab = soft_login.of_environment()
        label, name = choice.text, choice.name
        return open_station(name, choice.port, allow_busy_port=True, shared=True, label=label, lab=lab, path=path)
    lab = lab_login.of_environment()
    return open_station(choice.name, choice.port, allow_busy_port=allow_busy_port, lab=lab, path=path)


def check_peer(choice: DeviceChoice, peer: PeerSpec) -> DeviceChoice:
    """The peer's device. Raises Unavailable (MKS0980, MKS0911) where it can't be one of this owner's; opens nothing."""
    from mkeyspec.device.verbs.peer.spec import CODE, port_of

    if choice.kind not in ("soft", "nic"):
        raise Unavailable(CODE, f"--peer is of RDMA devices and of the software NIC, not of {choice.text}")
    if not peer.device:
        return choice
    name, port, personality = port_of(peer.device)
    if (name == "soft") != (choice.kind == "soft"):
        raise Unavailable(CODE, f"--peer {peer.text}: a NIC and the software NIC have no network in common")
    if name != "soft":
        return DeviceChoice("nic", name, port)
    return choice if personality is None else parse(peer.device)


def _open_with(choice: DeviceChoice, spec: PeerSpec, allow_busy_port: bool, path: PathChoice) -> Device:
    from mkeyspec.device.verbs.peer.opening import join_fabric, open_pair

    peer = check_peer(choice, spec)
    environment: dict[str, str] = {}
    if choice.kind == "soft":
        from mkeyspec.device.soft import preload

        join_fabric()
        if spec.kind == "ssh" or peer != choice:
            environment = preload.own_variables(peer.personality)
    return open_pair(
        _open_station(choice, allow_busy_port, path),
        spec,
        name=peer.name,
        port=peer.port,
        label=peer.text,
        shared=peer.kind == "soft",
        allow_busy_port=allow_busy_port or peer.kind == "soft",
        path=path,
        environment=environment,
    )
