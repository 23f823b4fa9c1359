"""What a ticket has of the machine: doctor, versions, counters, the kernel's log, commands. The device is not opened,
since it may be wedged."""

from __future__ import annotations

import json
import platform

from mkeyspec import __version__
from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.select import DeviceChoice, parse
from mkeyspec.report.reader import Run
from mkeyspec.report.record import Machine
from mkeyspec.ticket import commands, counters
from mkeyspec.ticket.contents import Contents
from mkeyspec.ticket.kernel_log import KernelLog

_FOLDER = "machine"
_LINES = 2000
"""Of the kernel's log."""


def add(contents: Contents, run: Run) -> None:
    from mkeyspec.doctor import findings, machine

    facts = machine.examine()
    versions = {
        "mkeyspec": __version__,
        "mkeyspec of the run": run.begin.mkeyspec,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "kernel of the run": run.begin.kernel,
        "distribution": facts.distribution,
        "python": facts.python,
        "pyverbs": facts.pyverbs.generation or facts.pyverbs.error,
        **{name: version for name, version, _ in facts.libraries},
        "firmware": run.device.firmware,
        **{f"{name} of the run": version for name, version in run.device.versions.items()},
    }
    text = json.dumps(versions, indent=2) + "\n"
    contents.add(
        f"{_FOLDER}/versions.json", text, "kernel, rdma-core, pyverbs, firmware, mkeyspec: now, and in the run"
    )
    contents.add(f"{_FOLDER}/doctor.txt", findings.text(findings.findings(facts), None), "`mkeyspec doctor`, now")
    _of_the_run(contents, run)
    try:
        choice = parse(run.begin.device)
    except Unavailable as error:
        contents.lacks("counters and commands of the device", error.message)
        return
    if choice.kind == "nic":
        _of_the_device(contents, choice, run.device.pci)
    else:
        what = "the software NIC is in no kernel" if choice.kind == "soft" else f"no kernel knows {run.begin.device}"
        contents.lacks("counters, kernel log, devlink, rdma statistic, now", what)


def _of_the_run(contents: Contents, run: Run) -> None:
    unread = {what: why for look in run.machine for what, why in look.unread.items()}
    for what, why in unread.items():
        contents.lacks(f"in the run: {what}", why)
    whole = next((look for look in run.machine if look.at == "end"), None)
    if whole is not None and whole.after:
        what = "port and firmware counters that changed in the run: before, after"
        contents.add("run/counters.txt", counter_lines(whole), what)


def counter_lines(look: Machine) -> str:
    """One line for each counter that changed."""
    width = max((len(name) for name in look.after), default=0)
    lines = [f"{name:<{width}}  {look.before.get(name, 0):>12} -> {value}" for name, value in look.after.items()]
    return "\n".join(lines) + "\n"


def _of_the_device(contents: Contents, choice: DeviceChoice, pci: str) -> None:
    found = counters.read(choice.name, choice.port)
    if found.values:
        text = "".join(f"{name} {value}\n" for name, value in found.values.items())
        contents.add(f"{_FOLDER}/counters.txt", text, "all counters of the port and the device, now")
    for what, why in found.unread.items():
        contents.lacks(f"now: {what}", why)
    log = KernelLog(whole=True)
    lines = log.new(_LINES)
    if log.why:
        contents.lacks("the kernel's log, now", f"{log.why}: run as root, or set kernel.dmesg_restrict to 0")
    else:
        contents.add(f"{_FOLDER}/dmesg.txt", "\n".join(lines) + "\n", f"the kernel's log, now, the last {_LINES} lines")
    log.close()
    for name, what, command in commands.of_device(choice.name, choice.port, pci):
        told = commands.told(command)
        if told.text:
            contents.add(f"{_FOLDER}/{name}", told.text, f"{what}, now")
        if told.why:
            contents.lacks(what, told.why)
