"""The closing rule (language-syntax G8): at the end nothing is left over that no statement named.

No completion, no error of an unsignaled request, no signature error, no async event, and no byte of any registered
buffer, its guards included.
"""

from __future__ import annotations

from dataclasses import replace

from mkeyspec.constants import SendFlag
from mkeyspec.device.protocol import Refused, Write
from mkeyspec.plan import At
from mkeyspec.run import difference, section, suspect, wait
from mkeyspec.run.bench import Bench, errno_name
from mkeyspec.run.buffer import GUARD, Buffer, Bytes
from mkeyspec.run.claim import describe
from mkeyspec.run.endpoint import Due, End, Pair
from mkeyspec.run.suspect import Suspects, suspects
from mkeyspec.run.verdict import Failure

QUIET_TYPES = frozenset({"rc", "uc"})
"""QP types that take a plain RDMA write as the marker behind everything else."""


def close(bench: Bench) -> list[Failure]:
    """Everything that is left over."""
    failures: list[Failure] = []
    for pair in bench.pairs.values():
        failures += _quiesce(bench, pair)
    bench.poll_all()
    for pair in bench.pairs.values():
        for end in (pair.owner, pair.peer):
            failures += _strays(end)
    failures += _signature_errors(bench)
    failures += _events(bench)
    failures += buffers(bench)
    return failures


def _quiesce(bench: Bench, pair: Pair) -> list[Failure]:
    """Wait for what is owed, then for a signaled zero-length write behind every unsignaled request.

    Behind a request that was signaled and has completed nothing is under way, so that the write is left out there.
    """
    failures = []
    for end in (pair.owner, pair.peer):
        failures += _loose(bench, end)
        if end.dirty and not end.broken and pair.attributes.type in QUIET_TYPES:
            failures += _marker(bench, end)
    return failures


def _loose(bench: Bench, end: End) -> list[Failure]:
    if not end.loose:
        return []
    loose, end.loose = end.loose, []
    wait.until(bench, lambda: wait.failed(end, loose) or _paid(loose), lambda: bench.poll(end))
    failures = []
    for due in loose:
        what = f"the {due.opcode} that was not waited for"
        if due.got is None:
            if not wait.failed(end, loose):
                failures.append(section.late(bench, end, due, what))
        elif due.got.status != "wr_flush_err" and (fault := section.misfit(due, what)) is not None:
            failures.append(fault)
    return failures


def _paid(dues: list[Due]) -> bool:
    return all(due.got is not None for due in dues)


def _marker(bench: Bench, end: End) -> list[Failure]:
    wr_id = bench.number()
    request = Write(wr_id, int(SendFlag.SIGNALED), (), 0, 0)
    at = next(reversed(end.number_of.values())) if end.number_of else end.pair.at
    try:
        errno = bench.device.post(end.qp, [request])
    except Refused as refusal:
        errno = refusal.errno
    if errno:
        message = f"the QP takes no more requests at the end of the case ({errno_name(errno)})"
        return [Failure("MKS2204", at, message, hard=True)]
    due = Due(at, "send", wr_id, "rdma_write")
    end.due_send.append(due)
    end.dirty = False
    wait.until(bench, lambda: due.got is not None, lambda: bench.poll(end))
    if due.got is None:
        end.due_send.clear()
        if end.broken:
            return []
        return [section.late(bench, end, due, "the closing zero-length write")]
    if due.got.status != "success" and not end.broken:
        message = f"the QP had failed by the end of the case: the closing write came back with {due.got.status}"
        return [Failure("MKS2204", at, message, (("got", describe(due.got)),))]
    return []


def _strays(end: End) -> list[Failure]:
    """Completions that no statement named. What is flushed behind an error is that error's echo."""
    strays = end.take_strays()
    errors = [stray for stray in strays if stray.status not in ("success", "wr_flush_err")]
    told = [stray for stray in strays if stray.status != "wr_flush_err"] if errors else strays
    failures = []
    for stray in told:
        at = end.number_of.get(stray.wr_id, end.pair.at)
        which = "" if stray.wr_id in end.number_of else ", of no request of this case"
        message = f"a completion is left over at the {end.side}: {describe(stray)}{which}"
        failures.append(Failure("MKS2201", at, message))
    return failures


def _signature_errors(bench: Bench) -> list[Failure]:
    failures = []
    for mkey in bench.mkeys.values():
        if not (mkey.signed and mkey.used):
            continue
        mkey.used = False
        try:
            record = bench.device.mkey_check(mkey.handle)
        except Refused as refusal:
            message = f"the closing mkey_check of `{mkey.name}` was refused with {errno_name(refusal.errno)}"
            failures.append(Failure("MKS2202", mkey.at, message))
            continue
        if record is not None:
            kind = {1: "bad_guard", 2: "bad_reftag", 3: "bad_apptag"}.get(record.type, f"type {record.type}")
            values = f"offset {record.offset}, expected {record.expected_value:#x}, actual {record.actual_value:#x}"
            message = f"a signature error of `{mkey.name}` is left over: {kind}"
            failures.append(Failure("MKS2202", mkey.at, message, (("record", values),)))
    return failures


def _events(bench: Bench) -> list[Failure]:
    bench.events.extend(bench.device.events())
    failures = []
    for event in bench.events:
        pair = bench.pair_of(event.qp)
        at = pair.at if pair is not None else At(1, 1)
        of = f" of QP {event.qp.number:#x} ({event.qp.side})" if event.qp is not None else ""
        failures.append(Failure("MKS2203", at, f"an async event is left over: {event.kind}{of}"))
    bench.events.clear()
    return failures


# Bytes ---------------------------------------------------------------------------------------


def buffers(bench: Bench, *, guards_only: bool = False) -> list[Failure]:
    """Bytes that nothing named and that changed, and guards that were written."""
    failures: list[Failure] = []
    read = bench.device.read
    for buffer in bench.all_buffers():
        content = buffer.content
        got = read(buffer.memory, 0, len(content))
        if got.tobytes() != content.tobytes():
            failures += _changed(bench, buffer, content, got, guards_only or buffer.free)
    return failures


def _changed(bench: Bench, buffer: Buffer, content: Bytes, got: Bytes, guards_only: bool) -> list[Failure]:
    failures = []
    named = bench.buffers.get(buffer.name) is buffer
    key = buffer.name if named else suspect.unnamed(buffer.at)
    end = GUARD + buffer.length
    for zone, start, stop, base in (("before", 0, GUARD, -GUARD), ("behind", end, end + GUARD, buffer.length)):
        where = difference.positions(content[start:stop], got[start:stop])
        if len(where):
            guard = _guard(buffer, zone, base, content[start:stop], got[start:stop], where)
            failures.append(_blame(guard, buffer, named, suspects(bench.taken, key, buffer.born)))
    if guards_only:
        return failures
    want, have = content[GUARD:end], got[GUARD:end]
    where = difference.positions(want, have)
    if len(where):
        details = difference.describe(
            want,
            have,
            where,
            reason=buffer.reason,
            place=lambda i: f"{buffer.name}[{i}]",
        )
        plural = "s" if len(where) > 1 else ""
        message = f"{len(where)} byte{plural} of `{buffer.name}` changed, and no statement names them"
        unnamed = Failure("MKS2103", buffer.at, message, details)
        failures.append(_blame(unnamed, buffer, named, suspects(bench.taken, key, buffer.looked_at(where))))
    return failures


def _blame(failure: Failure, buffer: Buffer, named: bool, found: Suspects) -> Failure:
    """The failure at the one statement that may have done it; at the buffer, with all of them, if there are more."""
    if len(found.places) != 1:
        return replace(failure, suspects=(found.label, found.places))
    declared = (("declared", f"{buffer.at.line}:{buffer.at.column}"),) if named else ()
    return replace(failure, at=found.places[0], details=(*failure.details, *declared))


def _guard(buffer: Buffer, zone: str, base: int, want: Bytes, got: Bytes, where: difference.Positions) -> Failure:
    first = int(where[0]) + base
    where_text = f"{-first} before its start" if first < 0 else f"{first - buffer.length} behind its end"
    details = (
        ("first at", f"byte {where_text}"),
        ("bytes", f"{len(where)} of {GUARD} differ"),
        *difference.rows(want, got, where),
    )
    message = f"the guard {zone} `{buffer.name}` was written ({len(where)} bytes)"
    return Failure("MKS2104", buffer.at, message, details)
