"""Facts about this machine for the verbs device, collected without opening a device or changing anything."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import sys
import sysconfig
from dataclasses import dataclass, field
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

_USERFAULTFD = {"x86_64": 323, "aarch64": 282, "ppc64le": 364, "s390x": 355, "riscv64": 282}
_USER_MODE_ONLY = 1


@dataclass(frozen=True, slots=True)
class Pyverbs:
    """The pyverbs that this Python finds: where, which, or why it can't be loaded (`code` and `error`)."""

    path: str = ""
    generation: str = ""
    code: str = ""
    error: str = ""
    adopted: bool = False
    """The system's, which only mkeyspec finds; other programs of the environment need a link."""


@dataclass(frozen=True, slots=True)
class Nic:
    """An RDMA device as described by sysfs."""

    name: str
    firmware: str = ""
    ports: tuple[str, ...] = ()
    """One phrase each: `1: ACTIVE, Ethernet, eth0 (192.0.2.7)`."""


@dataclass(frozen=True, slots=True)
class Machine:
    distribution: str = ""
    likes: tuple[str, ...] = ()
    """The distribution's id and those it is like."""
    python: str = ""
    executable: str = ""
    virtual: bool = False
    suffix: str = ""
    """What this Python's extension modules end in."""
    pyverbs: Pyverbs = field(default_factory=Pyverbs)
    elsewhere: tuple[tuple[str, bool], ...] = ()
    """Other pyverbs of the machine: directory, and whether it was built for this Python."""
    libraries: tuple[tuple[str, str, str], ...] = ()
    """(name, version, path)."""
    compiler: str = ""
    softnic: str = ""
    softnic_missing: str = ""
    nics: tuple[Nic, ...] = ()
    nodes: tuple[tuple[str, bool], ...] = ()
    """/dev/infiniband/uverbs*, and whether it can be opened for reading and writing."""
    memlock: int = -1
    """Bytes; -1 is no limit."""
    huge_pages: int = 0
    huge_page_kib: int = 0
    userfaultfd: bool = False
    on_softnic: bool = False
    """This process runs on the software NIC, and sees no other device."""


def examine() -> Machine:
    """This machine."""
    from mkeyspec.device.soft import preload, softnic
    from mkeyspec.device.verbs import pyverbs_location

    on_softnic = preload.active()
    name, likes = distribution(Path("/etc/os-release"))
    pages, size = huge_pages(Path("/proc/meminfo"))
    found = pyverbs()
    library = softnic.library()
    compiler = softnic.compiler()
    return Machine(
        distribution=name,
        likes=likes,
        python=platform.python_version(),
        executable=sys.executable,
        virtual=sys.prefix != sys.base_prefix,
        suffix=EXTENSION_SUFFIXES[0],
        pyverbs=found,
        elsewhere=pyverbs_location.elsewhere(pyverbs_location.PLACES, EXTENSION_SUFFIXES[0], found.path),
        libraries=libraries(),
        compiler=" ".join(compiler) if compiler else "",
        softnic=str(library) if library is not None else "",
        softnic_missing=(softnic.missing() or "") if library is None else "",
        nics=() if on_softnic else nics(Path("/sys/class/infiniband")),
        nodes=nodes(Path("/dev/infiniband")),
        memlock=resource.getrlimit(resource.RLIMIT_MEMLOCK)[0],
        huge_pages=pages,
        huge_page_kib=size,
        userfaultfd=userfaultfd(),
        on_softnic=on_softnic,
    )


def distribution(path: Path) -> tuple[str, tuple[str, ...]]:
    """PRETTY_NAME, and ID with ID_LIKE, of an os-release file."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "", ()
    values = {}
    for line in lines:
        key, equals, value = line.partition("=")
        if equals:
            values[key.strip()] = value.strip().strip("\"'")
    likes = [values.get("ID", ""), *values.get("ID_LIKE", "").split()]
    return values.get("PRETTY_NAME", values.get("ID", "")), tuple(like for like in likes if like)


def pyverbs() -> Pyverbs:
    """Load it, as a run would."""
    from mkeyspec.device.protocol import Unavailable
    from mkeyspec.device.verbs import names, pyverbs_location

    try:
        names.load()
    except Unavailable as error:
        return Pyverbs(_place(), code=error.code, error=error.message.split(";")[0])
    return Pyverbs(_place(), names.generation(), adopted=pyverbs_location.adopted())


def _place() -> str:
    module = sys.modules.get("pyverbs")
    paths = list(getattr(module, "__path__", ()))
    return paths[0] if paths else ""


def libraries() -> tuple[tuple[str, str, str], ...]:
    """libibverbs and libmlx5 as the loader finds them."""
    from mkeyspec.device.verbs.native import loaded

    for soname in ("libibverbs.so.1", "libmlx5.so.1"):
        try:
            ctypes.CDLL(soname)
        except OSError:
            continue
    return tuple((name, version, path) for name, (path, version) in sorted(loaded().items()))


def nics(folder: Path) -> tuple[Nic, ...]:
    """RDMA devices, from sysfs."""
    from mkeyspec.device.verbs import port_in_use

    found = []
    for entry in sorted(folder.glob("*")):
        ports = []
        for place in sorted((entry / "ports").glob("*"), key=lambda item: item.name.zfill(4)):
            carried = port_in_use.in_use(entry.name, int(place.name)) if place.name.isdigit() else ""
            words = [_word(place / "state").split(": ")[-1], _word(place / "link_layer"), carried]
            ports.append(f"{place.name}: {', '.join(word for word in words if word)}")
        found.append(Nic(entry.name, _word(entry / "fw_ver"), tuple(ports)))
    return tuple(found)


def _word(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def nodes(folder: Path) -> tuple[tuple[str, bool], ...]:
    """The device files of verbs."""
    return tuple((str(path), os.access(path, os.R_OK | os.W_OK)) for path in sorted(folder.glob("uverbs*")))


def huge_pages(path: Path) -> tuple[int, int]:
    """(how many are free, KiB of one) of a meminfo file."""
    values: dict[str, int] = {}
    for line in _word(path).splitlines():
        words = line.split()
        if len(words) >= 2 and words[1].isdigit():
            values[words[0].rstrip(":")] = int(words[1])
    return values.get("HugePages_Free", 0), values.get("Hugepagesize", 0)


def userfaultfd() -> bool:
    """Whether userfaultfd is available; with it the software NIC needs no polling."""
    number = _USERFAULTFD.get(platform.machine())
    if number is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    for flags in (os.O_CLOEXEC | _USER_MODE_ONLY, os.O_CLOEXEC):
        descriptor = libc.syscall(ctypes.c_long(number), ctypes.c_int(flags))
        if descriptor >= 0:
            os.close(descriptor)
            return True
    return False


def site_packages() -> Path:
    """Where packages of this Python go."""
    return Path(sysconfig.get_path("platlib"))
