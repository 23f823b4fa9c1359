"""Which interfaces are on a port, and whether they carry addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.device.verbs import port_in_use


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """Two ports; eth2 is on the first with a VLAN and a bond above it, eth3 on the second."""
    device = tmp_path / "infiniband" / "mlx5_0"
    for number, name in ((1, "eth2"), (2, "eth3")):
        (device / "device" / "net" / name).mkdir(parents=True)
        (device / "device" / "net" / name / "dev_port").write_text(f"{number - 1}\n")
        (tmp_path / "net" / name).mkdir(parents=True)
    (tmp_path / "net" / "eth2" / "upper_eth2.100").touch()
    (tmp_path / "net" / "eth2.100").mkdir()
    (tmp_path / "net" / "eth2.100" / "upper_br0").touch()
    return tmp_path


def test_interfaces_of_a_port_and_those_above_them(sysfs: Path) -> None:
    assert port_in_use.interfaces("mlx5_0", 1, sysfs) == ["eth2", "eth2.100", "br0"]
    assert port_in_use.interfaces("mlx5_0", 2, sysfs) == ["eth3"]
    assert port_in_use.interfaces("mlx5_0", 3, sysfs) == []
    assert port_in_use.interfaces("mlx5_9", 1, sysfs) == []


def test_gids_name_their_interface(sysfs: Path) -> None:
    folder = sysfs / "infiniband" / "mlx5_0" / "ports" / "1" / "gid_attrs" / "ndevs"
    folder.mkdir(parents=True)
    for index, name in enumerate(("eth3", "eth3", "")):
        (folder / str(index)).write_text(name + "\n")
    assert port_in_use.interfaces("mlx5_0", 1, sysfs) == ["eth3"]


def test_loops_above_an_interface_end(sysfs: Path) -> None:
    (sysfs / "net" / "br0").mkdir()
    (sysfs / "net" / "br0" / "upper_eth2").touch()
    assert port_in_use.interfaces("mlx5_0", 1, sysfs) == ["eth2", "eth2.100", "br0"]


def test_link_local_addresses_do_not_count(tmp_path: Path) -> None:
    table = tmp_path / "if_inet6"
    table.write_text(
        "fe800000000000000000000000000001 02 40 20 80     eth2\n"
        "20010db8000000000000000000000001 02 40 00 80     eth2\n"
        "20010db8000000000000000000000002 03 40 00 80     eth3\n"
    )
    assert port_in_use.addresses("eth2", table, lambda name: None) == ["2001:db8::1"]
    assert port_in_use.addresses("eth3", table, lambda name: "192.0.2.7") == ["192.0.2.7", "2001:db8::2"]
    assert port_in_use.addresses("eth4", table, lambda name: None) == []
    assert port_in_use.addresses("eth4", tmp_path / "none", lambda name: None) == []


def test_the_kernel_is_asked() -> None:
    """The one address that every machine has."""
    assert "127.0.0.1" in port_in_use.addresses("lo")
    assert port_in_use.addresses("no-such-interface") == []


def test_the_first_interface_that_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    carried = {"eth2": [], "br0": ["192.0.2.7", "2001:db8::1"]}
    monkeypatch.setattr(port_in_use, "interfaces", lambda device, number: list(carried))
    monkeypatch.setattr(port_in_use, "addresses", carried.__getitem__)
    assert port_in_use.in_use("mlx5_0", 1) == "br0 (192.0.2.7, 2001:db8::1)"
    carried["br0"] = []
    assert port_in_use.in_use("mlx5_0", 1) == ""
