"""Which devices and pairs of a lab a run is on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from mkeyspec.device.select import parse
from mkeyspec.lab.file import Lab, Unit, alone_of
from mkeyspec.lab.reach import LOCAL, Reach


class NotThere(ValueError):
    """A name or a tag that the lab file has not; `str()` is one line with the fix."""


def chosen(lab: Lab, names: Sequence[str], tags: Sequence[str]) -> list[Unit]:
    """The pairs and devices of these names, or all; of these, those with one of the tags. A device of a pair runs by
    itself where it is named. Raises NotThere."""
    known = {**{name: alone_of(one) for name, one in lab.devices.items()}, **lab.pairs}
    for name in names:
        if name not in known:
            raise NotThere(f"--pair {name}: {lab.name} has no such pair or device; {_near(name, list(known))}")
    found = [known[name] for name in dict.fromkeys(names)] if names else lab.units
    all_tags = list(dict.fromkeys(tag for unit in known.values() for tag in unit.tags))
    for tag in tags:
        if tag not in all_tags:
            raise NotThere(f"--group {tag}: nothing in {lab.name} has this tag; {_near(tag, all_tags)}")
    if tags:
        found = [unit for unit in found if set(unit.tags) & set(tags)]
    if not found:
        raise NotThere(f"nothing that --pair names has a tag of --group: {', '.join(names)}; {', '.join(tags)}")
    return found


def _near(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"there are: {', '.join(known) or 'none'}"


def lab_on_trial(lab: Lab) -> Lab:
    """The same on this machine: each device is the one that its `trial` names, and what is expected of the real one
    (firmware, profile, capabilities, port, path) is not expected."""
    hosts = {name: replace(host, reach=Reach.of(LOCAL, "")) for name, host in lab.hosts.items()}
    devices = {
        name: replace(
            one, host=hosts[one.host.name], choice=parse(one.trial), text=one.trial, firmware="", profile=None,
            require=(), gid_index=None, path_mtu=None, allow_busy_port=False,
        )
        for name, one in lab.devices.items()
    }  # fmt: skip
    pairs = {
        name: replace(
            one,
            owner=devices[one.owner.name],
            peer=None if one.peer is None else devices[one.peer.name],
            way=("popen",),
        )
        for name, one in lab.pairs.items()
    }
    return replace(lab, hosts=hosts, devices=devices, pairs=pairs)
