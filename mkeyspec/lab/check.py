"""What answers in a lab: each host is reached and each device opened, in parallel, within the deadlines."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from mkeyspec.lab.file import Lab, LabDevice, Unit, alone_of
from mkeyspec.lab.gateway import Lost, NoHost
from mkeyspec.lab.hosts import Hosts, Locks
from mkeyspec.lab.peers import peer_words

_OPENING = 60.0
"""Seconds that a device has to be opened, beside the deadline of its host."""
_ERROR = re.compile(r"error\[(MKS\d{4})\]: (.*)")


@dataclass(frozen=True, slots=True)
class Answer:
    """Of a host, a device or a pair. `error`: a line with its place, "" if it answers."""

    kind: str
    name: str
    text: str
    error: str = ""


def check(lab: Lab) -> list[Answer]:
    """An answer for each host, device and pair, in the order of the file."""
    hosts = Hosts(None, lambda _: None)
    found: dict[tuple[str, str], Answer] = {}
    locks = Locks(lab.devices.values())

    def both(pair: Unit) -> None:
        try:
            with contextlib.ExitStack() as held:
                for lock in locks.of(pair.devices):
                    held.enter_context(lock)
                found["pair", pair.name] = _pair(pair, hosts, found)
        except Exception as error:  # of ours
            found["pair", pair.name] = Answer("pair", pair.name, "", f"error[MKS0999]: {error}")

    def one(device: LabDevice) -> None:
        try:
            with contextlib.ExitStack() as held:
                for lock in locks.of([device]):
                    held.enter_context(lock)
                found["device", device.name] = _opened(alone_of(device), hosts)
        except Exception as error:  # of ours
            found["device", device.name] = Answer("device", device.name, "", f"error[MKS0999]: {error}")

    def only(name: str) -> None:
        host = lab.hosts[name]
        try:
            about = hosts.reach(host).gateway.about
            text = f"{host.reach.text}: {about['host']}, mkeyspec {about['mkeyspec']}, Python {about['python']}"
            found["host", name] = Answer("host", name, text)
        except NoHost as error:
            found["host", name] = Answer("host", name, host.reach.text, str(error))

    threads = [threading.Thread(target=only, args=(name,), daemon=True) for name in lab.hosts]
    threads += [threading.Thread(target=one, args=(device,), daemon=True) for device in lab.devices.values()]
    pairs = [threading.Thread(target=both, args=(pair,), daemon=True) for pair in lab.pairs.values()]
    try:
        for part in (threads, pairs):  # a pair after its devices
            for thread in part:
                thread.start()
            for thread in part:
                thread.join()
    finally:
        hosts.close()
    names = [*(("host", name) for name in lab.hosts), *(("device", name) for name in lab.devices)]
    return [found[name] for name in [*names, *(("pair", name) for name in lab.pairs)]]


def _pair(pair: Unit, hosts: Hosts, found: dict[tuple[str, str], Answer]) -> Answer:
    """Both ends opened and connected: a message goes each way."""
    ends = " and ".join(device.name for device in pair.devices)
    lacking = [device.name for device in pair.devices if found["device", device.name].error]
    if lacking:
        return Answer("pair", pair.name, ends, f"{pair.place}: {' and '.join(lacking)} can't be used")
    answer = _opened(pair, hosts)
    return Answer("pair", pair.name, ends, answer.error)


def _opened(unit: Unit, hosts: Hosts) -> Answer:
    """What `mkeyspec doctor` says of it on its host."""
    device, name, place = unit.owner, unit.name, unit.place
    kind = "device" if unit.peer is None else "pair"
    try:
        gateway = hosts.reach(device.host).gateway
        words = ["doctor", f"--device={device.text}", "--format=json", *_path_words(device), *peer_words(unit)]
        channel = gateway.ask({"what": "ask", "command": words, "folder": "/"})
        code, out, err = gateway.answer(channel, device.host.deadline + _OPENING)
    except NoHost as error:
        return Answer(kind, name, device.text, f"{place}: its host can't be used: error[{error.code}]")
    except Lost as lost:
        return Answer(kind, name, device.text, f"{place}: error[MKS0973]: {name}: {lost}")
    try:
        found: dict[str, Any] = json.loads(out)["device"]
    except (ValueError, KeyError):
        text = (err or out).decode(errors="backslashreplace").strip().splitlines() or [f"exit code {code}"]
        said = _ERROR.search(text[-1])
        told = said[0] if said else f"error[MKS0973]: {text[-1]}"
        return Answer(kind, name, device.text, f"{place}: {told}")
    if found["error"]:
        return Answer(kind, name, device.text, f"{place}: {found['error']}")
    firmware = str(found["info"]["firmware"] or "")
    said_of = f"{device.text}: {found['info']['device']}, firmware {firmware or 'unknown'}"
    if device.firmware and not fnmatchcase(firmware, device.firmware):
        what = f"firmware {firmware or 'unknown'}, and the lab file expects {device.firmware}"
        return Answer(kind, name, said_of, f"{device.firmware_place}: error[MKS0974]: {device.name} has {what}")
    notes = [line for line in err.decode(errors="backslashreplace").splitlines() if "warning[" in line]
    return Answer(kind, name, "; ".join([said_of, *notes]))


def _path_words(device: LabDevice) -> list[str]:
    words = [] if device.gid_index is None else [f"--gid-index={device.gid_index}"]
    words += [] if device.path_mtu is None else [f"--path-mtu={device.path_mtu}"]
    return words + ["--allow-busy-port"] * device.allow_busy_port


def text_of(answers: Sequence[Answer]) -> str:
    """A line for each, with the error below it."""
    width = max(len(answer.name) for answer in answers)
    lines = []
    for answer in answers:
        lines.append(f"{'!' if answer.error else ' '} {answer.kind:<6}  {answer.name:<{width}}  {answer.text}".rstrip())
        if answer.error:
            lines.append(f"  {'':<6}  {'':<{width}}    {answer.error}")
    lacking = sum(bool(answer.error) for answer in answers)
    lines += ["", f"{lacking} of {len(answers)} don't answer as they should" if lacking else "all answer"]
    return "\n".join(lines) + "\n"
