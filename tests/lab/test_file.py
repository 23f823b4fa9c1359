"""The lab file: what is wrong with it is told at its place, and what is right is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mkeyspec.files.toml_places import TomlError
from mkeyspec.lab import choose
from mkeyspec.lab.file import Lab, alone_of, read
from mkeyspec.lab.peers import peer_words
from mkeyspec.lab.reach import Reach, way_to

WRONG = sorted(Path(__file__).with_name("wrong").glob("*.toml"))


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_what_is_wrong_is_told_at_its_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `#~ LINE:COLUMN: BEGINNING` of the file is a finding, in this order, and there is no other."""
    monkeypatch.chdir(path.parent)
    wanted = [f"{path.name}:{text}" for text in re.findall(r"^#~ (.*)$", path.read_text("utf-8"), re.MULTILINE)]
    with pytest.raises(TomlError) as caught:
        read(Path(path.name))
    assert caught.value.code == "MKS0970"
    found = [line.replace("error[MKS0970]: ", "", 1) for line in str(caught.value).splitlines()]
    assert len(found) == len(wanted), found
    for line, beginning in zip(found, wanted, strict=True):
        assert line.startswith(beginning), line


def test_no_such_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab.toml").write_text("")
    with pytest.raises(TomlError, match=r"error\[MKS0903\]: no such file: lba.toml; did you mean lab.toml\?"):
        read(Path("lba.toml"))


RIGHT = """\
title = "third floor"
deadline = 20
wait = 60

[hosts.alpha]
[hosts.beta]
reach = "ssh=root@beta"
deadline = 5
at_most = 1

[[device]]
host = "alpha"
device = "mlx5_0"
port = 2
firmware = "28.*"
tags = ["cx7", "nightly"]

[[device]]
host = "beta"
device = "mlx5_0:1"
wait = 0
trial = "soft:cx5"

[[device]]
name = "spare"
host = "beta"
device = "mlx5_0:2"
tags = ["nightly"]

[[pair]]
owner = "alpha/mlx5_0:2"
peer = "beta/mlx5_0:1"
tags = ["wire"]
"""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    path = tmp_path / "lab.toml"
    path.write_text(RIGHT)
    return read(path)


def test_what_is_right_is_read(lab: Lab) -> None:
    alpha, beta, spare = lab.devices.values()
    assert list(lab.devices) == ["alpha/mlx5_0:2", "beta/mlx5_0:1", "spare"]
    assert (alpha.text, alpha.choice.port, alpha.firmware, alpha.wait, alpha.host.deadline) == (
        "mlx5_0:2", 2, "28.*", 60, 20,
    )  # fmt: skip
    assert (beta.wait, beta.host.deadline, beta.host.at_most, beta.trial) == (0, 5, 1, "soft:cx5")
    assert beta.host.reach.spec == "ssh=root@beta//python=python3"
    assert alpha.host.reach.spec == "popen"
    assert (alpha.lock, beta.lock, spare.lock) == ("alpha/mlx5_0", "beta/mlx5_0", "beta/mlx5_0")
    assert list(lab.pairs) == ["alpha/mlx5_0:2+beta/mlx5_0:1"]


@pytest.mark.parametrize(
    ("names", "tags", "wanted"),
    [
        ([], [], ["alpha/mlx5_0:2+beta/mlx5_0:1", "spare"]),
        (["alpha/mlx5_0:2"], [], ["alpha/mlx5_0:2"]),
        (["spare", "alpha/mlx5_0:2", "spare"], [], ["spare", "alpha/mlx5_0:2"]),
        ([], ["nightly"], ["spare"]),
        ([], ["nightly", "wire"], ["alpha/mlx5_0:2+beta/mlx5_0:1", "spare"]),
        (["alpha/mlx5_0:2", "spare"], ["cx7"], ["alpha/mlx5_0:2"]),
    ],
)
def test_names_and_tags_choose(lab: Lab, names: list[str], tags: list[str], wanted: list[str]) -> None:
    assert [unit.name for unit in choose.chosen(lab, names, tags)] == wanted


def test_a_trial_needs_no_hardware(lab: Lab) -> None:
    tried = choose.lab_on_trial(lab)
    assert [device.text for device in tried.devices.values()] == ["soft", "soft:cx5", "soft"]
    assert {host.reach.spec for host in tried.hosts.values()} == {"popen"}
    assert [device.lock for device in tried.devices.values()] == ["", "", ""]
    (pair,) = tried.pairs.values()
    assert pair.peer is tried.devices["beta/mlx5_0:1"]


@pytest.mark.parametrize(
    ("text", "python", "spec"),
    [
        ("local", "", "popen"),
        ("local", "/usr/bin/python3", "popen//python=/usr/bin/python3"),
        ("ssh=-p 22 a", "", "ssh=-p 22 a//python=python3"),
        ("ssh=a//python=x", "", "ssh=a//python=x"),
        ("popen//env:A=b//chdir=/tmp", "", "popen//env:A=b//chdir=/tmp"),
        ("socket=10.0.0.1:8888", "", "socket=10.0.0.1:8888"),
    ],
)
def test_ways_to_a_host(text: str, python: str, spec: str) -> None:
    assert Reach.of(text, python).spec == spec


@pytest.mark.parametrize(
    ("owner", "peer", "same", "way"),
    [
        ("local", "local", True, ("popen",)),
        ("local", "popen//env:A=b", False, ("popen",)),
        ("ssh=a", "ssh=a", True, ("popen",)),
        ("ssh=a", "ssh=b", False, ("ssh=b", "python=python3")),
        ("local", "ssh=-p 22 b//ssh_config=f//python=x", False, ("ssh=-p 22 b", "python=x", "ssh_config=f")),
        ("ssh=a", "local", False, None),
        ("local", "socket=h:1", False, None),
    ],
)
def test_how_a_host_reaches_another(owner: str, peer: str, same: bool, way: tuple[str, ...] | None) -> None:
    assert way_to(Reach.of(owner, ""), Reach.of(peer, ""), same=same) == way


def test_what_peer_is_told(lab: Lab) -> None:
    (pair,) = lab.pairs.values()
    assert peer_words(pair) == ["--peer=ssh=root@beta//python=python3//mlx5_0:1"]
    assert peer_words(alone_of(pair.owner)) == []
    tried = choose.lab_on_trial(lab).pairs[pair.name]
    assert peer_words(tried) == ["--peer=popen//soft:cx5"]
