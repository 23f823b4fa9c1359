"""Other uses of a port of an RDMA device: the network interfaces on it, and their addresses.

Cases provoke errors, which would disturb other traffic. So a port whose interface has an address is refused unless
the caller allows it. Link-local IPv6 addresses don't count: every interface that is up has one.
"""

from __future__ import annotations

import contextlib
import fcntl
import socket
import struct
from collections.abc import Callable
from pathlib import Path

SYSFS = Path("/sys/class")
INET6 = Path("/proc/net/if_inet6")
_SIOCGIFADDR = 0x8915
_LINK_LOCAL = "20"


def interfaces(device: str, port: int, sysfs: Path = SYSFS) -> list[str]:
    """The network interfaces of a port, and those built on them (VLANs, bonds, bridges)."""
    found: list[str] = []
    listed = sysfs / "infiniband" / device / "ports" / str(port) / "gid_attrs" / "ndevs"
    for entry in sorted(listed.glob("*")):
        with contextlib.suppress(OSError):
            found.append(entry.read_text().strip())
    if not found:
        wanted = port - 1
        for interface in sorted((sysfs / "infiniband" / device / "device" / "net").glob("*")):
            number = -1
            with contextlib.suppress(OSError, ValueError):
                number = int((interface / "dev_port").read_text())
            if number in (-1, wanted):
                found.append(interface.name)
    found = list(dict.fromkeys(name for name in found if name))
    for name in found:  # grows: an interface above may have one above it
        for upper in sorted((sysfs / "net" / name).glob("upper_*")):
            above = upper.name.removeprefix("upper_")
            if above not in found:
                found.append(above)
    return found


def _ipv4(name: str) -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
        except OSError:
            return None
    return socket.inet_ntoa(answer[20:24])


def addresses(name: str, inet6: Path = INET6, ipv4: Callable[[str], str | None] = _ipv4) -> list[str]:
    """The IP addresses of an interface."""
    found = [address] if (address := ipv4(name)) is not None else []
    with contextlib.suppress(OSError):
        for line in inet6.read_text().splitlines():
            fields = line.split()
            if len(fields) == 6 and fields[5] == name and fields[3] != _LINK_LOCAL:
                found.append(socket.inet_ntop(socket.AF_INET6, bytes.fromhex(fields[0])))
    return found


def in_use(device: str, port: int) -> str:
    """`eth0 (192.0.2.7)` of the first interface on this port that carries an address; "" if none does."""
    for name in interfaces(device, port):
        carried = addresses(name)
        if carried:
            return f"{name} ({', '.join(carried)})"
    return ""
