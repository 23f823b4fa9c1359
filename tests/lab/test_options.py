"""No option of `run` is dropped without a word where there is a lab: it goes on, is used here, or is refused."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.cli import lab_run
from mkeyspec.cli import run as run_command
from mkeyspec.cli.session import Failure
from mkeyspec.lab.cargo import Cargo

HERE = {
    "help", "paths", "generated", "lab", "pair", "group", "trial", "wait_for_device", "shipped", "junit", "row_ids",
}  # fmt: skip
"""Used by the process that has the lab; `wait_for_device` is sent with the lab file's own."""
DRAWN = {"generate", "seed", "minutes"}
"""Of drawn cases, which `run` refuses before."""


def actions() -> dict[str, argparse.Action]:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    run_command.add(commands)
    return {action.dest: action for action in commands.choices["run"]._actions}


def test_all_are_known() -> None:
    assert not (HERE | DRAWN | set(lab_run._NOT_HERE)) - set(actions())


@pytest.mark.parametrize("name", sorted(set(actions()) - HERE - DRAWN))
def test_it_goes_on_or_is_refused(tmp_path: Path, name: str) -> None:
    all_actions = actions()
    options: Any = argparse.Namespace(**{one: action.default for one, action in all_actions.items()}, rest=[])
    action = all_actions[name]
    file = tmp_path / "file.toml"
    file.touch()
    word = str(file) if action.metavar == "FILE" else "7"
    many = isinstance(action.default, list)
    setattr(options, name, [word] if many else 1 if action.nargs == 0 else word)
    if name in lab_run._NOT_HERE:
        options.lab = str(file)
        with pytest.raises(Failure, match=f"MKS0905.*--{name.replace('_', '-')} and --lab"):
            lab_run.run(options)
        return
    words = lab_run._words(options, Cargo(tmp_path, tmp_path))
    given = {one.partition("=")[0] for one in words}
    assert given & set(action.option_strings), words
