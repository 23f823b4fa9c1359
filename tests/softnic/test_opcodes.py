"""All numbers of commands and opcodes: opcodes.toml and docs/softnic.md say what is done; all else is refused."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.softnic import preloaded

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE: dict[str, Any] = tomllib.loads((Path(__file__).parent / "opcodes.toml").read_text(encoding="utf-8"))
PAGE = (Path(__file__).parents[2] / "docs" / "softnic.md").read_text(encoding="utf-8")


def swept(what: str) -> list[int]:
    done = preloaded.run("opcode_sweep.py", what)
    assert done.returncode == 0, done.stderr
    numbers = json.loads(done.stdout)
    assert isinstance(numbers, list)
    return numbers


@pytest.mark.parametrize("what", TABLE["devx"])
def test_devx_commands(what: str) -> None:
    assert swept(what) == sorted(TABLE["devx"][what]["done"].values())


def test_work_requests() -> None:
    assert swept("wqe") == sorted(TABLE["wqe"]["done"].values())


def test_verbs() -> None:
    assert swept("write") == sorted(TABLE["write"].values())


def test_nothing_is_done_and_refused() -> None:
    for part in (*TABLE["devx"].values(), TABLE["wqe"]):
        assert not set(part["done"].values()) & set(part["refused"].values())


def named(heading: str) -> set[str]:
    """The names in the row of a table of docs/softnic.md."""
    row = re.search(rf"^\| {re.escape(heading)} \|(.*)\|$", PAGE, re.MULTILINE)
    assert row, heading
    return set(re.findall(r"[A-Z0-9_]{3,}", row[1]))


ROWS = {
    "general": "general commands",
    "create": "objects created",
    "modify": "QPs modified",
    "query": "objects queried",
}


@pytest.mark.parametrize("what", ROWS)
@pytest.mark.parametrize("outcome", ["done", "refused"])
def test_page(what: str, outcome: str) -> None:
    assert named(f"{ROWS[what]}, {outcome}") == set(TABLE["devx"][what][outcome])


@pytest.mark.parametrize("outcome", ["done", "refused"])
def test_page_of_work_requests(outcome: str) -> None:
    assert named(f"work requests, {outcome}") == set(TABLE["wqe"][outcome])
