"""Every `expect` and every `check` of every shipped case can fail, and fails at its own line.

For each item of each case, one value at a time is made wrong: of an expected byte string its first, middle and
last byte, of a pattern its literal bytes, of a number its lowest bit, of a check its kind and its bytes; a claimed
rejection is left out or given another reason, a claimed completion another id. The item is run on the model with
everything else as it is, and must fail, first of all at the statement that was made wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mkeyspec import plan
from mkeyspec.device.model import Model
from mkeyspec.device.profile import Profile
from mkeyspec.lang.compile import compile_file
from mkeyspec.run.expectation import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed, CaseInfo, CaseSkipped
from mkeyspec.value.bytestring import ByteString, flip

ROOT = Path(__file__).resolve().parents[2]
SUITES = sorted(path for path in (ROOT / "cases").rglob("*.mks") if path.name != "common.mks")


def spoilt_bytes(value: ByteString) -> Iterator[ByteString]:
    """The same bytes with one bit of the first, the middle, the last byte turned over."""
    for at in sorted({0, value.length // 2, value.length - 1}):
        if value.length:
            yield flip(value, at)


def spoilt(expected: plan.Expected) -> Iterator[plan.Expected]:
    """What is not expected, near what is. `any` has no wrong neighbour, and neither has `unchanged`."""
    if isinstance(expected, ByteString):
        yield from spoilt_bytes(expected)
    elif isinstance(expected, plan.OneOf):
        wrong = [next(iter(spoilt(one)), None) for one in expected.alternatives]
        if all(one is not None for one in wrong):
            yield plan.OneOf(tuple(one for one in wrong if one is not None))
    elif isinstance(expected, plan.Sequence):
        for at, item in enumerate(expected.items):
            if isinstance(item, ByteString):
                for other in spoilt_bytes(item):
                    yield plan.Sequence((*expected.items[:at], other, *expected.items[at + 1 :]))
    elif isinstance(expected, bool):
        yield not expected
    elif isinstance(expected, int):
        yield expected ^ 1


OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
OTHER_KIND = {"bad_guard": "bad_reftag", "bad_reftag": "bad_apptag", "bad_apptag": "bad_guard", "ok": "bad_guard"}


def mutants(step: Any) -> Iterator[Any]:
    """The step with one of its claims made wrong."""
    if isinstance(step, plan.Expect):
        if step.operator == "==" and not isinstance(step.expected, (bool, int, str)):
            for expected in spoilt(step.expected):
                yield replace(step, expected=expected)
        else:
            yield replace(step, operator=OPPOSITE[step.operator])
    elif isinstance(step, plan.Check) and not step.claim:
        yield replace(step, kind=tuple(OTHER_KIND[kind] for kind in step.kind[:1]))
        if step.block is not None:
            yield replace(step, block=step.block + 1)
        for name in ("found", "computed"):
            value = getattr(step, name)
            if value is not None:
                for other in spoilt_bytes(value):
                    yield replace(step, found=other) if name == "found" else replace(step, computed=other)
    yield from other_claims(step)


def other_claims(step: Any) -> Iterator[Any]:
    """The step without its claimed rejection, with another reason for it, with other completions."""
    claim: plan.Claim = getattr(step, "claim", ())
    if len(claim) != 1:
        return
    outcome = claim[0]
    if isinstance(outcome, plan.Rejected):
        yield replace(step, claim=())
        yield replace(step, claim=(plan.Rejected(outcome.phase, "ENOTTY"),))
    elif isinstance(outcome, plan.Completes):
        yield replace(step, claim=(plan.Completes(outcome.entries[1:]),))
        other = replace(outcome.entries[0], members=(*outcome.entries[0].members, ("byte_len", 123457)))
        yield replace(step, claim=(plan.Completes((other, *outcome.entries[1:])),))


def run(rig: Rig, case: plan.Case, row: plan.Row, steps: tuple[plan.Step, ...], source: str) -> CaseFailed | None:
    """The failure of these steps; None if they pass. Raises CaseSkipped where the model lacks something."""
    info = CaseInfo(f"{source}::{case.name}[{row.id}]", source, case.verifies, row.needs)
    unmet = rig.begin(info)
    if unmet:
        raise CaseSkipped(", ".join(unmet))
    for step in steps:
        rig.step(step)
    try:
        rig.finish()
    except CaseFailed as failure:
        return failure
    return None


@pytest.mark.parametrize("path", SUITES, ids=[path.relative_to(ROOT / "cases").as_posix() for path in SUITES])
def test_a_wrong_expectation_fails_at_its_line(path: Path) -> None:
    compiled = compile_file(path)
    assert compiled.suite is not None, [found.message for found in compiled.diagnostics]
    profile = Profile()
    rig = Rig(Model(profile), profile, Expectations())
    survived: list[str] = []
    tried = 0
    for case in compiled.suite.cases:
        for row in case.rows:
            for at, step in enumerate(row.steps):
                for mutant in mutants(step):
                    steps = (*row.steps[:at], mutant, *row.steps[at + 1 :])
                    tried += 1
                    try:
                        failure = run(rig, case, row, steps, compiled.suite.source)
                    except CaseSkipped:
                        break
                    place = f"{compiled.suite.source}:{step.at.line}: {case.name}[{row.id}]"
                    if failure is None:
                        survived.append(f"{place} passes with {mutant!r}")
                    elif failure.failures[0].at != step.at:
                        survived.append(f"{place} fails elsewhere, at {failure.failures[0].at}: {mutant!r}")
    assert not survived, "\n".join(survived[:20])
    assert tried, "no statement of this suite claims anything"
