"""Judges mutants of Python: the quick way (`campaign`), from the import (`fresh`) where that says too little, and what
survives both by the tests of its whole package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest

from tests.mutants import fresh
from tests.mutants.campaign import Campaign, Found
from tests.mutants.child import Died, forked
from tests.mutants.modules import Module, wider
from tests.mutants.mutant import Mutant
from tests.mutants.verdict import Verdict

WHOLE = 3600.0
"""Longest time of all mutants, in seconds."""
OWN, WIDER = 5.0, 40.0
"""Processor time for one mutant, of the tests of its module and of its package, as they take it without it."""


class Broken(Exception):
    """The tests fail without a mutant; `str()` says which."""


def judge(mutants: Sequence[Mutant], modules: dict[str, Module]) -> Iterator[Verdict]:
    """One verdict for each, in some order. Raises Broken."""
    fresh.prepare()
    left: list[tuple[Mutant, Verdict]] = []
    for mutant, verdict in _judge_by_own(mutants, modules):
        if verdict.result == "survived" and wider(mutant.module):
            left.append((mutant, verdict))
        else:
            yield verdict
    yield from _judge_by_wider(left)


def _judge_by_wider(left: Sequence[tuple[Mutant, Verdict]]) -> Iterator[Verdict]:
    """What runs at the import only is not put into the tests that are imported already: it keeps its verdict."""
    for tests in sorted({wider(mutant.module) for mutant, _ in left}):
        some = [(mutant, verdict) for mutant, verdict in left if wider(mutant.module) == tests]
        found = _quick([mutant for mutant, _ in some], tests, WIDER)
        for number, (mutant, verdict) in enumerate(some):
            if number in found.killed:
                yield Verdict(mutant, "killed", found.killed[number])
            elif number in found.timed_out:
                yield Verdict(mutant, "timed out", found.timed_out[number])
            elif number in found.survived:
                yield Verdict(mutant, "survived", f"{verdict.how}; of its package: {found.survived[number]}")
            else:
                yield verdict


def _judge_by_own(mutants: Sequence[Mutant], modules: dict[str, Module]) -> Iterator[tuple[Mutant, Verdict]]:
    tests = sorted({test for mutant in mutants for test in modules[mutant.module].tests})
    found = _quick(mutants, tests, OWN)
    if found.broken:
        raise Broken("\n".join(found.broken))
    for number, how in found.killed.items():
        yield mutants[number], Verdict(mutants[number], "killed", how)
    for number, how in found.timed_out.items():
        yield mutants[number], Verdict(mutants[number], "timed out", how)
    # What runs when the tests are imported, too, left values behind that were made without the mutant.
    doubtful = [*found.unreached, *found.survived]
    early: set[int] = set()
    if doubtful:
        reached = fresh.reached_at_import([(number, mutants[number]) for number in doubtful], tests)
        if reached is None:
            raise Broken("the tests can't be collected with notes in them")
        early = reached
    for number in doubtful:
        if number not in early:
            how = found.survived.get(number, "no test reaches it")
            yield mutants[number], Verdict(mutants[number], "survived", how)
    for number in sorted(early.union(found.later)):
        result = fresh.judged(mutants[number], modules[mutants[number].module].tests)
        yield mutants[number], Verdict(mutants[number], *result)


def _quick(mutants: Sequence[Mutant], tests: Sequence[str], seconds: float) -> Found:
    try:
        found = forked(partial(_campaign, mutants, tests, seconds), WHOLE)
    except Died:
        raise Broken("the process that runs the tests ended") from None
    if isinstance(found, str):
        raise Broken(found)
    for name in ("killed", "timed_out", "survived"):
        found[name] = {int(number): how for number, how in found[name].items()}
    return Found(**found)


def _campaign(mutants: Sequence[Mutant], tests: Sequence[str], seconds: float) -> Any:
    fresh.silent()
    campaign = Campaign(mutants, seconds)
    code = pytest.main([*fresh.QUIET, *tests], plugins=[campaign])
    return asdict(campaign.found) if code in (0, 5) else f"pytest ends with {code}: can the tests be collected?"
