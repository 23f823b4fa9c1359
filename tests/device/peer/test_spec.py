"""What `--peer` names (specs.toml), and which owner can have which peer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.select import DeviceChoice, check_peer, parse
from mkeyspec.device.verbs.peer.spec import PeerSpec, port_of
from mkeyspec.device.verbs.peer.spec import parse as parse_peer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = tomllib.loads((Path(__file__).parent / "specs.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", TABLE["good"], ids=lambda row: row["text"])
def test_what_is_taken(row: dict[str, Any]) -> None:
    assert parse_peer(row["text"]) == PeerSpec(**row)


@pytest.mark.parametrize("row", TABLE["bad"], ids=lambda row: row["text"] or "nothing")
def test_what_is_refused(row: dict[str, str]) -> None:
    with pytest.raises(Unavailable) as caught:
        parse_peer(row["text"])
    assert caught.value.code == "MKS0980"
    assert row["says"] in caught.value.message


def test_a_device_with_its_port() -> None:
    assert port_of("mlx5_1") == ("mlx5_1", 1, None)
    assert port_of("mlx5_1:2") == ("mlx5_1", 2, None)
    assert port_of("soft:cx5") == ("soft", 0, "cx5")


def of(owner: str, peer: str) -> DeviceChoice:
    return check_peer(parse(owner), parse_peer(peer))


def test_the_device_of_the_peer() -> None:
    assert of("mlx5_0:2", "popen") == DeviceChoice("nic", "mlx5_0", 2)
    assert of("mlx5_0", "ssh=host2//ibp3s0") == DeviceChoice("nic", "ibp3s0", 1)
    assert of("soft:cx5", "popen").text == "soft:cx5"
    assert of("soft:cx5", "popen//soft") == of("soft:cx5", "popen")
    assert of("soft", "popen//soft:cx6").text == "soft:cx6"


@pytest.mark.parametrize(
    ("owner", "peer", "code"),
    [
        ("model", "popen", "MKS0980"),
        ("model:late", "popen//soft", "MKS0980"),
        ("bundle:a.bundle", "popen", "MKS0980"),
        ("soft", "popen//mlx5_0", "MKS0980"),
        ("mlx5_0", "popen//soft", "MKS0980"),
        ("soft", "popen//soft:cx99", "MKS0911"),
    ],
)
def test_no_pair(owner: str, peer: str, code: str) -> None:
    with pytest.raises(Unavailable) as caught:
        of(owner, peer)
    assert caught.value.code == code
