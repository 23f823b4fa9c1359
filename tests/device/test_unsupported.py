"""Each place that raises `Unsupported` has its need (unsupported.toml): a slip of an author is never a skip."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from mkeyspec import plan
from mkeyspec.device.profile.profile import OFFERS
from tests.compiler.statements.lower_text import rows
from tests.shipped import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LACKS: list[dict[str, Any]] = tomllib.loads((ROOT / "tests/device/unsupported.toml").read_text())["lack"]
AGAIN = {"mkeyspec/device/verbs/peer/process.py call"}
"""What the station of a peer has raised is raised again here; its own place is listed."""
MODEL = ("mkeyspec/device/model/section.py", "mkeyspec/device/model/wqe.py")


def raising(node: ast.AST, name: str = "") -> Iterator[str]:
    """The names of the functions in which `Unsupported` is raised, one for each raise."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise) and child.exc is not None and "Unsupported" in ast.unparse(child.exc):
            yield name
        yield from raising(child, child.name if isinstance(child, ast.FunctionDef) else name)


def places() -> set[str]:
    return {
        f"{path.relative_to(ROOT)} {name}"
        for path in (ROOT / "mkeyspec").rglob("*.py")
        for name in raising(ast.parse(path.read_text()))
    }


def needs(lines: list[str]) -> set[str]:
    (row,) = rows("\n".join(["memory m = counter(8)", "peer memory w[72]", *lines]))
    return {f"device.{need.live.member}" if isinstance(need, plan.Comparison) else str(need) for need in row.needs}


def test_each_place_that_raises_it_is_listed() -> None:
    assert places() == {lack["place"] for lack in LACKS} | AGAIN


@pytest.mark.parametrize("lack", LACKS, ids=lambda lack: f"{lack['place'].split()[1]}-{lack['need']}")
def test_its_need_is_stated_before_the_row_runs(lack: dict[str, Any]) -> None:
    assert lack["need"] in needs(lack["lines"])


def test_the_model_offers_nothing_that_it_raises_it_for() -> None:
    own = {lack["need"] for lack in LACKS if lack["place"].startswith(MODEL)}
    assert own
    assert not own & OFFERS


def test_a_raise_that_is_not_listed_would_be_found() -> None:
    text = "class A:\n    def f(self):\n        if 1:\n            raise protocol.Unsupported('x') from None\n"
    assert list(raising(ast.parse(text))) == ["f"]
