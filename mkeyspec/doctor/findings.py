"""`mkeyspec doctor`: reports what this machine has and lacks, and what to install.

The list of devices comes from the kernel; only a named device is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from mkeyspec.device.protocol import ANY_PATH, Capabilities, Info, PathChoice
from mkeyspec.device.verbs.native import rdma_core
from mkeyspec.doctor import machine
from mkeyspec.doctor.machine import Machine

State = Literal["ok", "missing", "note"]

FAMILIES = {
    "debian": "apt-get install", "ubuntu": "apt-get install", "rhel": "dnf install", "fedora": "dnf install",
    "centos": "dnf install", "suse": "zypper install", "opensuse": "zypper install",
}  # fmt: skip
PACKAGES = {
    "apt-get install": {
        "pyverbs": "python3-pyverbs",
        "libraries": "ibverbs-providers",
        "compiler": "gcc libc6-dev",
    },
    "dnf install": {"pyverbs": "python3-pyverbs", "libraries": "libibverbs rdma-core", "compiler": "gcc glibc-devel"},
    "zypper install": {"pyverbs": "", "libraries": "libibverbs1 libmlx5-1", "compiler": "gcc glibc-devel"},
}
"""What each part is called there; "": it is not packaged."""

_CALLED = {"pyverbs": "pyverbs (python3-pyverbs)", "libraries": "libibverbs and libmlx5", "compiler": "a C compiler"}

FROM_SOURCE = "build it from PyPI: docs/verbs-device.md has the command, and what that takes"
MEMLOCK = 64 << 20
"""Bytes that should be lockable: the most that registered memory keeps pinned."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`need`: what needs it: `--device soft`, `--device NIC` or both."""

    name: str
    state: State
    text: str
    fix: tuple[str, ...] = ()
    need: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Opened:
    """A device that was named: opened, or why not."""

    name: str
    error: str = ""
    info: Info | None = None
    capabilities: Capabilities | None = None


def installer(likes: Sequence[str]) -> str | None:
    """The command that installs packages on a distribution."""
    return next((FAMILIES[like] for like in likes if like in FAMILIES), None)


def install(facts: Machine, *parts: str) -> tuple[str, ...]:
    """The commands that install these parts on this machine."""
    command = installer(facts.likes)
    if command is None:
        named = " and ".join(_CALLED[part] for part in parts)
        return (f"install {named} with this distribution's package manager",)
    names = " ".join(PACKAGES[command][part] for part in parts if PACKAGES[command][part])
    lines = [f"sudo {command} {names}"] if names else []
    if "pyverbs" in parts and not PACKAGES[command]["pyverbs"]:
        lines.append(FROM_SOURCE)
    return tuple(lines)


# Findings ------------------------------------------------------------------------------------


def findings(facts: Machine) -> list[Finding]:
    """All findings, in the order in which they are needed."""
    both = ("soft", "nic")
    kind = "a virtual environment" if facts.virtual else "no virtual environment"
    found = [
        Finding("system", "ok", facts.distribution or "an unknown distribution"),
        Finding("python", "ok", f"{facts.python} ({facts.executable}; {kind})"),
        _pyverbs(facts, both),
    ]
    missing = [name for name in ("libibverbs", "libmlx5") if name not in {library[0] for library in facts.libraries}]
    for name, version, path in facts.libraries:
        release = rdma_core({item[0]: (item[2], item[1]) for item in facts.libraries}) if name == "libmlx5" else ""
        found.append(Finding(name, "ok", f"{version} ({f'rdma-core {release}; ' if release else ''}{path})"))
    for name in missing:
        found.append(Finding(name, "missing", "the loader finds none", install(facts, "libraries"), both))
    found += [_compiler(facts), _softnic(facts), _userfaultfd(facts), *_nics(facts), _memlock(facts)]
    pages = f"{facts.huge_pages} free" + (f", {facts.huge_page_kib} KiB each" if facts.huge_page_kib else "")
    found.append(Finding("huge pages", "ok", f"{pages}; no case needs any"))
    return found


def _pyverbs(facts: Machine, need: tuple[str, ...]) -> Finding:
    own = facts.pyverbs
    if not own.error:
        whose = "; the system's, for mkeyspec alone: doctor --link-pyverbs shows it to other programs"
        return Finding("pyverbs", "ok", f"{own.generation} ({own.path}{whose if own.adopted else ''})")
    fitting = [path for path, fits in facts.elsewhere if fits]
    text = own.error
    if facts.elsewhere and not fitting:
        text += f"; the machine's own, {facts.elsewhere[0][0]}, is for another Python than {facts.python}"
        remake = "make the environment from the system's Python: make clean && make PYTHON=/usr/bin/python3 run"
        fix: tuple[str, ...] = (remake, f"or {FROM_SOURCE}")
    elif own.code == "MKS0914":
        fix = ("use pyverbs, libibverbs and libmlx5 of one rdma-core release", *install(facts, "pyverbs", "libraries"))
    else:
        fix = install(facts, "pyverbs", "libraries")
    return Finding("pyverbs", "missing", text, fix, need)


def _compiler(facts: Machine) -> Finding:
    if facts.compiler:
        return Finding("C compiler", "ok", facts.compiler)
    if facts.softnic:
        return Finding("C compiler", "ok", "none, and none is needed: the software NIC is built")
    return Finding("C compiler", "missing", "none", install(facts, "compiler"), ("soft",))


def _softnic(facts: Machine) -> Finding:
    if facts.softnic:
        return Finding("software NIC", "ok", facts.softnic)
    return Finding("software NIC", "missing", facts.softnic_missing or "there is none", (), ("soft",))


def _userfaultfd(facts: Machine) -> Finding:
    if facts.userfaultfd:
        return Finding("userfaultfd", "ok", "the software NIC is idle when nothing is posted")
    text = "not for this user: the software NIC polls, which takes a little CPU"
    return Finding("userfaultfd", "note", text, ("sudo sysctl vm.unprivileged_userfaultfd=1",))


def _nics(facts: Machine) -> list[Finding]:
    if facts.on_softnic:
        return [Finding("RDMA devices", "note", "not looked for: this process runs on the software NIC", (), ("nic",))]
    if not facts.nics:
        return [Finding("RDMA devices", "note", "none on this machine")]
    found = []
    for nic in facts.nics:
        firmware = f"firmware {nic.firmware}; " if nic.firmware else ""
        found.append(Finding(nic.name, "ok", firmware + ("; ".join(nic.ports) or "no ports")))
    closed = [path for path, allowed in facts.nodes if not allowed]
    if not facts.nodes:
        fix = ("sudo modprobe ib_uverbs",)
        found.append(Finding("permission", "missing", "there is no /dev/infiniband/uverbs*", fix, ("nic",)))
    elif closed:
        fix = ("add yourself to the group that `ls -l /dev/infiniband` shows, or run as root",)
        found.append(Finding("permission", "missing", f"{closed[0]} is closed to this user", fix, ("nic",)))
    else:
        found.append(Finding("permission", "ok", f"{facts.nodes[0][0]} can be opened"))
    return found


def _memlock(facts: Machine) -> Finding:
    if facts.memlock < 0:
        return Finding("memlock", "ok", "unlimited")
    text = f"{facts.memlock >> 10} KiB"
    if facts.memlock >= MEMLOCK or not facts.nics:
        return Finding("memlock", "ok", text)
    fix = ("ulimit -l unlimited", "to keep it so: `* - memlock unlimited` in /etc/security/limits.conf")
    return Finding("memlock", "note", f"{text}, which may not be enough for registered memory", fix)


# Opening, linking ----------------------------------------------------------------------------


def look_at(text: str, *, allow_busy_port: bool, path: PathChoice = ANY_PATH) -> Opened:
    """Open a device that was named, read its capabilities, and close it."""
    from mkeyspec.device.profile.profile import Profile
    from mkeyspec.device.protocol import Unavailable
    from mkeyspec.device.select import open_choice, parse

    try:
        device = open_choice(parse(text), Profile(), allow_busy_port=allow_busy_port, path=path)
    except Unavailable as error:
        return Opened(text, str(error))
    try:
        return Opened(text, "", device.info(), device.capabilities())
    finally:
        device.close()


def link_pyverbs(facts: Machine) -> tuple[bool, str]:
    """Make the machine's pyverbs visible in this virtual environment; whether it is now, and a line that says so."""
    if not facts.pyverbs.error and not facts.pyverbs.adopted:
        return True, f"pyverbs is there already: {facts.pyverbs.path}"
    fitting = [path for path, fits in facts.elsewhere if fits]
    if facts.pyverbs.adopted:
        fitting = [facts.pyverbs.path]
    if not fitting:
        finding = _pyverbs(facts, ())
        fixes = [fix for fix in finding.fix if "--link-pyverbs" not in fix]
        return False, f"no pyverbs to link ({finding.text}); {'; '.join(fixes)}"
    if not facts.virtual:
        return False, "this Python is not a virtual environment; nothing is linked into a system's own"
    target = machine.site_packages() / "pyverbs"
    try:
        if target.is_symlink() and not target.exists():
            target.unlink()
        target.symlink_to(fitting[0], target_is_directory=True)
    except OSError as error:
        return False, f"can't link {target}: {error.strerror}"
    return True, f"linked {target} to {fitting[0]}"


# Rendering -----------------------------------------------------------------------------------


def healthy(found: Sequence[Finding], opened: Opened | None) -> bool:
    """Whether the requested device can run: the named device, or without one the software NIC."""
    if opened is not None:
        return not opened.error
    return not lacks(found, "soft")


def lacks(found: Sequence[Finding], need: str) -> list[str]:
    """What is missing for `soft` or `nic`, by name."""
    lacking = dict.fromkeys(finding.name for finding in found if finding.state == "missing" and need in finding.need)
    if need == "nic" and any(finding.name == "RDMA devices" and not finding.need for finding in found):
        lacking["an RDMA device"] = None
    return list(lacking)


def text(found: Sequence[Finding], opened: Opened | None) -> str:
    """Text output: one line per finding, with the fix below it."""
    width = max(len(finding.name) for finding in found)
    marks = {"ok": " ", "missing": "!", "note": "-"}
    lines = []
    for finding in found:
        lines.append(f"{marks[finding.state]} {finding.name:<{width}}  {finding.text}")
        lines += [f"  {'':<{width}}    {fix}" for fix in finding.fix]
    if opened is not None:
        lines += ["", *_opened_lines(opened)]
    lines.append("")
    for word, title in (("soft", "--device soft"), ("nic", "--device NIC")):
        if word == "nic" and any(finding.name == "RDMA devices" and finding.need for finding in found):
            continue
        lacking = lacks(found, word)
        lines.append(f"{title}: {'lacks ' + ', '.join(lacking) if lacking else 'ready'}")
    return "\n".join(lines) + "\n"


def _opened_lines(opened: Opened) -> list[str]:
    if opened.error or opened.info is None or opened.capabilities is None:
        return [f"! {opened.name}: {opened.error}"]
    info, capabilities = opened.info, opened.capabilities
    lines = [f"  {info.device}: firmware {info.firmware or 'unknown'}"]
    lines += [f"    {name} {version}" for name, version in sorted(info.versions.items())]
    lines.append(f"    offers {', '.join(sorted(capabilities.offers))}")
    lines += [f"    device.{name} = {value}" for name, value in sorted(capabilities.values.items())]
    return lines


def data(facts: Machine, found: Sequence[Finding], opened: Opened | None) -> dict[str, Any]:
    """Data for JSON: the findings, and the facts they are derived from."""
    result: dict[str, Any] = {
        "healthy": healthy(found, opened),
        "findings": [asdict(finding) for finding in found],
        "machine": asdict(facts),
    }
    if opened is not None:
        result["device"] = {
            "name": opened.name,
            "error": opened.error or None,
            "info": asdict(opened.info) if opened.info is not None else None,
            "offers": sorted(opened.capabilities.offers) if opened.capabilities is not None else [],
            "values": dict(opened.capabilities.values) if opened.capabilities is not None else {},
        }
    return result
