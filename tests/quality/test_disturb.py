"""A sample of `python -m tests.quality.disturb`: a row of a sixth of the cases, with each kind of disturbance in it.

`.ci/run` takes a row of each case, and other places.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

import pytest

from tests.quality import disturb
from tests.quality.disturb import Exempt, Result, exceptions, sorted_out
from tests.quality.kind import Kind, kinds
from tests.quality.subject import Bench, Outcome, Row, rows

SEED = 7
GROUPS = sorted({kind.group for kind in kinds().values()})
NEEDED = {
    "an_error_breaks_its_stream_alone",
    "an_operation_that_nobody_knows",
    "cancel_needs_a_drained_queue",
    "only_the_named_requests_are_cancelled",
    "remote_invalidate_needs_its_flag",
    "unknown_create_flags",
    "what_memory_has_when_the_message_goes",
    "without_opaque",
}
"""Cases with a place for a kind that few others have."""
WHOLE = {name: kind for name, kind in kinds().items() if kind.forbidden}


@lru_cache(maxsize=1)
def sample() -> list[Row]:
    """Each has its own lot, so that a new case moves no other. With the few that some kind needs."""
    found = rows(most=1, seed=SEED)
    return [row for row in found if row.case.name in NEEDED or random.Random(f"{SEED} {row.id}").random() < 1 / 6]


def of(group: str) -> list[Kind]:
    return [kind for kind in kinds().values() if kind.group == group]


def run(items: list[Row], chosen: list[Kind], bench: Bench, each: int = 1) -> Result:
    result = Result()
    for row in items:
        result.add(disturb.disturb(row, chosen, bench, SEED, each))
    return result


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_forbidden_is_red_and_what_is_legal_is_green(group: str) -> None:
    result = run(sample(), of(group), Bench())
    new, _ = sorted_out(result.wrong, exceptions("model"))
    assert not new, "\n".join(map(str, new[:20]))
    assert not result.failing
    never = [name for name, count in result.counts.items() if not count.red + count.green + count.error]
    assert not never, f"no place in these rows for {never}"


@pytest.mark.parametrize("entry", exceptions("model"), ids=lambda entry: f"{entry.kind} {entry.row}")
def test_an_exception_still_happens(entry: Exempt) -> None:
    found = rows(pattern=entry.row)
    assert found, "no such row"
    result = run(found, [kinds()[entry.kind]], Bench(), each=0)
    assert any(entry.fits(wrong) for wrong in result.wrong), "take it out"


def test_a_judge_that_passes_everything_is_found_out() -> None:
    class Blind(Bench):
        def run(self, *arguments: object, **options: object) -> Outcome:
            return replace(super().run(*arguments, **options), status="pass")  # type: ignore[arg-type]

    items = [row for row in rows(most=1, seed=SEED) if row.case.name == "values_of_the_tags"]
    result = run(items, list(kinds().values()), Blind())
    forbidden = sum(count.green for name, count in result.counts.items() if name in WHOLE)
    assert forbidden > 50
    assert len(result.wrong) == forbidden


def test_a_judge_that_fails_everything_is_found_out() -> None:
    class Strict(Bench):
        def run(self, row: Row, disturbance: object = None, **options: object) -> Outcome:
            outcome = super().run(row, disturbance, **options)  # type: ignore[arg-type]
            return outcome if disturbance is None else replace(outcome, status="fail")

    result = run(sample()[:1], list(kinds().values()), Strict())
    legal = sum(count.red for name, count in result.counts.items() if name not in WHOLE)
    assert len(result.wrong) == legal > 5


def test_each_kind_says_what_forbids_or_permits_it() -> None:
    for kind in kinds().values():
        assert kind.verdict in ("forbidden", "legal"), kind.name
        assert kind.what, kind.name
        assert kind.sentence.endswith("."), kind.name
        assert kind.source, kind.name


def test_an_exception_is_met_or_missed() -> None:
    row = sample()[0]
    wrong = disturb.Wrong("lost", row.id, "completion 0", 1, "a.mks:1", "", "green")
    known = Exempt("lost", row.id, "for this test")
    assert sorted_out([wrong], [known]) == ([], {known: 1})
    assert sorted_out([wrong], [replace(known, kind="twice")]) == ([wrong], {})
    assert sorted_out([wrong], [replace(known, place="completion 1")])[0] == [wrong]
