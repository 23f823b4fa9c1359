"""The lab file: hosts and how they are reached, devices with what is expected of them, pairs of devices.

    title = "third floor"
    deadline = 20

    [hosts.alpha]
    reach = "ssh=root@alpha"
    python = "/opt/mkeyspec/bin/python"

    [[device]]
    host = "alpha"
    device = "mlx5_0"
    firmware = "28.43.*"
    tags = ["cx7"]

    [[pair]]
    owner = "alpha/mlx5_0"
    peer = "beta/mlx5_1"

Paths in it are relative to its own folder. All errors are collected, each at its place (MKS0970).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from mkeyspec.device.profile.profile import ProfileError, check_required
from mkeyspec.device.profile.profile import load as load_profile
from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.select import DeviceChoice, parse
from mkeyspec.files.toml_places import Document, Step, TomlError
from mkeyspec.lab.keys import DEVICE, HOST, PAIR, TABLES, TOP, Key, is_text, meant, near, where_of
from mkeyspec.lab.reach import Reach, WrongReach, way_to

CODE = "MKS0970"
DEADLINE = 30.0
"""Seconds that a host has to answer, if the file says nothing."""


@dataclass(frozen=True, slots=True)
class Host:
    """`deadline`: seconds that it has to answer. `at_most`: runs at a time; 0: as many as it has devices. `place`: of
    messages."""

    name: str
    reach: Reach
    deadline: float
    at_most: int
    place: str


@dataclass(frozen=True, slots=True)
class LabDevice:
    """A device of the lab. `text`: as `--device` names it on its host."""

    name: str
    host: Host
    choice: DeviceChoice
    text: str
    firmware: str = ""
    """A pattern, as of `fnmatch`; "": any."""
    profile: Path | None = None
    expectations: tuple[Path, ...] = ()
    waivers: tuple[Path, ...] = ()
    require: tuple[str, ...] = ()
    gid_index: int | None = None
    path_mtu: int | None = None
    allow_busy_port: bool = False
    deadline: float | None = None
    wait: float | None = None
    """Seconds to wait for its lock."""
    tags: tuple[str, ...] = ()
    trial: str = "soft"
    """The device that stands for it where the lab is tried on one machine."""
    place: str = ""
    firmware_place: str = ""

    @property
    def lock(self) -> str:
        """What one run at a time has: a NIC of a host, whatever the port. A device that each process has for itself
        has none: ""."""
        return f"{self.host.name}/{self.choice.name}" if self.choice.kind == "nic" else ""


@dataclass(frozen=True, slots=True)
class Unit:
    """What a suite runs on: a device, or the owner of a pair with its peer."""

    name: str
    owner: LabDevice
    peer: LabDevice | None = None
    way: tuple[str, ...] = ()
    """How the owner's host reaches the peer's, in the parts of `--peer`."""
    tags: tuple[str, ...] = ()
    place: str = ""

    @property
    def devices(self) -> tuple[LabDevice, ...]:
        return (self.owner,) if self.peer is None else (self.owner, self.peer)


@dataclass(frozen=True, slots=True)
class Lab:
    name: str
    """What messages call the file."""
    title: str
    hosts: dict[str, Host]
    devices: dict[str, LabDevice]
    pairs: dict[str, Unit]

    @property
    def units(self) -> list[Unit]:
        """The pairs, and the devices that are in none."""
        paired = {device.name for pair in self.pairs.values() for device in pair.devices}
        alone = [alone_of(one) for one in self.devices.values() if one.name not in paired]
        return [*self.pairs.values(), *alone]


def alone_of(device: LabDevice) -> Unit:
    return Unit(device.name, device, tags=device.tags, place=device.place)


def read(path: Path) -> Lab:
    """The lab in a file. Raises TomlError (MKS0970) with all that is wrong with it, a line each."""
    name = os.path.relpath(path)
    if not path.is_file():
        there = sorted(one.name for one in path.parent.glob("*.toml")) if path.parent.is_dir() else []
        found = get_close_matches(path.name, there, n=1)
        fix = f"; did you mean {found[0]}?" if found else ""
        raise TomlError("MKS0903", f"mkeyspec: error[MKS0903]: no such file: {name}{fix}")
    document = Document(path, name, CODE)
    lab = _Reader(document).read()
    document.errors.sort(key=_place)
    document.finish()
    return lab


@dataclass(slots=True)
class _Reader:
    document: Document
    names: dict[str, str] = field(default_factory=dict)
    """Of devices and pairs: the place of each."""

    def read(self) -> Lab:
        values = self.document.values
        top = self._checked({key: value for key, value in values.items() if key not in TABLES}, TOP, (), TABLES)
        hosts = self._hosts(values.get("hosts", {}), float(top.get("deadline", DEADLINE)))
        devices: dict[str, LabDevice] = {}
        for number, table in self._tables("device"):
            device = self._device(table, ("device", number), hosts, top.get("wait"))
            if device is not None:
                devices[device.name] = device
        pairs: dict[str, Unit] = {}
        for number, table in self._tables("pair"):
            pair = self._pair(table, ("pair", number), devices)
            if pair is not None:
                pairs[pair.name] = pair
        if not devices and not self.document.errors:
            self.document.error('the file names no device: write [[device]], and below it device = "mlx5_0"')
        return Lab(self.document.name, str(top.get("title", "")), hosts, devices, pairs)

    def _tables(self, key: str) -> list[tuple[int, dict[str, Any]]]:
        value = self.document.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.document.error(f"`{key}` is a list of tables: write {TABLES[key]}, once for each", key)
            return []
        return list(enumerate(value))

    def _checked(
        self, table: dict[str, Any], keys: dict[str, Key], path: tuple[Step, ...], more: Iterable[str] = ()
    ) -> dict[str, Any]:
        """The values of a table that are right; an error at each of the others."""
        found: dict[str, Any] = {}
        for key, value in table.items():
            kind = keys.get(key)
            if kind is None:
                self.document.error(
                    f"unknown key `{key}`{where_of(path)}; {meant(key, [*keys, *more], path)}", *path, key
                )
            elif not kind.right(value):
                self.document.error(f"`{key}` is {kind.words}: write {kind.example}", *path, key)
            else:
                found[key] = value
        return found

    def _hosts(self, tables: Any, deadline: float) -> dict[str, Host]:
        if not isinstance(tables, dict) or not all(isinstance(one, dict) for one in tables.values()):
            self.document.error("`hosts` holds a table of each host: write [hosts.alpha]", "hosts")
            return {}
        found: dict[str, Host] = {}
        for name, table in tables.items():
            path = ("hosts", name)
            if not is_text(name) or "/" in name:
                self.document.error(f"a host can't be called {name!r}: its devices are called HOST/DEVICE", *path)
                continue
            values = self._checked(table, HOST, path)
            try:
                reach = Reach.of(values.get("reach", "local"), values.get("python", ""))
            except WrongReach as error:
                self.document.error(str(error), *path, "reach")
                reach = Reach.of("local", "")
            seconds = float(values.get("deadline", deadline))
            found[name] = Host(name, reach, seconds, values.get("at_most", 0), self.document.at(*path))
        return found

    def _device(
        self, table: dict[str, Any], path: tuple[Step, ...], hosts: dict[str, Host], wait: float | None
    ) -> LabDevice | None:
        values = self._checked(table, DEVICE, path)
        host = self._host_of(values, path, hosts)
        if "device" not in table:
            self.document.error('it says no `device`: write device = "mlx5_0"', *path)
        choice, text = self._choice(values, path)
        trial = values.get("trial", "soft")
        if "trial" in values:
            self._parsed(trial, (*path, "trial"))
        for number, name in enumerate(values.get("require", ())):
            try:
                check_required([name])
            except ProfileError as error:
                self.document.error(str(error), *path, "require", number)
        profile = None
        if "profile" in values:
            profile = self._file(values["profile"], *path, "profile")
            self._profile(profile, (*path, "profile"))
        lists = {
            key: tuple(self._file(name, *path, key, number) for number, name in enumerate(values.get(key, ())))
            for key in ("expectations", "waivers")
        }
        if host is None or choice is None:
            return None
        name = values.get("name", f"{host.name}/{text}")
        if not self._named(name, path):
            return None
        plain = {key: values[key] for key in ("firmware", "gid_index", "path_mtu", "allow_busy_port") if key in values}
        return LabDevice(
            name, host, choice, text, **plain, profile=profile, expectations=lists["expectations"],
            waivers=lists["waivers"], require=tuple(values.get("require", ())), deadline=values.get("deadline"),
            wait=values.get("wait", wait), tags=tuple(values.get("tags", ())), trial=trial,
            place=self.document.at(*path), firmware_place=self.document.at(*path, "firmware"),
        )  # fmt: skip

    def _host_of(self, values: dict[str, Any], path: tuple[Step, ...], hosts: dict[str, Host]) -> Host | None:
        if "host" not in values:
            if len(hosts) == 1 and not any(
                line.startswith(self.document.at(*path, "host")) for line in self.document.errors
            ):
                return next(iter(hosts.values()))
            self.document.error('it says no `host`: write host = "alpha", and [hosts.alpha] for it', *path)
            return None
        host = hosts.get(values["host"])
        if host is None:
            known = f"the hosts are: {', '.join(hosts)}" if hosts else f"write [hosts.{values['host']}]"
            self.document.error(f"no host {values['host']!r}; {near(values['host'], hosts) or known}", *path, "host")
        return host

    def _choice(self, values: dict[str, Any], path: tuple[Step, ...]) -> tuple[DeviceChoice | None, str]:
        if "device" not in values:
            return None, ""
        text = str(values["device"])
        choice = self._parsed(text, (*path, "device"))
        if choice is not None and choice.kind == "bundle":
            self.document.error(
                "a bundle is a file, and no device of a lab: `mkeyspec judge` judges it", *path, "device"
            )
            return None, ""
        if "port" in values and choice is not None:
            if choice.kind != "nic" or ":" in text:
                self.document.error(f"`port` is of an RDMA device without one, as mlx5_0, not of {text}", *path, "port")
                return None, ""
            text = f"{text}:{values['port']}"
            choice = parse(text)
        return choice, text

    def _parsed(self, text: str, path: tuple[Step, ...]) -> DeviceChoice | None:
        try:
            return parse(text)
        except Unavailable as error:
            self.document.error(error.message, *path)
            return None

    def _profile(self, path: Path, place: tuple[Step, ...]) -> None:
        if not path.is_file():
            return
        try:
            load_profile(path)
        except (ProfileError, OSError, ValueError) as error:
            self.document.error(f"the profile can't be used: {error}", *place)

    def _pair(self, table: dict[str, Any], path: tuple[Step, ...], devices: dict[str, LabDevice]) -> Unit | None:
        values = self._checked(table, PAIR, path)
        ends: list[LabDevice] = []
        for key in ("owner", "peer"):
            if key not in table:
                self.document.error(f"it says no `{key}`: write {PAIR[key].example}", *path)
            elif key in values:
                device = devices.get(values[key])
                if device is not None:
                    ends.append(device)
                elif len(devices) == len(self._tables("device")) or near(values[key], devices):  # else it may be wrong
                    known = f"the devices are: {', '.join(devices)}"
                    self.document.error(f"no device {values[key]!r}; {near(values[key], devices) or known}", *path, key)
        if len(ends) < 2:
            return None
        owner, peer = ends
        if owner is peer:
            self.document.error(f"both ends are {owner.name}; a device alone needs no pair", *path, "peer")
            return None
        name = values.get("name", f"{owner.name}+{peer.name}")
        if not self._named(name, path):
            return None
        way = self._way(values, owner, peer, path)
        return (
            None
            if way is None
            else Unit(name, owner, peer, way, tuple(values.get("tags", ())), self.document.at(*path))
        )

    def _way(
        self, values: dict[str, Any], owner: LabDevice, peer: LabDevice, path: tuple[Step, ...]
    ) -> tuple[str, ...] | None:
        """How the owner's host reaches the peer's."""
        for device, key in ((owner, "owner"), (peer, "peer")):
            if device.choice.kind not in ("nic", "soft"):
                self.document.error(
                    f"{device.name} has no ports: pairs are of RDMA devices and software NICs", *path, key
                )
                return None
        there, same = peer.host.reach, owner.host is peer.host
        if "reach" in values:
            python = "" if "python=" in values["reach"] else there.parts.get("python", "")
            try:
                there = Reach.of(values["reach"], python)
            except WrongReach as error:
                self.document.error(str(error), *path, "reach")
                return None
            same = there.is_local
        way = way_to(owner.host.reach, there, same=same)
        if way is None:
            fix = f'how {owner.host.name} reaches {peer.host.name} is not said: write reach = "ssh=HOST" in this pair'
            self.document.error(fix, *path)
        return way

    def _named(self, name: str, path: tuple[Step, ...]) -> bool:
        before = self.names.setdefault(name, self.document.at(*path))
        if before == self.document.at(*path):
            return True
        where = before.partition(":")[2].partition(":")[0]
        key = ("name",) if "name" in self._at(path) else ()
        self.document.error(f"{name} is in the file twice, first in line {where}; give one another name", *path, *key)
        return False

    def _at(self, path: tuple[Step, ...]) -> Any:
        value: Any = self.document.values
        for step in path:
            value = value[step]
        return value

    def _file(self, name: str, *path: Step) -> Path:
        place = Path(os.path.abspath(self.document.path.parent / name))
        if not place.is_file():
            there = sorted(one.name for one in place.parent.glob(f"*{place.suffix}")) if place.parent.is_dir() else []
            found = get_close_matches(place.name, there, n=1)
            fix = (
                f"did you mean {found[0]}?"
                if found
                else f"paths are relative to the folder of {self.document.path.name}"
            )
            self.document.error(f"no such file: {name}; {fix}", *path)
        return place


def _place(line: str) -> tuple[int, ...]:
    """Line and column of an error."""
    return tuple(int(part) for part in line.partition(": error[")[0].split(":")[-2:] if part.isdecimal())
