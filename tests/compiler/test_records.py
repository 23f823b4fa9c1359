"""Every class of the plan has its record, its executor and a line of a golden module: a forgotten one fails here.

The switches that remain (`run.executor`, `run.request`, `device.model`, `device.verbs`) end with `assert_never`, so
that mypy names what they lack; a record that is missing shows in no type, so it is demanded here.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from mkeyspec import plan, runtime
from mkeyspec.compiler.statements import registry, work_requests
from mkeyspec.compiler.statements.statement import Request, Statement
from mkeyspec.device import protocol
from mkeyspec.run.executor import Executor

GOLDEN = Path(__file__).resolve().parents[1] / "emit" / "golden"

STEPS: tuple[type, ...] = get_args(plan.Step)
REQUESTS: tuple[type, ...] = get_args(plan.Wr)

WITHOUT_RECORD = {plan.Expect, plan.Snapshot}
"""An `expect` has a form of its own in the grammar; a snapshot is made of the `let` before it."""


def missing_records(records: tuple[Statement[Any], ...]) -> set[type]:
    """Step classes without exactly one record."""
    found = Counter(record.step for record in records)
    return {step for step in STEPS if found[step] != (step not in WITHOUT_RECORD)}


def missing_requests(records: tuple[Request[Any], ...]) -> set[type]:
    found = Counter(record.request for record in records)
    return {request for request in REQUESTS if found[request] != 1}


def test_each_step_has_one_record() -> None:
    assert missing_records(registry.RECORDS) == set()
    assert {record.step for record in registry.RECORDS} <= set(STEPS)


def test_each_request_has_one_record() -> None:
    assert missing_requests(work_requests.RECORDS) == set()
    assert {record.request for record in work_requests.RECORDS} <= set(REQUESTS)


@pytest.mark.parametrize("record", registry.RECORDS, ids=lambda record: record.step.__name__)
def test_a_missing_record_of_a_step_is_seen(record: Statement[Any]) -> None:
    left = tuple(one for one in registry.RECORDS if one is not record)
    assert missing_records(left) == {record.step}
    assert missing_records((*registry.RECORDS, record)) == {record.step}


@pytest.mark.parametrize("record", work_requests.RECORDS, ids=lambda record: record.request.__name__)
def test_a_missing_record_of_a_request_is_seen(record: Request[Any]) -> None:
    left = tuple(one for one in work_requests.RECORDS if one is not record)
    assert missing_requests(left) == {record.request}


def test_each_word_has_one_shape() -> None:
    words = [shape.name for record in registry.RECORDS for shape in record.shapes]
    words += [shape.name for record in work_requests.RECORDS for shape in record.shapes]
    assert [word for word, number in Counter(words).items() if number > 1] == []


def test_each_step_has_an_executor() -> None:
    """mypy holds the switch complete; this, that each branch is the step's own."""
    own = {name for name in vars(Executor) if name.startswith("_")}
    assert {f"_{step.__name__.lower()}" for step in STEPS} <= own


def lines_of(modules: list[str], kind: type) -> int:
    return sum(len(re.findall(rf"\b{kind.__name__}\(", text)) for text in modules)


def golden_modules() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.py*"))]


@pytest.mark.parametrize("kind", [*STEPS, *REQUESTS], ids=lambda kind: kind.__name__)
def test_each_class_has_a_line_of_a_golden_module(kind: type) -> None:
    assert lines_of(golden_modules(), kind) > 0
    assert getattr(runtime, kind.__name__) is kind, "a generated module imports it"


def test_a_class_without_a_line_is_seen() -> None:
    bare = [re.sub(r"\bFetchAdd\(", "Removed(", text) for text in golden_modules()]
    assert lines_of(bare, plan.FetchAdd) == 0


def test_each_request_of_the_plan_is_one_of_the_protocol() -> None:
    named = {kind.__name__ for kind in get_args(protocol.WorkRequest)}
    assert {kind.__name__ for kind in REQUESTS} - named == {"Invalidate"}
    assert named - {kind.__name__ for kind in REQUESTS} == {"LocalInv"}
