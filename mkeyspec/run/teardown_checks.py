"""The closing rule (docs/design/language.md): at the end of a case nothing unnamed may be left over.

No completion, no error of an unsignaled request, no signature error, no async event, and no byte of any registered
buffer, its guards included. All entries that are not checked yet are checked here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from mkeyspec.device.protocol import Refused
from mkeyspec.lookslike.record_ways import Told
from mkeyspec.lookslike.witness import Asked
from mkeyspec.plan import At, rejected_at
from mkeyspec.run import difference, drain, event, leftovers, likeness, reset
from mkeyspec.run.buffer import GUARD, Buffer, Bytes
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.culprits import Suspects, suspects
from mkeyspec.run.errnos import errno_name, errno_of
from mkeyspec.run.evidence import Use
from mkeyspec.run.extent import Extent, Mask, key_of
from mkeyspec.run.mkey_check import KIND_NAMES
from mkeyspec.run.mkey_state import MkeyState
from mkeyspec.run.moved import ANY
from mkeyspec.run.verdict import Failure

Found = tuple[Failure, bool]
"""A failure, and whether it is excused: of bytes that a known departure may have written."""


def close(state: CaseState, *, patient: bool = True, excused: Extent | None = None) -> Iterator[Found]:
    """The failures of everything that is left over. `patient` False: the case has failed; do not wait. `excused`:
    bytes that a known departure may have written."""
    if patient and state.failed_qps and not state.isolated:
        state.pair(None, state.taken[-1].at)  # the default pair, which other cases have too
    wrong_before = False
    for pair in state.pairs.values():
        if pair.failed:
            reset.fail_qps(state, pair)
        for failure in leftovers.settle(state, pair, patient=patient):
            wrong_before = True
            yield failure, False
    for side in ("owner", "peer") if patient and state.taken and not wrong_before else ():
        wrong = drain.heard(state, side, state.taken[-1].at)
        if wrong is not None:
            yield wrong, False
    for failure in (
        *state.wrong_numbers.values(),
        *signature_errors(state, state.mkeys.values()),
        *event.left_over(state),
    ):
        yield failure, False
    yield from buffers(state, excused if excused is not None else Extent())
    drain.look_on(state, [end for pair in state.pairs.values() for end in pair.ends])
    for pair in state.pairs.values():
        for failure in leftovers.unjudged(state, pair):
            yield failure, False


def signature_errors(state: CaseState, mkeys: Collection[MkeyState]) -> Iterator[Failure]:
    """mlx5dv_mkey_check of each of these keys that has a signature: also of keys that no request has named."""
    open_uses: dict[int, list[Use]] = {}
    for use in state.uses:
        if not use.judged and use.mkey in mkeys:
            use.mark_judged("the closing mkey_check")
            open_uses.setdefault(id(use.mkey), []).append(use)
    for mkey in mkeys:
        asked = mkey.signed and not mkey.destroyed
        failure = _signature_error(state, mkey, open_uses.get(id(mkey), [])) if asked else None
        if failure is not None:
            yield failure


def _signature_error(state: CaseState, mkey: MkeyState, uses: list[Use]) -> Failure | None:
    inside = ""
    if uses and all(use.inside for use in uses):
        inside = f"; it was reached only as an entry of `{uses[-1].inside}`, where its bytes are plain"
    try:
        record = state.device.mkey_check(mkey.handle)
    except Refused as refusal:
        if all(refused == errno_name(errno_of(refusal)) for refused in [use.refused for use in uses] or [mkey.refused]):
            return None
        message = f"the closing mkey_check of `{mkey.name}` was refused with {errno_name(errno_of(refusal))}"
        return Failure("MKS2202", mkey.at, message)
    if record is None:
        state.asked.append(Asked(len(state.taken), mkey.name, _is_ok))
        return None
    if any(use.perhaps for use in uses):
        return None
    kind = KIND_NAMES.get(record.type, f"type {record.type}")
    values = f"offset {record.offset}, expected {record.expected_value:#x}, actual {record.actual_value:#x}"
    message = f"a signature error of `{mkey.name}` is left over: {kind}{inside}"
    failure = Failure("MKS2202", mkey.at, message, (("record", values),))
    if state.wrong:
        return failure  # it may follow from what a statement found, which has a near miss of its own
    got = Told(kind, record.offset, record.expected_value, record.actual_value)
    return likeness.of_record(state, likeness.stage_of(state), failure, mkey.name, got, _is_ok)


def _is_ok(told: Told) -> bool:
    return told.kind == "ok"


# Bytes ---------------------------------------------------------------------------------------


def buffers(state: CaseState, excused: Extent) -> Iterator[Found]:
    """Bytes that nothing named and that changed, and guards that were written."""
    for buffer in state.all_buffers():
        content = buffer.content
        got = buffer.now(state.device, -GUARD, len(content))
        if not np.array_equal(got, content):
            yield from _changed(state, buffer, content, got, excused)


def _changed(state: CaseState, buffer: Buffer, content: Bytes, got: Bytes, excused: Extent) -> Iterator[Found]:
    named = state.buffers.get(buffer.name) is buffer
    key = key_of(state, buffer)
    end = GUARD + buffer.length
    for zone, start, stop, base in (("before", 0, GUARD, -GUARD), ("after", end, end + GUARD, buffer.length)):
        where = difference.positions(content[start:stop], got[start:stop])
        if len(where):
            guard = _guard(buffer, zone, base, content[start:stop], got[start:stop], where)
            yield _blame(state, guard, buffer, named, suspects(state.aimed, key, buffer.born)), False
    where = difference.positions(content[GUARD:end], got[GUARD:end], buffer.free)
    departed = excused.of(buffer)[where]
    for part, excuse in ((where[~departed], False), (where[departed], True)):
        if len(part):
            yield unnamed(state, buffer, got[GUARD:end], part), excuse


def changed(state: CaseState, buffer: Buffer, start: int, length: int, excused: Extent | None = None) -> Failure | None:
    """Changes of unnamed bytes that are about to be overwritten or taken as expected: they could not be found at the
    end. `excused`: bytes that may have changed."""
    end = min(start + length, buffer.length)
    mask = np.ones(end - start, np.bool_) if excused is None else ~excused.of(buffer, start, end)
    failure, got, where = _differing(state, buffer, mask, start)
    return failure or (unnamed(state, buffer, got, where) if len(where) else None)


def _differing(
    state: CaseState, buffer: Buffer, mask: Mask, low: int = 0
) -> tuple[Failure | None, Bytes, difference.Positions]:
    """Of the bytes from `low` on that `mask` selects: all that is there in the buffer, and where it differs. What an
    earlier RDMA WRITE brings may come late, also where the right bytes were there before it: then it is waited for, and
    what is wrong with that comes first."""
    failure = None
    high = low + len(mask)
    free = [(max(start - low, 0), max(end - low, 0)) for start, end in buffer.free]
    for last in (False, True):
        got = buffer.now(state.device, 0, buffer.length)
        where = difference.positions(buffer.expected(low, len(mask)), got[low:high], free)
        where = where[mask[where]] + low
        writers = {at for pair in state.pairs.values() for end in pair.ends for at in end.unheard()}
        if last or not len(where) or not writers:
            break
        failure = drain.heard(state, buffer.memory.side, state.taken[-1].at, writers)
        if failure is not None:
            break
    return failure, got, where


def overwritten(state: CaseState, excused: Extent) -> Iterator[Failure]:
    """What changed of the bytes that the last step will write, and that no step may have written since they were
    compared: it could not be found afterwards. `excused`: bytes that may have changed."""
    reached: dict[str, list[tuple[int, int]]] = {}
    for entry in state.written.by_last(state):
        for name, start, end in entry.written:
            for one in state.buffers if name == ANY else (name,):
                reached.setdefault(one, []).append((max(start, 0), end))
    for name, spans in reached.items():
        buffer = state.buffers.get(name)
        spans = [(start, end) for start, end in spans if buffer is not None and start < min(end, buffer.length)]
        if buffer is None or not spans:
            continue
        low, high = min(start for start, _ in spans), min(max(end for _, end in spans), buffer.length)
        mask = np.zeros(high - low, np.bool_)
        for start, end in spans:
            mask[start - low : end - low] = True
        mask &= ~(state.written.unseen(state, buffer, low, high) | excused.of(buffer, low, high))
        if not mask.any():
            continue
        failure, got, where = _differing(state, buffer, mask, low)
        if failure is not None:
            yield failure
        elif len(where):
            yield unnamed(state, buffer, got, where)
            buffer.believe(int(where[0]), got[int(where[0]) : int(where[-1]) + 1])  # it is reported once


def moved(state: CaseState, at: At, how: str) -> Iterator[Failure]:
    """What changed of the bytes that the last step would write, which was refused or aborted (`how`) before anything of
    it was posted, and that no earlier step may have written."""
    would = Extent()
    would.add(state, (span for entry in state.written.by_last(state, posted=False) for span in entry.written))
    for buffer in state.all_buffers():
        mask = would.of(buffer)
        if not mask.any():
            continue
        mask = mask & ~state.written.unseen(state, buffer)
        if not mask.any():
            continue
        failure, got, where = _differing(state, buffer, mask)
        want = buffer.expected(0, buffer.length)
        if failure is not None:
            yield failure
        elif len(where):
            name_of = partial("{}[{}]".format, buffer.name)
            details = difference.describe(want, got, where, reason=buffer.reason, name_of=name_of)
            name, count = buffer.name, len(where)
            message = f"{count} bytes of `{name}` changed, and the section that would write them was {how}"
            yield Failure("MKS2103", at, message, details, hard=True)


def unnamed(state: CaseState, buffer: Buffer, got: Bytes, where: difference.Positions) -> Failure:
    """Of bytes that changed, and that no statement names."""
    named = state.buffers.get(buffer.name) is buffer
    key = key_of(state, buffer)
    details = difference.describe(
        buffer.expected(0, buffer.length),
        got,
        where,
        reason=buffer.reason,
        name_of=lambda i: f"{buffer.name}[{i}]",
    )
    plural = "s" if len(where) > 1 else ""
    message = f"{len(where)} byte{plural} of `{buffer.name}` changed, and no statement names them"
    failure = Failure("MKS2103", buffer.at, message, details)
    return _blame(state, failure, buffer, named, suspects(state.aimed, key, buffer.looked_at(where)))


def _blame(state: CaseState, failure: Failure, buffer: Buffer, named: bool, found: Suspects) -> Failure:
    """The failure at the one statement that may have caused it; if there are more, at the buffer, with all of
    them."""
    if not found.alone:
        return replace(failure, suspects=(found.label, found.places))
    declared = (("declared", f"{buffer.at.line}:{buffer.at.column}"),) if named else ()
    fix = (("fix", _IN_PART),) if failure.code == "MKS2103" and _may_fail(state, found.places[0]) else ()
    return replace(failure, at=found.places[0], details=(*failure.details, *declared, *fix))


_IN_PART = "if a message that fails may land in part, say how much: `expect … == any` after the claim"


def _may_fail(state: CaseState, at: At) -> bool:
    """Whether the statement at `at` claims an error completion, before which bytes may have landed."""
    claims = [getattr(step, "claim", ()) for step in state.taken if step.at == at]
    return any(rejected_at(claim, "completion") for claim in claims)


def _guard(buffer: Buffer, zone: str, base: int, want: Bytes, got: Bytes, where: difference.Positions) -> Failure:
    first = int(where[0]) + base
    where_text = f"{-first} before its start" if first < 0 else f"{first - buffer.length} after its end"
    details = (
        ("first at", f"byte {where_text}"),
        ("bytes", f"{len(where)} of {GUARD} differ"),
        *difference.rows(want, got, where),
    )
    message = f"the guard {zone} `{buffer.name}` was written ({len(where)} bytes)"
    return Failure("MKS2104", buffer.at, message, details)
