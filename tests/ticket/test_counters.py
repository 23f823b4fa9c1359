"""Counters of a port, from a directory that looks like sysfs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.ticket.counters import Counters, changes, read

FILES = {
    "ports/1/counters/port_rcv_data": "4096\n",
    "ports/1/counters/symbol_error": "0\n",
    "ports/1/hw_counters/out_of_sequence": "3\n",
    "ports/1/hw_counters/lifespan": "12\n",
    "ports/2/counters/port_rcv_data": "7\n",
}
VALUES = {
    "ports/1/counters/port_rcv_data": 4096,
    "ports/1/counters/symbol_error": 0,
    "ports/1/hw_counters/out_of_sequence": 3,
}
"""Of port 1; `lifespan` is a setting (Documentation/ABI/stable/sysfs-class-infiniband)."""


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "mlx5_0" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_all_of_the_port_are_read(sysfs: Path) -> None:
    assert read("mlx5_0", 1, sysfs) == Counters(VALUES, {})


@pytest.mark.parametrize("text", ["", "N/A", "-1", "1 2", "\xff"])
def test_what_is_not_a_number_is_told(sysfs: Path, text: str) -> None:
    (sysfs / "mlx5_0/ports/1/counters/symbol_error").write_text(text, encoding="latin-1")
    found = read("mlx5_0", 1, sysfs)
    assert "ports/1/counters/symbol_error" not in found.values
    assert "not a number" in found.unread["ports/1/counters/symbol_error"]
    assert found.values["ports/1/counters/port_rcv_data"] == 4096


@pytest.mark.parametrize("device", ["mlx5_1", "no such"])
def test_what_is_not_there_is_told(sysfs: Path, device: str) -> None:
    found = read(device, 1, sysfs)
    assert not found.values
    assert found.unread == dict.fromkeys(["ports/1/counters", "ports/1/hw_counters"], "No such file or directory")


def test_a_file_that_can_not_be_read_is_told(sysfs: Path) -> None:
    place = sysfs / "mlx5_0/ports/1/counters/symbol_error"
    place.unlink()
    place.mkdir()
    assert read("mlx5_0", 1, sysfs).unread == {"ports/1/counters/symbol_error": "Is a directory"}


def test_only_what_changed_counts() -> None:
    assert list(changes({"a": 1, "b": 2}, {"a": 1, "b": 5, "c": 9})) == [("b", 2, 5)]
