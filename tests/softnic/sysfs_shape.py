"""Scenario: what programs read in sysfs about the PCI function and find by resolving its links."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from uverbs import LIBC, libc, refusal


def resolved(path: str) -> str:
    return str(Path(path).resolve())


def pci_shape() -> None:
    """The device is a function of a PCI bus, as sysfs of a machine shows one (Linux Documentation/ABI, sysfs-bus-pci):
    its class entries are links into /sys/devices."""
    slot = Path("/sys/class/infiniband/mlx5_0/device").resolve().name
    domain, bus, function = slot.split(":")
    assert (len(domain), len(bus), len(function)) == (4, 2, 4)
    function_path = f"/sys/devices/pci{domain}:{bus}/{slot}"
    assert resolved("/sys/class/infiniband/mlx5_0") == f"{function_path}/infiniband/mlx5_0"
    assert resolved("/sys/class/infiniband_verbs/uverbs0") == f"{function_path}/infiniband_verbs/uverbs0"
    assert resolved("/sys/class/infiniband_verbs/uverbs0/device") == function_path
    assert resolved(f"/sys/bus/pci/devices/{slot}") == function_path
    assert Path(f"{function_path}/driver").resolve().name == "mlx5_core"
    assert Path(f"{function_path}/subsystem").resolve().name == "pci"
    assert Path("/sys/class/infiniband/mlx5_0").is_symlink()
    # libc's own, which resolves without a symbol that could be preloaded; a link's words are relative.
    LIBC.realpath.restype = ctypes.c_char_p
    for name in ("realpath", "canonicalize_file_name"):
        room = ctypes.create_string_buffer(4096)
        call = getattr(LIBC, name)
        call.restype = ctypes.c_char_p
        path = b"/sys/class/infiniband/mlx5_0"
        said = call(path, room) if name == "realpath" else call(path)
        assert said == f"{function_path}/infiniband/mlx5_0".encode(), name
    assert str(Path("/sys/class/infiniband/mlx5_0").readlink()).startswith("../../devices/pci")
    # By the directory that libibverbs tells its users (ibv_device.ibdev_path), two names up is the function.
    there = Path(f"{os.environ['SYSFS_PATH']}/class/infiniband/mlx5_0").resolve().parents[1]
    assert there.name == slot
    for root in (there, Path(function_path), Path("/sys/class/infiniband/mlx5_0/device")):
        assert (root / "vendor").read_text() == "0x15b3\n"
        assert (root / "device").read_text() == "0x1021\n"
        assert (root / "class").read_text() == "0x020700\n"
        assert (root / "numa_node").read_text() == "-1\n"
        assert (root / "subsystem_vendor").read_text() == "0x15b3\n"
        assert f"PCI_SLOT_NAME={slot}\n" in (root / "uevent").read_text()
        assert "GT/s" in (root / "current_link_speed").read_text()
        assert int((root / "current_link_width").read_text()) in (8, 16)
        assert [entry.name for entry in (root / "infiniband").iterdir()] == ["mlx5_0"]
    assert (there / "local_cpulist").read_text().startswith("0")
    # What is not ours stays as it is.
    assert resolved("/sys/class/net") == "/sys/class/net"
    assert refusal(libc, "readlink", b"/sys/class/nothing", ctypes.create_string_buffer(9), 9) == "ENOENT"
