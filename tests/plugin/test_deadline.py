"""How long a run waits for what a device owes, where nobody says it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mkeyspec.plugin.again import command_of
from mkeyspec.plugin.settings_defaults import deadline_of


@pytest.mark.parametrize(
    ("device", "seconds"),
    [("model", 5), ("model:late", 5), ("soft", 5), ("soft:unkind", 5), ("mlx5_3", 30), ("mlx5_0:2", 30), ("mdel", 5)],
)
def test_a_nic_may_give_up_a_lost_peer_late(device: str, seconds: float) -> None:
    assert deadline_of(device) == seconds


def test_the_command_of_a_row_names_another_one_alone() -> None:
    def command(device: str, deadline: float) -> str:
        given: dict[str, Any] = {"--device": device, "--deadline": deadline}
        lists = ("--expectations", "--waivers", "--require")
        usual: dict[str, Any] = {"--allow-busy-port": False, **{name: [] for name in lists}}
        config: Any = SimpleNamespace(getoption=lambda name: given.get(name, usual.get(name)))
        return command_of(config, "a.mks::b")

    assert command("mlx5_0", 30.0) == "mkeyspec run a.mks::b --device mlx5_0"
    assert command("mlx5_0", 5.0) == "mkeyspec run a.mks::b --device mlx5_0 --deadline 5"
    assert command("soft", 30.0) == "mkeyspec run a.mks::b --device soft --deadline 30"
