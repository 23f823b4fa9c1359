"""`mkeyspec doctor`: what it finds on machines of all kinds, and what it advises there."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mkeyspec import cli
from mkeyspec.device.verbs import pyverbs_location
from mkeyspec.doctor import findings, machine
from mkeyspec.doctor.findings import Opened
from mkeyspec.doctor.machine import Machine, Nic, Pyverbs

WHOLE = Machine(
    distribution="Debian GNU/Linux 12 (bookworm)",
    likes=("debian",),
    python="3.11.2",
    executable="/venv/bin/python",
    virtual=True,
    suffix=".cpython-311-x86_64-linux-gnu.so",
    pyverbs=Pyverbs("/usr/lib/python3/dist-packages/pyverbs", "49 or earlier"),
    libraries=(("libibverbs", "1.14.44.0", "/lib/libibverbs.so.1"), ("libmlx5", "1.24.44.0", "/lib/libmlx5.so.1")),
    compiler="cc",
    softnic="/x/libmkeyspec_softnic.so",
    nics=(Nic("mlx5_0", "22.40.1000", ("1: ACTIVE, Ethernet",)),),
    nodes=(("/dev/infiniband/uverbs0", True),),
    memlock=-1,
    userfaultfd=True,
)
GONE = Pyverbs("", code="MKS0913", error="there is no pyverbs in this Python")


def told(facts: Machine) -> dict[str, findings.Finding]:
    return {finding.name: finding for finding in findings.findings(facts)}


def fixes(facts: Machine, name: str) -> str:
    finding = told(facts)[name]
    assert finding.state != "ok"
    return "\n".join(finding.fix)


def test_a_machine_that_has_everything() -> None:
    found = findings.findings(WHOLE)
    assert {finding.state for finding in found} == {"ok"}
    assert findings.lacks(found, "soft") == findings.lacks(found, "nic") == []
    text = findings.text(found, None)
    assert "--device soft: ready" in text
    assert "--device NIC: ready" in text
    assert "rdma-core 44.0" in text


@pytest.mark.parametrize(
    ("likes", "words"),
    [
        (("debian",), "sudo apt-get install python3-pyverbs ibverbs-providers"),
        (("ubuntu", "debian"), "sudo apt-get install python3-pyverbs ibverbs-providers"),
        (("rocky", "rhel", "centos", "fedora"), "sudo dnf install python3-pyverbs libibverbs rdma-core"),
        (("fedora",), "sudo dnf install python3-pyverbs"),
        (("opensuse-leap", "suse", "opensuse"), "build it from PyPI"),
        (("arch",), "package manager"),
        ((), "package manager"),
    ],
)
def test_what_to_install_by_distribution(likes: tuple[str, ...], words: str) -> None:
    facts = replace(WHOLE, likes=likes, pyverbs=GONE)
    assert words in fixes(facts, "pyverbs")
    assert findings.lacks(findings.findings(facts), "soft") == ["pyverbs"]


def test_a_pyverbs_for_another_python() -> None:
    facts = replace(WHOLE, pyverbs=GONE, elsewhere=(("/usr/lib/python3/dist-packages/pyverbs", False),))
    assert "PYTHON=/usr/bin/python3" in fixes(facts, "pyverbs")
    assert "link" not in fixes(facts, "pyverbs")


def test_libraries_of_another_release() -> None:
    facts = replace(WHOLE, pyverbs=Pyverbs("/x", code="MKS0914", error="they don't fit"))
    assert "one rdma-core release" in fixes(facts, "pyverbs")


def test_no_compiler_matters_only_without_a_library() -> None:
    assert told(replace(WHOLE, compiler=""))["C compiler"].state == "ok"
    facts = replace(WHOLE, compiler="", softnic="", softnic_missing="it has to be built")
    assert "gcc libc6-dev" in fixes(facts, "C compiler")
    assert findings.lacks(findings.findings(facts), "soft") == ["C compiler", "software NIC"]
    assert findings.lacks(findings.findings(facts), "nic") == []


def test_libraries_that_are_not_there() -> None:
    assert "ibverbs-providers" in fixes(replace(WHOLE, libraries=WHOLE.libraries[:1]), "libmlx5")


def test_permission_and_limits() -> None:
    closed = replace(WHOLE, nodes=(("/dev/infiniband/uverbs0", False),))
    assert "ls -l /dev/infiniband" in fixes(closed, "permission")
    assert "modprobe ib_uverbs" in fixes(replace(WHOLE, nodes=()), "permission")
    assert findings.lacks(findings.findings(closed), "nic") == ["permission"]
    assert findings.lacks(findings.findings(closed), "soft") == []
    assert "ulimit -l unlimited" in fixes(replace(WHOLE, memlock=65536), "memlock")
    assert told(replace(WHOLE, memlock=65536, nics=()))["memlock"].state == "ok"
    assert "unprivileged_userfaultfd" in fixes(replace(WHOLE, userfaultfd=False), "userfaultfd")


def test_no_devices_and_a_process_that_sees_only_the_software_nic() -> None:
    found = findings.findings(replace(WHOLE, nics=()))
    assert findings.lacks(found, "nic") == ["an RDMA device"]
    hidden = findings.findings(replace(WHOLE, nics=(), on_softnic=True))
    assert findings.lacks(hidden, "nic") == []
    assert "--device NIC" not in findings.text(hidden, None)


def test_a_device_that_was_opened() -> None:
    found = findings.findings(replace(WHOLE, pyverbs=GONE))
    opened = findings.look_at("model", allow_busy_port=False)
    assert findings.healthy(found, opened)
    assert "offers" in findings.text(found, opened)
    refused = findings.look_at("modle", allow_busy_port=False)
    assert not findings.healthy(findings.findings(WHOLE), refused)
    assert "MKS0901" in findings.text(found, refused)
    data = findings.data(WHOLE, found, refused)
    assert data["healthy"] is False
    assert "MKS0901" in data["device"]["error"]
    json.dumps(findings.data(WHOLE, found, opened))


# Linking -------------------------------------------------------------------------------------


def test_linking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, site = tmp_path / "dist" / "pyverbs", tmp_path / "site"
    there.mkdir(parents=True)
    site.mkdir()
    monkeypatch.setattr(machine, "site_packages", lambda: site)
    facts = replace(WHOLE, pyverbs=GONE, elsewhere=((str(there), True),))
    assert findings.link_pyverbs(replace(facts, virtual=False))[0] is False
    assert not (site / "pyverbs").exists()
    (site / "pyverbs").symlink_to(tmp_path / "gone")  # a link that leads nowhere any more
    linked, line = findings.link_pyverbs(facts)
    assert linked
    assert str(there) in line
    assert (site / "pyverbs").resolve() == there
    refused, line = findings.link_pyverbs(facts)
    assert not refused
    assert "File exists" in line
    assert findings.link_pyverbs(WHOLE)[0] is True
    (site / "pyverbs").unlink()
    adopted = replace(WHOLE, pyverbs=Pyverbs(str(there), "49 or earlier", adopted=True))
    assert "--link-pyverbs" in told(adopted)["pyverbs"].text
    assert findings.link_pyverbs(adopted) == (True, f"linked {site / 'pyverbs'} to {there}")
    refused, line = findings.link_pyverbs(replace(WHOLE, pyverbs=GONE))
    assert not refused
    assert "apt-get install" in line
    assert "--link-pyverbs" not in line


# The machine ---------------------------------------------------------------------------------


def test_a_distribution_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "os-release"
    file.write_text('NAME="Rocky"\nPRETTY_NAME=\'Rocky Linux 9.4\'\nID=rocky\nID_LIKE="rhel centos fedora"\nodd\n')
    assert machine.distribution(file) == ("Rocky Linux 9.4", ("rocky", "rhel", "centos", "fedora"))
    assert machine.distribution(tmp_path / "none") == ("", ())


def test_other_pyverbs_by_their_suffix(tmp_path: Path) -> None:
    for name, module in (("a", "device.cpython-311-x.so"), ("b", "device.cpython-39-x.so"), ("c", "readme.txt")):
        (tmp_path / name / "pyverbs").mkdir(parents=True)
        (tmp_path / name / "pyverbs" / module).touch()
    places = tuple(str(tmp_path / name) for name in "abc")
    a, b = (str(tmp_path / name / "pyverbs") for name in "ab")
    assert pyverbs_location.elsewhere(places, ".cpython-311-x.so", "") == ((a, True), (b, False))
    assert pyverbs_location.elsewhere(places, ".cpython-311-x.so", a) == ((b, False),)
    assert pyverbs_location.elsewhere((f"{tmp_path}/*",), ".cpython-311-x.so", "") == ((a, True), (b, False))


def test_devices_by_sysfs(tmp_path: Path) -> None:
    port = tmp_path / "mlx5_0" / "ports" / "1"
    port.mkdir(parents=True)
    (tmp_path / "mlx5_0" / "fw_ver").write_text("22.40.1000\n")
    (port / "state").write_text("4: ACTIVE\n")
    (port / "link_layer").write_text("InfiniBand\n")
    assert machine.nics(tmp_path) == (Nic("mlx5_0", "22.40.1000", ("1: ACTIVE, InfiniBand",)),)
    assert machine.nics(tmp_path / "none") == ()


def test_huge_pages_and_nodes(tmp_path: Path) -> None:
    file = tmp_path / "meminfo"
    file.write_text("MemTotal: 1 kB\nHugePages_Free:    12\nHugepagesize:    2048 kB\nodd\n")
    assert machine.huge_pages(file) == (12, 2048)
    assert machine.huge_pages(tmp_path / "none") == (0, 0)
    (tmp_path / "uverbs0").touch()
    assert machine.nodes(tmp_path) == ((str(tmp_path / "uverbs0"), True),)


def test_this_machine() -> None:
    """Whatever it is, it can be examined, and nothing is opened."""
    facts = machine.examine()
    assert facts.python == ".".join(map(str, sys.version_info[:3]))
    assert findings.text(findings.findings(facts), None).endswith("\n")


# The command ---------------------------------------------------------------------------------


def run(monkeypatch: pytest.MonkeyPatch, facts: Machine, *words: str) -> int:
    monkeypatch.setattr(machine, "examine", lambda: facts)
    return cli.main(["doctor", *words])


def test_exit_codes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, WHOLE) == 0
    assert run(monkeypatch, replace(WHOLE, pyverbs=GONE)) == 1
    assert run(monkeypatch, replace(WHOLE, pyverbs=GONE), "--device", "model") == 0
    capsys.readouterr()
    assert run(monkeypatch, WHOLE, "--device", "sotf") == 2
    assert "MKS0901" in capsys.readouterr().err


def test_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, WHOLE, "--format", "json", "--device", "model") == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert answer["healthy"] is True
    assert "signature.crc32" in answer["device"]["offers"]
    assert {finding["state"] for finding in answer["findings"]} == {"ok"}
    assert Opened("x").error == ""


def test_linking_by_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, WHOLE, "--link-pyverbs") == 0
    assert "there already" in capsys.readouterr().out
    assert run(monkeypatch, replace(WHOLE, pyverbs=GONE), "--link-pyverbs") == 1
    assert "no pyverbs to link" in capsys.readouterr().err
