"""What a case claims, made wrong in one point: mutants of the steps of a row.

`mutations.toml` says of each mutation what must become of the row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from mkeyspec import plan
from mkeyspec.value.bytestring import ByteString, fill, flip, join, slice_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("mutations.toml")
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
OTHER_KIND = {"bad_guard": "bad_reftag", "bad_reftag": "bad_apptag", "bad_apptag": "bad_guard", "ok": "bad_guard"}
OTHER_PHASE = {"complete": "completion", "completion": "complete", "create": "complete", "cancel": "completion"}


@dataclass(frozen=True, slots=True)
class Mutation:
    """`must` is here, red, one or open."""

    name: str
    must: str
    what: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Mutant:
    """The step at `at` becomes `step`, or is left out (None)."""

    mutation: str
    at: int
    step: Any | None

    def of_other_outcome(self) -> Mutant | None:
        """The same of the other outcome, where the step is an expectation of one."""
        if not isinstance(self.step, plan.Expect) or self.step.branch is None:
            return None
        branch = replace(self.step.branch, accepted=not self.step.branch.accepted)
        return replace(self, step=replace(self.step, branch=branch))


@lru_cache(maxsize=1)
def mutations() -> dict[str, Mutation]:
    found: dict[str, Mutation] = {}
    for group, entries in tomllib.loads(FILE.read_text("utf-8")).items():
        for name, entry in entries.items():
            found[f"{group}.{name}"] = Mutation(f"{group}.{name}", **entry)
    return found


def mutants(steps: tuple[plan.Step, ...]) -> Iterator[Mutant]:
    """Every mutant of these steps; of a `repeat`, those of its first and its last turn: the others are alike."""
    for at, step in enumerate(steps):
        turn = step.at.turn
        if turn is not None and turn.number not in (1, turn.of):
            continue
        for name, changed in changes(step):
            yield Mutant(name, at, changed)


def changes(step: Any) -> Iterator[tuple[str, Any | None]]:
    if isinstance(step, plan.Expect):
        yield from of_expect(step)
    elif isinstance(step, plan.Check):
        yield from of_check(step)
    elif isinstance(step, plan.Await):
        yield "change.event", replace(step, event="path_mig" if step.event != "path_mig" else "sq_drained")
        yield "drop.await", None
    if isinstance(step, plan.Poll):
        yield "drop.poll", None
    if hasattr(step, "claim") and not isinstance(step, plan.Check):
        yield from of_claim(step)


# Expectations --------------------------------------------------------------------------------


def spoilt_bytes(value: ByteString) -> Iterator[ByteString]:
    """The same bytes with one bit of the first, the middle, the last byte turned over."""
    for at in sorted({0, value.length // 2, value.length - 1}):
        if value.length:
            yield flip(value, at)


def spoilt(expected: plan.Expected) -> plan.Expected | None:
    """Something near `expected` that is not so; None where there is none (`any`, `unchanged`)."""
    if isinstance(expected, ByteString):
        return next(spoilt_bytes(expected), None)
    if isinstance(expected, plan.Sequence):
        return next(spoilt_pattern(expected), None)
    return None


def spoilt_pattern(expected: plan.Sequence) -> Iterator[plan.Sequence]:
    for at, item in enumerate(expected.items):
        if isinstance(item, ByteString):
            for other in spoilt_bytes(item):
                yield plan.Sequence((*expected.items[:at], other, *expected.items[at + 1 :]))


def of_expect(step: plan.Expect) -> Iterator[tuple[str, Any | None]]:
    expected = step.expected
    yield dropped(step), None
    if not isinstance(expected, plan.Any):
        yield "change.operator", replace(step, operator=OPPOSITE[step.operator])
    if isinstance(step.observed, (plan.Content, plan.Wire)) and not isinstance(expected, plan.Any):
        yield "weaken.any", replace(step, operator="==", expected=plan.Any())
    if step.operator != "==":
        return
    if isinstance(expected, ByteString):
        for other in spoilt_bytes(expected):
            yield "change.bytes", replace(step, expected=other)
        if expected.length:
            yield "change.longer", replace(step, expected=join((expected, fill(0, 1))))
            yield "change.shorter", replace(step, expected=slice_of(expected, 0, expected.length - 1))
    elif isinstance(expected, plan.OneOf):
        wrong = [spoilt(one) for one in expected.alternatives]
        if all(one is not None for one in wrong):
            yield "change.alternatives", replace(step, expected=plan.OneOf(tuple(one for one in wrong if one)))
        if len(expected.alternatives) > 1:
            for one in expected.alternatives:
                yield "change.alternative_alone", replace(step, expected=plan.OneOf((one,)))
    elif isinstance(expected, plan.Sequence):
        for pattern in spoilt_pattern(expected):
            yield "change.pattern", replace(step, expected=pattern)
    elif isinstance(expected, bool):
        yield "change.number", replace(step, expected=not expected)
    elif isinstance(expected, int):
        yield "change.number", replace(step, expected=expected ^ 1)
    elif isinstance(expected, str):
        yield "change.word", replace(step, expected="EXDEV" if expected.isupper() else "general_err")


def dropped(step: plan.Expect) -> str:
    if isinstance(step.observed, plan.Content):
        return "drop.expect_bytes"
    return "drop.expect_wire" if isinstance(step.observed, plan.Wire) else "drop.expect_value"


def of_check(step: plan.Check) -> Iterator[tuple[str, Any | None]]:
    if step.claim:
        return
    if step.kind == ("ok",):
        yield "drop.check_ok", None
        yield "change.check_kind", replace(step, kind=("bad_guard",))
    else:
        others = tuple(OTHER_KIND[kind] for kind in step.kind[:1]) if len(step.kind) == 1 else ("ok",)
        if "ok" not in step.kind:
            yield "drop.check_of_an_error", None
            yield "change.check_ok", replace(step, kind=("ok",), block=None, found=None, computed=None)
            yield "change.check_kind", replace(step, kind=others)
    yield "change.check_refused", replace(step, claim=(plan.Rejected("mkey_check", "EINVAL"),))
    if step.block is not None:
        yield "change.check_block", replace(step, block=step.block + 1)
    for name in ("found", "computed"):
        value = getattr(step, name)
        if value is not None:
            for other in spoilt_bytes(value):
                new = replace(step, found=other) if name == "found" else replace(step, computed=other)
                yield "change.check_bytes", new
    if isinstance(step.offset, int):
        yield "change.check_number", replace(step, offset=step.offset ^ 1)
    if isinstance(step.expected, int):
        yield "change.check_number", replace(step, expected=step.expected ^ 1)
    if isinstance(step.actual, int):
        yield "change.check_number", replace(step, actual=step.actual ^ 1)
    if step.block is not None or step.found is not None or step.computed is not None:
        yield "weaken.check_members", replace(step, block=None, found=None, computed=None)


# Claims --------------------------------------------------------------------------------------


def of_claim(step: Any) -> Iterator[tuple[str, Any | None]]:
    claim: plan.Claim = step.claim
    if not claim:
        yield from rejected_anyway(step)
    elif len(claim) > 1:
        for left in claim:
            yield "change.outcome_alone", replace(step, claim=(left,))
    elif isinstance(claim[0], plan.Rejected):
        yield from of_rejection(step, claim[0])
    elif isinstance(claim[0], plan.Completes):
        yield from of_completions(step, claim[0].entries)


def rejected_anyway(step: Any) -> Iterator[tuple[str, Any | None]]:
    if isinstance(step, plan.Post) and step.wait and not step.abort:
        yield "change.rejected", replace(step, claim=(plan.Rejected("complete"),))
    elif isinstance(step, (plan.Transmit, plan.Receive)):
        yield "change.rejected", replace(step, claim=(plan.Rejected("completion"),))
    elif isinstance(step, (plan.Mkey, plan.Qp, plan.Dek)):
        yield "change.rejected", replace(step, claim=(plan.Rejected("create"),))
    elif isinstance(step, plan.Cancel):
        yield "change.rejected", replace(step, claim=(plan.Rejected("cancel"),))


def of_rejection(step: Any, outcome: plan.Rejected) -> Iterator[tuple[str, Any | None]]:
    yield "drop.rejected", replace(step, claim=())
    other = "tm_err" if outcome.phase == "completion" else "ENOTTY"
    yield "change.reason", replace(step, claim=(plan.Rejected(outcome.phase, other),))
    if outcome.phase in OTHER_PHASE:
        yield "change.phase", replace(step, claim=(plan.Rejected(OTHER_PHASE[outcome.phase]),))


Entries = tuple[plan.Entry, ...]


def of_completions(step: Any, entries: Entries) -> Iterator[tuple[str, Any | None]]:
    def with_entries(name: str, new: Entries) -> tuple[str, Any]:
        return name, replace(step, claim=(plan.Completes(new),))

    yield "drop.completes", replace(step, claim=())
    for at, entry in enumerate(entries):
        before, after = entries[:at], entries[at + 1 :]
        yield with_entries("change.entry_removed", (*before, *after))
        yield with_entries("change.entry_added", (*before, entry, entry, *after))
        opcode = "rdma_read" if entry.opcode != "rdma_read" else "send"
        yield with_entries("change.entry_opcode", (*before, replace(entry, opcode=opcode), *after))
        if not any(name == "byte_len" for name, _ in entry.members):
            more = replace(entry, members=(*entry.members, ("byte_len", 123457)))
            yield with_entries("change.entry_more", (*before, more, *after))
        for place, (name, value) in enumerate(entry.members):
            other = value ^ 1 if isinstance(value, int) else "tm_err" if isinstance(value, str) else None
            if other is not None:
                members = (*entry.members[:place], (name, other), *entry.members[place + 1 :])
                yield with_entries("change.entry_member", (*before, replace(entry, members=members), *after))
        fewer = tuple(member for member in entry.members if member[0] == "id")
        if fewer != entry.members:
            yield with_entries("weaken.entry_members", (*before, replace(entry, members=fewer), *after))
        if after and after[0] != entry:
            yield with_entries("change.entry_order", (*before, after[0], entry, *after[1:]))
