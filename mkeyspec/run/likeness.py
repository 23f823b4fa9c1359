"""What a failure looks like: asks `mkeyspec.lookslike`, and adds its answer to the failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from mkeyspec.abi.constants import MkeyError
from mkeyspec.device.profile import error_record
from mkeyspec.lookslike.plain import Bytes, Scene
from mkeyspec.lookslike.record_ways import Fits, LaidDown, Report, Told
from mkeyspec.lookslike.records import record_looks_like
from mkeyspec.lookslike.search import Finding, Looked, bytes_look_like
from mkeyspec.lookslike.transfer import Stage
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.observe import Seen
from mkeyspec.run.verdict import Failure
from mkeyspec.value.bytestring import ByteString

LABEL = "looks like:"

LARGEST = 1 << 20
"""Bytes of a buffer that is searched for the bytes that were got."""


class Admitted(Protocol):
    """Bytes that an expectation admits (`expectations.Pattern`)."""

    @property
    def data(self) -> bytes | None: ...
    @property
    def holes(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def parts(self) -> tuple[tuple[int, int, ByteString], ...]: ...


class Contents(Mapping[str, bytes]):
    """The expected content of every buffer by its name, and of every wire by `@label`."""

    def __init__(self, state: CaseState) -> None:
        self.state = state

    def __getitem__(self, name: str) -> bytes:
        state = self.state
        buffer = state.wires[name[1:]].buffer if name.startswith("@") else state.buffers.get(name)
        if buffer is None:
            raise KeyError(name)
        return buffer.expected(0, buffer.length).tobytes()

    def __iter__(self) -> Iterator[str]:
        yield from self.state.buffers
        yield from (f"@{label}" for label in self.state.wires)

    def __len__(self) -> int:
        return len(self.state.buffers) + len(self.state.wires)


class Origin(Mapping[str, bytes]):
    """What was in each buffer at first, if the case does not say it."""

    def __init__(self, state: CaseState) -> None:
        self.state = state

    def __getitem__(self, name: str) -> bytes:
        return self.state.buffers[name].origin().tobytes()

    def __iter__(self) -> Iterator[str]:
        return iter(self.state.buffers)

    def __len__(self) -> int:
        return len(self.state.buffers)


def stage_of(state: CaseState) -> Stage:
    return Stage(tuple(state.taken), Contents(state), state.read, Origin(state))


def of_bytes(state: CaseState, failure: Failure, seen: Seen, admitted: Sequence[Admitted]) -> Failure:
    """The failure of bytes that match none of what is admitted, with the near misses that give them."""
    finding: Finding | None = None
    for pattern in admitted if state.likens else ():
        if pattern.data is None or len(pattern.data) != len(seen.data):
            continue
        found = bytes_look_like(_looked(state, seen, pattern, pattern.data))
        better = finding is None or (found.explained, bool(found.causes)) > (finding.explained, bool(finding.causes))
        if better:
            finding = found
    return failure if finding is None else told(failure, finding)


def of_record(state: CaseState, stage: Stage, failure: Failure, mkey: str, got: Told, fits: Fits) -> Failure:
    """The failure of an error record that is not the expected one, with the near misses that give it. `stage`: what was
    done before the check.
    """
    return told(failure, record_looks_like(stage, mkey, got, fits, laid_down_by(state))) if state.likens else failure


def laid_down_by(state: CaseState) -> LaidDown:
    """An error as the device profile lays it down."""
    parts = {kind: name for name, kind in error_record.TYPES.items()}
    kinds = {"bad_guard": MkeyError.BAD_GUARD, "bad_reftag": MkeyError.BAD_REFTAG, "bad_apptag": MkeyError.BAD_APPTAG}

    def laid_down(report: Report) -> Told:
        domain = report.domain
        _, expected, actual, offset = error_record.record(
            state.profile,
            domain.signature.kind,
            domain.signature.field_size,
            domain.block,
            report.block,
            report.found,
            report.computed,
            parts[int(kinds[report.kind])],
        )
        return Told(report.kind, offset, expected, actual)

    return laid_down


def told(failure: Failure, finding: Finding) -> Failure:
    """The failure with the finding: of bytes before they are counted and shown, else as the last details."""
    first, *more = finding.lines()
    details = list(failure.details)
    at = next((n for n, (word, _) in enumerate(details) if word == "bytes"), len(details))
    details[at:at] = [(LABEL, first), *(("", line) for line in more)]
    return replace(
        failure, details=tuple(details), looks_like=tuple((cause.name, cause.sentence) for cause in finding.causes)
    )


def _looked(state: CaseState, seen: Seen, pattern: Admitted, want: bytes) -> Looked:
    fixed = np.ones(len(want), bool)
    for start, end in pattern.holes:
        fixed[start:end] = False
    scene = Scene(np.frombuffer(want, np.uint8), seen.data, fixed, seen.expected().copy(), _others(state, seen))
    parts = [(start, value) for start, _, value in pattern.parts]
    if seen.wire is not None:
        label = next((label for label, view in state.wires.items() if view is seen.wire), "")
        pieces = [(f"@{label}", seen.start, len(seen.data))]
    else:
        pieces = [(piece.buffer.name, piece.start, piece.length) for piece in seen.pieces]
    return Looked(scene, parts, pieces, stage_of(state))


def _others(state: CaseState, seen: Seen) -> dict[str, Bytes]:
    """The buffers that are not looked at."""
    looked_at = {id(piece.buffer) for piece in seen.pieces}
    found: dict[str, Bytes] = {}
    for name, buffer in state.buffers.items():
        if id(buffer) not in looked_at and buffer.length <= LARGEST:
            found[name] = buffer.expected(0, buffer.length)
    return found
