"""A sample of `python -m tests.quality.mistakes`: what `check` passes in silence is no fault of the device."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.quality import mistakes
from tests.quality.mistakes import Mistake, blocks, judge, look, reasons
from tests.shipped import ROOT, suites

SEED = 7
SUITES = random.Random(SEED).sample(suites(), 24)
CASE = """case example
    verifies LAY-01
    memory m = counter(64)
    memory b[64]
    peer memory w[64]
    qp q
    write m to w on q
    expect w == m"""


@pytest.mark.parametrize("path", SUITES, ids=[path.relative_to(ROOT / "cases").as_posix() for path in SUITES])
def test_what_check_passes_blames_no_device(path: Path) -> None:
    found = [one for block in _drawn(path) for one in look(path, 2, SEED, block).found]
    assert not found, "\n".join(map(str, found))


def _drawn(path: Path) -> list[str]:
    """Two cases of a file."""
    names = [block.name for block in blocks(path.read_text("utf-8").splitlines())]
    return random.Random(f"{SEED} {path.name}").sample(names, min(2, len(names)))


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("other_object", "    write b to w on q"),
        ("other_number", "    memory m = counter(65)"),
        ("other_side", "    peer write m to w on q"),
        ("flag_added", "    write m to w on q, fence"),
        ("other_type", "    qp q { type uc; send_ops [] }"),
    ],
)
def test_one_line_is_changed(kind: str, line: str) -> None:
    found = [one for one in mistakes.mistakes(CASE.splitlines()) if one.kind == kind]
    assert any(line in one.lines and len(set(one.lines) - {*CASE.splitlines()}) == 1 for one in found)


def test_statements_are_dropped_and_exchanged() -> None:
    found = {one.kind: one for one in mistakes.mistakes(CASE.splitlines())}
    assert found["dropped"].lines == tuple(CASE.splitlines()[:-1])
    assert found["exchanged"].lines[-2:] == tuple(CASE.splitlines()[:-3:-1])


def test_a_rule_that_check_lacks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a rule taken away, a case that breaks it is passed in silence, and red."""
    path = ROOT / "cases/of_this_test.mks"
    lines = ["mks 1", "", *CASE.splitlines()]
    (block,) = blocks(lines)
    wrong = [
        line.replace("peer memory w[64]", "peer memory w[64], rights local_write") for line in lines[block.start :]
    ]
    mistake = Mistake("right_dropped", tuple(wrong), "peer memory w[64]")
    assert judge(path, lines, block, mistake, SEED) == (False, None)
    monkeypatch.setattr("mkeyspec.compiler.check.access.check_memory", lambda *arguments: None)
    silent, found = judge(path, lines, block, mistake, SEED)
    assert silent
    assert found is not None
    assert "completed with rem_access_err, and should succeed" in found.text


def test_each_known_one_has_its_reason() -> None:
    assert all(one["reason"] and one["case"] and one["text"] for one in reasons())
