"""Expectations in C: bytes, numbers, and what mlx5dv_mkey_check tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.repro import claims
from mkeyspec.repro.numbers import number
from mkeyspec.repro.recorder import Recorder
from mkeyspec.repro.tables import Tables
from mkeyspec.repro.trace import Unsayable
from mkeyspec.run import mkey_check
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.evidence import SUCCESS
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import ENCODINGS, Live, LiveBytes, LiveContent, LiveJoin, LiveOp, LiveString, called, pieces_of


class Piece(NamedTuple):
    """`length` bytes of the buffer `name` from `start`; `at`: where they are in what is compared."""

    name: str
    start: int
    length: int
    at: int


class Wanted(NamedTuple):
    """Bytes as a pointer, and a mask of their bits, or "NULL"; no `data`: what is kept (`unchanged`)."""

    data: str = ""
    mask: str = "NULL"


class Expectations:
    """Prints expectations. `numbers`: of each completion, by its identity, its number among all."""

    def __init__(self, recorder: Recorder, state: CaseState, tables: Tables) -> None:
        self._recorder = recorder
        self._state = state
        self._tables = tables
        self._count = 0
        self.arrays: list[str] = []
        self.numbers: dict[int, int] = {}
        self.snapshots: dict[str, str] = {}

    # Bytes -----------------------------------------------------------------------------------

    def pieces(self, observed: plan.Content | plan.Wire) -> list[Piece]:
        state = self._state
        if isinstance(observed, plan.Wire):
            view = state.wires[observed.label or ""]
            return [Piece(self._recorder.memory_name(view.buffer.memory), observed.start, observed.length, 0)]
        found, at = [], 0
        for part in observed.parts:
            start, length = int(state.evaluate(part.start)), int(state.evaluate(part.length))
            found.append(Piece(self._recorder.memory_name(state.buffers[part.name].memory), start, length, at))
            at += length
        return found

    def live(self, data: LiveString) -> tuple[str, list[str]]:
        """An array of bytes of which some are of the device, and the statements that fill it."""
        self._count += 1
        name, lines, at = f"live_{self._count}", list[str](), 0
        self.arrays.append(f"static uint8_t {name}[{max(1, data.length)}];")
        for piece in pieces_of(data):
            to = f"{name} + {at}" if at else name
            lines.append(self.part(to, piece))
            at += piece.length
        return name, lines

    def part(self, to: str, piece: ByteString | LiveBytes | LiveContent) -> str:
        """The statement that sets a piece of a string."""
        match piece:
            case LiveBytes(encoding, value):
                big = "true" if encoding.startswith("be") else "false"
                return f"set_number({to}, {ENCODINGS[encoding]}, {big}, {number(self._state.evaluate(value))});"
            case LiveContent(name, length, start):
                return f"memcpy({to}, {self.snapshots[name]} + {start}, {length});"
            case _:
                return f"memcpy({to}, {self._tables.pointer(piece)}, {piece.length});"

    def snapshot(self, step: plan.Snapshot) -> Iterator[str]:
        """Keep the bytes that are there."""
        name, pieces = f"taken_{len(self.snapshots) + 1}", self.pieces(step.observed)
        self.arrays.append(f"static uint8_t {name}[{max(1, sum(one.length for one in pieces))}];")
        self.snapshots[step.name] = name
        for one in pieces:
            yield f"memcpy({name} + {one.at}, {one.name}.bytes + {one.start}, {one.length});"
            yield f"look(&{one.name}, {one.start}, {one.length});"

    def bytes(self, step: plan.Expect, accepted: str) -> Iterator[str]:
        """`accepted`: a variable that says whether the writer of these bytes was accepted, or ""."""
        assert plan.is_bytes(step.observed)
        line, pieces = step.at.line, self.pieces(step.observed)
        expected = step.expected
        known = step.known.value if step.known is not None else None
        if step.operator == "!=":
            for wanted in self._wanted(expected):
                yield f'expect({line}, !({self._holds(pieces, wanted)}), "other bytes", 0);'
            yield from (f"look(&{one.name}, {one.start}, {one.length});" for one in pieces)
            return
        if known is not None:
            given = step.known.id if step.known is not None else ""
            texts = [self._holds(pieces, one) for one in self._wanted(known)] or ["true"]
            right = [self._holds(pieces, one) for one in self._wanted(expected)] or ["true"]
            yield f"if (!({' || '.join(right)}) && ({' || '.join(texts)})) {{"
            yield f'\tprintf("KNOWN %s:%d: %s\\n", CASE_FILE, {line}, "{given}");'
            yield from (f"\tlook(&{one.name}, {one.start}, {one.length});" for one in pieces)
            yield "} else {"
            yield from (f"\t{one}" for one in self._compared(line, pieces, expected, accepted))
            yield "}"
            return
        yield from self._compared(line, pieces, expected, accepted)

    def _compared(self, line: int, pieces: Sequence[Piece], expected: plan.Expected, accepted: str) -> Iterator[str]:
        if isinstance(expected, plan.OneOf):
            yield from self._one_of(line, pieces, expected, accepted)
            return
        if plan.takes_all(expected):
            yield from (f"look(&{one.name}, {one.start}, {one.length});" for one in pieces)
            return
        if isinstance(expected, (LiveBytes, LiveContent, LiveJoin)):
            name, lines = self.live(expected)
            yield from lines
            wanted = Wanted(name)
        else:
            (wanted,) = self._wanted(expected)
        for one in pieces:
            yield self._check(line, one, wanted)

    def _check(self, line: int, one: Piece, wanted: Wanted) -> str:
        if not wanted.data:
            return f"check_kept({line}, &{one.name}, {one.start}, {one.length});"
        data, mask = _plus(wanted.data, one.at), _plus(wanted.mask, one.at)
        return f"check({line}, &{one.name}, {one.start}, {data}, {mask}, {one.length});"

    def _one_of(self, line: int, pieces: Sequence[Piece], expected: plan.OneOf, accepted: str) -> Iterator[str]:
        texts, first = [], Wanted()
        for one in expected.alternatives:
            if plan.takes_all(one):
                yield from (f"look(&{piece.name}, {piece.start}, {piece.length});" for piece in pieces)
                return
            for wanted in self._wanted(one):
                first = first if first.data else wanted
                text = self._holds(pieces, wanted)
                texts.append(f"(!{accepted} && {text})" if accepted and not wanted.data else text)
        yield f"if (!({' || '.join(texts)}))"
        yield "\t{" if len(pieces) > 1 else f"\t{self._check(line, pieces[0], first)}"
        if len(pieces) > 1:
            yield from (f"\t\t{self._check(line, piece, first)}" for piece in pieces)
            yield "\t}"
        yield from (f"look(&{piece.name}, {piece.start}, {piece.length});" for piece in pieces)

    def _holds(self, pieces: Sequence[Piece], wanted: Wanted) -> str:
        """Whether the bytes are these."""
        texts = []
        for one in pieces:
            place = f"&{one.name}, {one.start}"
            if wanted.data:
                data, mask = _plus(wanted.data, one.at), _plus(wanted.mask, one.at)
                texts.append(f"is_there({place}, {data}, {mask}, {one.length})")
            else:
                texts.append(f"is_kept({place}, {one.length})")
        return " && ".join(texts) if len(texts) == 1 else f"({' && '.join(texts)})"

    def _wanted(self, expected: plan.Expected) -> list[Wanted]:
        match expected:
            case ByteString():
                return [Wanted(self._tables.pointer(expected))]
            case plan.Unchanged():
                return [Wanted()]
            case plan.Masked(data, mask):
                return [Wanted(self._tables.table(data), self._tables.table(mask))]
            case plan.Sequence(items):
                data, mask = b"", b""
                for item in items:
                    match item:
                        case ByteString():
                            data, mask = data + item.data, mask + b"\xff" * item.length
                        case plan.Masked():
                            data, mask = data + item.data, mask + item.mask
                        case plan.Any(length):
                            size = length or 0
                            data, mask = data + bytes(size), mask + bytes(size)
                return [Wanted(self._tables.table(data), self._tables.table(mask))]
            case plan.OneOf(alternatives):
                return [one for item in alternatives for one in self._wanted(item)]
            case plan.Any():
                return []
            case LiveBytes() | LiveContent() | LiveJoin():
                name, lines = self.live(expected)
                self.pending = lines
                return [Wanted(name)]
            case _:
                raise AssertionError(expected)

    pending: list[str] = []  # noqa: RUF012  # replaced, never changed

    # Numbers ---------------------------------------------------------------------------------

    def scalar(self, step: plan.Expect) -> Iterator[str]:
        """A number, an errno or a status."""
        assert isinstance(step.observed, (Live, LiveOp))
        what = called(step.observed) if isinstance(step.observed, Live) else "the value"
        got = self._number(step.at, step.observed)
        if step.expected == plan.Any():
            return
        known = step.known.value if step.known is not None else None
        condition = self._compare(step.at, got, step.operator, step.expected)
        if known is not None:
            other = self._compare(step.at, got, "==", known)
            condition = f"({condition}) || ({other})"
        text = f"{what} {step.operator} {_told(step.expected)}".replace("\\", "\\\\").replace('"', '\\"')
        yield f'expect({step.at.line}, {condition}, "{text}", (uint64_t)({got}));'

    def _number(self, at: plan.At, value: object) -> str:
        match value:
            case Live(subject, "errno") if subject in self._state.labels:
                return f"errno_of_{subject}"
            case Live(subject, "status") if subject in self._state.labels:
                return f"wc_{self._completion(at, subject)}.status"
            case Live(subject, "id") if subject in self._state.labels:
                return f"wc_{self._completion(at, subject)}.wr_id"
            case Live(subject, "opcode") if subject in self._state.labels:
                raise Unsayable(at, f"the opcode of `{subject}` as a value")
            case Live() | LiveOp():
                return number(self._state.evaluate(value))
            case bool():
                return str(int(value))
            case int():
                return number(value)
            case _:
                raise Unsayable(at, f"a value like {value!r}")

    def _completion(self, at: plan.At, label: str) -> int:
        """The number of the completion that a label speaks of."""
        arrived = [due.got for due in self._state.labels[label].dues if due.got is not None]
        failed = next((one for one in arrived if one.status != SUCCESS), None)
        if not arrived:
            raise Unsayable(at, f"the completion of `{label}`, which asks for none")
        return self.numbers[id(failed or arrived[-1])]

    def _compare(self, at: plan.At, got: str, operator: str, expected: plan.Expected) -> str:
        match expected:
            case plan.OneOf(alternatives):
                joined = " || ".join(f"({self._compare(at, got, '==', one)})" for one in alternatives)
                return joined if operator == "==" else f"!({joined})"
            case plan.Any():
                return "true"
            case str():
                if ".status" in got:
                    names = [f"IBV_WC_{name.upper()}" for name in claims.class_of(expected)]
                else:
                    names = [expected]
                joined = " || ".join(f"{got} == {name}" for name in names)
                return joined if operator == "==" else f"!({joined})"
            case _:
                return f"(uint64_t)({got}) {operator} (uint64_t)({self._number(at, expected)})"

    # Records ---------------------------------------------------------------------------------

    def records(self, step: plan.Check) -> list[str]:
        """What mlx5dv_mkey_check may tell, as initializers of `struct record`."""
        found = []
        for kind in step.kind:
            members = [f".type = {_KINDS[kind]}"]
            for name, value in mkey_check.members(self._state, step, kind) if kind != "ok" else ():
                members += [f".has_{name} = true", f".{name} = {number(value)}"]
            found.append("{" + ", ".join(members) + "}")
        return found


_KINDS = {
    "ok": "MLX5DV_MKEY_NO_ERR",
    "bad_guard": "MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD",
    "bad_reftag": "MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG",
    "bad_apptag": "MLX5DV_MKEY_SIG_BLOCK_BAD_APPTAG",
}


def _plus(pointer: str, offset: int) -> str:
    return pointer if not offset or pointer == "NULL" else f"{pointer} + {offset}"


def _told(expected: object) -> str:
    match expected:
        case plan.OneOf(alternatives):
            return "one of " + ", ".join(_told(one) for one in alternatives)
        case Live():
            return called(expected)
        case LiveOp():
            return "the value of its expression"
        case _:
            return str(expected)
