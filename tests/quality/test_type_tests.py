"""The compiler and the rig ask values for their facts; a module that still asks for classes says why, in one line."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2] / "mkeyspec"
PACKAGES = ("compiler", "run")
LINES = Path(__file__).with_name("type_tests.toml")
MOST_IN_ALL = 169


def calls(source: str) -> int:
    """How often a module calls `isinstance`."""
    found = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += node.func.id == "isinstance"
    return found


def lines(table: dict[str, Any], prefix: str = "") -> dict[str, tuple[int, str]]:
    """Module -> (the most calls, the reason)."""
    found: dict[str, tuple[int, str]] = {}
    for name, value in table.items():
        if "most" in value:
            found[prefix + name] = value["most"], value["reason"]
        else:
            found |= lines(value, f"{prefix}{name}.")
    return found


def counted() -> dict[str, int]:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): calls(path.read_text("utf-8"))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    return {module: count for module, count in modules.items() if count}


def objections(modules: dict[str, int], allowed: dict[str, tuple[int, str]]) -> list[str]:
    wrong = []
    for module, count in modules.items():
        most, reason = allowed.get(module, (0, ""))
        if count > most:
            wrong.append(f"{module}: {count} type tests, {most} are justified in {LINES.name}")
        elif len(reason) < 20:
            wrong.append(f"{module}: its line in {LINES.name} gives no reason")
    wrong += [f"{module}: has a line in {LINES.name} and no type test" for module in sorted(allowed.keys() - modules)]
    return wrong


def test_what_is_left_is_justified() -> None:
    modules = counted()
    assert objections(modules, lines(tomllib.loads(LINES.read_text("utf-8")))) == []
    assert sum(modules.values()) <= MOST_IN_ALL


@pytest.mark.parametrize(
    ("modules", "allowed", "message"),
    [
        ({"run.rig": 2}, {"run.rig": (1, "a need is a name or a comparison")}, "2 type tests, 1 are justified"),
        ({"run.rig": 1}, {}, "1 type tests, 0 are justified"),
        ({"run.rig": 1}, {"run.rig": (1, "so")}, "gives no reason"),
        ({}, {"run.rig": (1, "a need is a name or a comparison")}, "no type test"),
    ],
)
def test_an_objection_to_each_fault(modules: dict[str, int], allowed: dict[str, tuple[int, str]], message: str) -> None:
    (found,) = objections(modules, allowed)
    assert message in found


def test_calls_are_counted_wherever_they_are() -> None:
    source = "def f(x):\n    return [isinstance(one, (int, str)) for one in x if not isinstance(one, bool)]\n"
    assert calls(source) == 2
    assert calls("text = 'isinstance(x, int)'\nmatch text:\n    case str():\n        pass\n") == 0
