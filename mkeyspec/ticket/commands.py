"""Commands of the machine that tell of a device: devlink, rdma, lspci, ibv_devinfo. None of them changes anything."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from shutil import which

SECONDS = 20.0
"""A device that is wedged may keep a command waiting for its firmware."""
_ELSEWHERE = os.pathsep.join(("/usr/sbin", "/sbin", "/usr/local/sbin", "/opt/mellanox/iproute2/sbin"))


@dataclass(frozen=True, slots=True)
class Told:
    """`why` is "" if the command ended well."""

    text: str
    why: str


def of_device(device: str, port: int, pci: str) -> Iterator[tuple[str, str, list[str]]]:
    """File, what it is, command."""
    yield "rdma-statistic.txt", "`rdma statistic show`", ["rdma", "statistic", "show", "link", f"{device}/{port}"]
    yield (
        "rdma-resource.txt",
        "`rdma resource show`: objects of the device, of all processes",
        ["rdma", "resource", "show", device],
    )
    yield "rdma-link.txt", "`rdma link show`: the state of the port", ["rdma", "link", "show", f"{device}/{port}"]
    yield "ibv-devinfo.txt", "`ibv_devinfo -v`: attributes of the device", ["ibv_devinfo", "-v", "-d", device]
    if pci:
        yield (
            "devlink-info.txt",
            "`devlink dev info`: firmware, running and stored",
            ["devlink", "dev", "info", f"pci/{pci}"],
        )
        yield (
            "devlink-health.txt",
            "`devlink health show`: the driver's health reporters",
            ["devlink", "health", "show", f"pci/{pci}"],
        )
        yield "lspci.txt", "`lspci -vv`: the PCI function", ["lspci", "-vv", "-s", pci]


def told(command: list[str]) -> Told:
    """What a command prints. Nothing is raised."""
    path = which(command[0]) or which(command[0], path=_ELSEWHERE)
    if path is None:
        return Told("", f"`{command[0]}` is not installed")
    try:
        done = subprocess.run(
            [path, *command[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        return Told("", f"`{' '.join(command)}` did not end within {SECONDS:g} s")
    except OSError as error:
        return Told("", f"`{' '.join(command)}`: {error.strerror}")
    text, said = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace").strip()
    if done.returncode:
        return Told(
            text, f"`{' '.join(command)}` ended with {done.returncode}: {said.splitlines()[0] if said else 'no word'}"
        )
    return Told(text, "")
