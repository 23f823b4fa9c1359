"""A case that uses a setup is the case with the setup's lines in its place: the same rows, needs and steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from mkeyspec import plan
from mkeyspec.compiler.compile import compile_file
from tests.run.text import told, verdicts

BEGIN = """
    memory m = framed(random(512 * n, seed=1), d)
    let data = random(512 * n, seed=1)
    mkey k { block_signature }
    if how == "signed" {
        configure k { access local_write; layout list(m); signature { mem d } }
    } else {
        configure k { access local_write; layout list(m) }
    }
"""
CASE = """
case one
    "A title, and a head."
    verifies SIG-08
    needs memcpy
    for n in 1, 2
    memory before = counter(8)
    for how in "signed", "plain"
    {begin}
    let t = data
    repeat n {{
        transmit k by send
        expect wire == pick(how == "signed", t, m)
    }}
    expect before == unchanged
"""
FILE = "mks 1\nlet d = crc32(ones) every 512\n{head}" + CASE


def suite(text: str, folder: Path) -> plan.Suite:
    path = folder / "a.mks"
    path.write_text(text, encoding="utf-8")
    found = compile_file(path, root=folder)
    assert found.suite is not None, [str(one) for one in found.diagnostics]
    return found.suite


def without_places(value: Any) -> Any:
    """The same without places, which differ."""
    if isinstance(value, plan.At):
        return None if value.turn is None else value.turn.number
    if isinstance(value, tuple):
        return tuple(without_places(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        found = {
            one.name: without_places(getattr(value, one.name)) for one in fields(value) if one.init and one.compare
        }
        return (type(value).__name__, tuple(found.items()))
    return value


def rows(found: plan.Suite) -> Iterator[tuple[Any, ...]]:
    for row in found.cases[0].rows:
        yield row.id, row.needs, without_places(row.steps)


def test_it_is_the_case_with_the_lines_written_out(tmp_path: Path) -> None:
    written = suite(FILE.format(head="", begin=BEGIN), tmp_path)
    used = suite(FILE.format(head=f"setup start {{{BEGIN}}}", begin="setup start"), tmp_path)
    assert list(rows(used)) == list(rows(written))
    assert len(used.cases[0].rows) == 4
    assert replace(used.cases[0], rows=(), at=plan.At(1, 1)) == replace(written.cases[0], rows=(), at=plan.At(1, 1))


def test_several_setups_one_after_the_other(tmp_path: Path) -> None:
    halves = BEGIN.partition("    mkey k")
    head = f"setup bytes {{{halves[0]}}}\nsetup key {{ {halves[1]}{halves[2]}}}\n"
    written = suite(FILE.format(head="", begin=BEGIN), tmp_path)
    used = suite(FILE.format(head=head, begin="setup bytes\n    setup key"), tmp_path)
    assert list(rows(used)) == list(rows(written))


ABOVE = (
    "setup start {\n    memory m = counter(64)\n    mkey k\n    configure k { access local_write; layout list(m) }\n"
)


@pytest.mark.parametrize(
    ("setup", "case", "expected"),
    [
        ("}\n", "    transmit k by send\n    expect wire == m\n", ["pass"]),
        ("    transmit k by send\n    expect wire == fill(0, 64)\n}\n", "    expect m == unchanged\n", ["MKS2101:8"]),
        ("}\n", "    transmit k by send\n    expect wire == fill(0, 64)\n", ["MKS2101:12"]),
    ],
)
def test_a_failure_is_at_its_own_line(setup: str, case: str, expected: list[str]) -> None:
    assert told(f"{ABOVE}{setup}case a\n    verifies LAY-05\n    setup start\n{case}") == expected


def test_each_case_has_objects_of_its_own() -> None:
    """What one case does to them, another one does not see."""
    case = "case {name}\n    verifies LAY-05\n    setup start\n"
    case += "    receive fill({n}, 64) into k by recv\n    expect m == fill({n}, 64)\n"
    text = ABOVE + "    transmit k by send\n    expect wire == counter(64)\n}\n"
    found = verdicts(text + case.format(name="a", n=1) + case.format(name="b", n=2))
    assert [getattr(one, "status", one) for one in found] == ["pass", "pass"]
