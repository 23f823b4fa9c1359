"""What answers in a lab: each host is reached and each device opened, in parallel, within the deadlines."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from mkeyspec.lab.file import Lab, LabDevice
from mkeyspec.lab.gateway import Lost, NoHost
from mkeyspec.lab.hosts import Hosts

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

    def one(device: LabDevice) -> None:
        try:
            found["device", device.name] = _device(device, hosts)
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
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        hosts.close()
    for name, pair in lab.pairs.items():
        lacking = [device.name for device in pair.devices if found["device", device.name].error]
        ends = " and ".join(device.name for device in pair.devices)
        error = f"{pair.place}: {' and '.join(lacking)} can't be used" if lacking else ""
        found["pair", name] = Answer("pair", name, ends, error)
    names = [*(("host", name) for name in lab.hosts), *(("device", name) for name in lab.devices)]
    return [found[name] for name in [*names, *(("pair", name) for name in lab.pairs)]]


def _device(device: LabDevice, hosts: Hosts) -> Answer:
    name = device.name
    try:
        gateway = hosts.reach(device.host).gateway
        words = ["doctor", f"--device={device.text}", "--format=json", *_path_words(device)]
        channel = gateway.ask({"what": "ask", "command": words, "folder": "/"})
        code, out, err = gateway.answer(channel, device.host.deadline + _OPENING)
    except NoHost as error:
        return Answer("device", name, device.text, f"{device.place}: its host can't be used: error[{error.code}]")
    except Lost as lost:
        return Answer("device", name, device.text, f"{device.place}: error[MKS0973]: {name}: {lost}")
    try:
        found: dict[str, Any] = json.loads(out)["device"]
    except (ValueError, KeyError):
        text = (err or out).decode(errors="backslashreplace").strip().splitlines() or [f"exit code {code}"]
        said = _ERROR.search(text[-1])
        told = said[0] if said else f"error[MKS0973]: {text[-1]}"
        return Answer("device", name, device.text, f"{device.place}: {told}")
    if found["error"]:
        return Answer("device", name, device.text, f"{device.place}: {found['error']}")
    firmware = str(found["info"]["firmware"] or "")
    said_of = f"{device.text}: {found['info']['device']}, firmware {firmware or 'unknown'}"
    if device.firmware and not fnmatchcase(firmware, device.firmware):
        what = f"firmware {firmware or 'unknown'}, and the lab file expects {device.firmware}"
        return Answer("device", name, said_of, f"{device.firmware_place}: error[MKS0974]: {name} has {what}")
    notes = [line for line in err.decode(errors="backslashreplace").splitlines() if "warning[" in line]
    return Answer("device", name, "; ".join([said_of, *notes]))


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
