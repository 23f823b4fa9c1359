"""Expectations: bytes, numbers, and what mlx5dv_mkey_check tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mkeyspec import plan
from mkeyspec.repro import claims
from mkeyspec.repro.language import Language, Piece, Wanted
from mkeyspec.repro.recorder import Recorder
from mkeyspec.repro.trace import Unsayable
from mkeyspec.run import mkey_check
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.evidence import SUCCESS
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Live, LiveBytes, LiveContent, LiveJoin, LiveOp, called

if TYPE_CHECKING:
    from mkeyspec.repro.program import Program


class Expectations:
    """Prints expectations. `numbers`: of each completion, by its identity, its number among all."""

    def __init__(self, recorder: Recorder, state: CaseState, language: Language) -> None:
        self._recorder = recorder
        self._state = state
        self._language = language
        self.numbers: dict[int, int] = {}

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

    def snapshot(self, step: plan.Snapshot) -> Iterator[str]:
        """Keep the bytes that are there."""
        pieces = self.pieces(step.observed)
        yield from self._language.snapshot(step.name, pieces)
        yield from self._looks(pieces)

    def _looks(self, pieces: Sequence[Piece]) -> Iterator[str]:
        """What is there is what is expected from now on."""
        language = self._language
        for one in pieces:
            yield language.call("look", language.place(one.name), one.start, one.length)

    def bytes(self, program: Program, step: plan.Expect, accepted: str) -> None:
        """`accepted`: a variable that says whether the writer of these bytes was accepted, or ""."""
        assert plan.is_bytes(step.observed)
        line, pieces, language = step.at.line, self.pieces(step.observed), self._language
        expected = step.expected
        known = step.known.value if step.known is not None else None
        if step.operator == "!=":
            for wanted in self._wanted(program, expected):
                program.do(language.expect(line, language.negated(self._holds(pieces, wanted)), "other bytes", "0"))
            self._look(program, pieces)
            return
        if known is not None:
            given = step.known.id if step.known is not None else ""
            always = language.boolean(True)
            texts = [self._holds(pieces, one) for one in self._wanted(program, known)] or [always]
            right = [self._holds(pieces, one) for one in self._wanted(program, expected)] or [always]
            is_right = language.negated(f"({language.either.join(right)})")
            with program.when(f"{is_right}{language.both}({language.either.join(texts)})"):
                program.do(language.departed(line, given))
                self._look(program, pieces)
            with program.otherwise():
                self._compared(program, line, pieces, expected, accepted)
            return
        self._compared(program, line, pieces, expected, accepted)

    def _look(self, program: Program, pieces: Sequence[Piece]) -> None:
        for text in self._looks(pieces):
            program.do(text)

    def _compared(
        self, program: Program, line: int, pieces: Sequence[Piece], expected: plan.Expected, accepted: str
    ) -> None:
        if isinstance(expected, plan.OneOf):
            self._one_of(program, line, pieces, expected, accepted)
            return
        if plan.takes_all(expected):
            self._look(program, pieces)
            return
        (wanted,) = self._wanted(program, expected)
        for one in pieces:
            program.do(self._language.check(line, one, wanted))

    def _one_of(
        self, program: Program, line: int, pieces: Sequence[Piece], expected: plan.OneOf, accepted: str
    ) -> None:
        language, texts, first = self._language, list[str](), Wanted()
        for one in expected.alternatives:
            if plan.takes_all(one):
                self._look(program, pieces)
                return
            for wanted in self._wanted(program, one):
                first = first if first.data else wanted
                text = self._holds(pieces, wanted)
                if accepted and not wanted.data:
                    text = f"({language.negated(accepted)}{language.both}{text})"
                texts.append(text)
        wrong = language.negated(f"({language.either.join(texts)})")
        with program.when(wrong, short=len(pieces) == 1):
            for piece in pieces:
                program.do(language.check(line, piece, first))
        self._look(program, pieces)

    def _holds(self, pieces: Sequence[Piece], wanted: Wanted) -> str:
        """Whether the bytes are these."""
        language = self._language
        texts = [language.holds(one, wanted) for one in pieces]
        return texts[0] if len(texts) == 1 else f"({language.both.join(texts)})"

    def _wanted(self, program: Program, expected: plan.Expected) -> list[Wanted]:
        table = self._language.table
        match expected:
            case ByteString():
                return [Wanted(self._language.data(expected), length=expected.length)]
            case plan.Unchanged():
                return [Wanted()]
            case plan.Masked(data, mask):
                return [Wanted(table(data), table(mask), len(data))]
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
                return [Wanted(table(data), table(mask), len(data))]
            case plan.OneOf(alternatives):
                return [one for item in alternatives for one in self._wanted(program, item)]
            case plan.Any():
                return []
            case LiveBytes() | LiveContent() | LiveJoin():
                name, lines = self._language.live(expected)
                for text in lines:
                    program.do(text)
                return [Wanted(name, length=expected.length)]
            case _:
                raise AssertionError(expected)

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
            condition = f"({condition}){self._language.either}({other})"
        yield self._language.expect(step.at.line, condition, f"{what} {step.operator} {_told(step.expected)}", got)

    def _number(self, at: plan.At, value: object) -> str:
        number = self._language.number
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
        language = self._language
        match expected:
            case plan.OneOf(alternatives):
                joined = language.either.join(f"({self._compare(at, got, '==', one)})" for one in alternatives)
                return joined if operator == "==" else language.negated(f"({joined})")
            case plan.Any():
                return language.boolean(True)
            case str():
                if ".status" in got:
                    names = [language.status(name) for name in claims.class_of(expected)]
                else:
                    names = [language.errno_named(expected)]
                joined = language.either.join(f"{got} == {name}" for name in names)
                return joined if operator == "==" else language.negated(f"({joined})")
            case _:
                return language.compared(got, operator, self._number(at, expected))

    # Records ---------------------------------------------------------------------------------

    def records(self, step: plan.Check) -> list[str]:
        """What mlx5dv_mkey_check may tell."""
        return [
            self._language.record(kind, mkey_check.members(self._state, step, kind) if kind != "ok" else ())
            for kind in step.kind
        ]


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
