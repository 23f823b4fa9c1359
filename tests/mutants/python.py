"""Judges mutants of Python: the quick way (`campaign`), and from the import (`fresh`) where that says too little."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest

from tests.mutants import fresh
from tests.mutants.campaign import Campaign, Found
from tests.mutants.child import Died, forked
from tests.mutants.modules import Module
from tests.mutants.mutant import Mutant
from tests.mutants.verdict import Verdict

WHOLE = 3600.0
"""Longest time of all mutants, in seconds."""


class Broken(Exception):
    """The tests fail without a mutant; `str()` says which."""


def judge(mutants: Sequence[Mutant], modules: dict[str, Module]) -> Iterator[Verdict]:
    """One verdict for each, in some order. Raises Broken."""
    fresh.prepare()
    tests = sorted({test for mutant in mutants for test in modules[mutant.module].tests})
    found = _quick(mutants, tests)
    if found.broken:
        raise Broken("\n".join(found.broken))
    for number, how in found.killed.items():
        yield Verdict(mutants[number], "killed", how)
    for number, how in found.timed_out.items():
        yield Verdict(mutants[number], "timed out", how)
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
            yield Verdict(mutants[number], "survived", found.survived.get(number, "no test reaches it"))
    for number in sorted(early.union(found.later)):
        yield Verdict(mutants[number], *fresh.judged(mutants[number], modules[mutants[number].module].tests))


def _quick(mutants: Sequence[Mutant], tests: Sequence[str]) -> Found:
    try:
        found = forked(partial(_campaign, mutants, tests), WHOLE)
    except Died:
        raise Broken("the process that runs the tests ended") from None
    if isinstance(found, str):
        raise Broken(found)
    for name in ("killed", "timed_out", "survived"):
        found[name] = {int(number): how for number, how in found[name].items()}
    return Found(**found)


def _campaign(mutants: Sequence[Mutant], tests: Sequence[str]) -> Any:
    fresh.silent()
    campaign = Campaign(mutants)
    code = pytest.main([*fresh.QUIET, *tests], plugins=[campaign])
    return asdict(campaign.found) if code in (0, 5) else f"pytest ends with {code}: can the tests be collected?"
