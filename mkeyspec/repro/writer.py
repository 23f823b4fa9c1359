"""Writes a row as a program: its statements, each with its line of the case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mkeyspec import plan
from mkeyspec.repro import calls
from mkeyspec.repro.c.language import C
from mkeyspec.repro.c.numbers import TooWide
from mkeyspec.repro.language import Language, TooLong
from mkeyspec.repro.program import Program, Subject
from mkeyspec.repro.python.language import Python
from mkeyspec.repro.sections import section
from mkeyspec.repro.statements import carry_out
from mkeyspec.repro.trace import Taken, Unsayable
from mkeyspec.run import mkey_check
from mkeyspec.value.bytestring import ByteString

LANGUAGES: Mapping[str, Callable[[Program], Language]] = {"c": C, "python": Python}


class Writer:
    """One program. `cut`: why it ends before the row does, if it does."""

    def __init__(self, subject: Subject, language: str = "c") -> None:
        self.cut = ""
        self._program = Program(subject, LANGUAGES[language])
        self._lines = _lines_of(subject.path)

    def text(self) -> str:
        """The whole program. Raises Unsayable."""
        program = self._program
        try:
            self._steps()
            return program.language.whole(program, self.cut)
        except TooLong:
            raise Unsayable(program.subject.case.at, "more than 4 MiB of bytes that no loop gives") from None
        except TooWide as number:
            raise Unsayable(program.at, str(number)) from None

    # Steps -----------------------------------------------------------------------------------

    def _steps(self) -> None:
        program = self._program
        language = program.language
        for index, taken in enumerate(program.trace.steps()):
            step = taken.step
            if step is None:
                self._closing(taken)
                return
            program.at = step.at
            text = self._lines[step.at.line - 1].strip() if step.at.line <= len(self._lines) else ""
            turn = f" (turn {step.at.turn.number})" if step.at.turn is not None else ""
            program.line("")
            program.line(language.comment(f"{step.at.line}{turn}: {text}"))
            claim: plan.Claim = getattr(step, "claim", ())
            program.claims |= dict.fromkeys([step.at, *(one.at for one in step.posted())], claim)
            branch = getattr(step, "branch", None)
            if branch is None:
                self._step(index, step, taken)
            else:
                accepted = f"accepted_{branch.at.line}"
                with program.when(accepted if branch.accepted else language.negated(accepted)):
                    self._step(index, step, taken)
            hard = next((one for one in taken.failures if one.hard), None)
            if hard is not None:
                self.cut = f"line {step.at.line}: the model itself does not do what the case says: {hard.message}"
                program.line(language.comment("The program ends here, as the case does on a device like the model."))
        self._closing(program.trace.end())

    def _step(self, index: int, step: plan.Step, taken: Taken) -> None:
        program, line = self._program, step.at.line
        if taken.quiet:  # no call: the program waits before the step
            program.do(program.language.pause)
        match step:
            case plan.Post() | plan.Transmit() | plan.Receive():
                section(program, index, step, taken)
                return
            case plan.Check():
                if taken.came:
                    self._check(step, taken)
                return
            case _:
                carry_out(program, taken.calls, taken, line)
        match step:
            case plan.Expect():
                accepted = f"accepted_{step.writer.line}" if step.writer is not None else ""
                if plan.is_bytes(step.observed):
                    program.expectations.bytes(program, step, accepted)
                    return
                for text in program.expectations.scalar(step):
                    program.do(text)
            case plan.Store():
                self._store(step)
            case plan.Snapshot():
                for text in program.expectations.snapshot(step):
                    program.do(text)
            case plan.Await():
                program.do(program.language.call("await_event", line, program.language.event(step.event)))
            case _:
                pass  # its calls are all of it

    def _store(self, step: plan.Store) -> None:
        program = self._program
        name = program.trace.recorder.memory_name(program.trace.state.buffers[step.to.name].memory)
        language = program.language
        start = language.number(program.trace.state.evaluate(step.to.start))
        if isinstance(step.data, ByteString):
            data, lines = language.data(step.data), list[str]()
        else:
            data, lines = language.live(step.data)
        for text in (*lines, language.put(name, start, data, step.data.length)):
            program.do(text)

    def _check(self, step: plan.Check, taken: Taken) -> None:
        """The last question that the rig asks of the mkey is the one of the case."""
        program, line, known = self._program, step.at.line, step.known
        asked = max(i for i, call in enumerate(taken.calls) if isinstance(call, calls.AskMkey))
        carry_out(program, taken.calls[:asked], taken, line)
        name = program.trace.recorder.mkey_name(program.trace.state.mkeys[step.mkey].handle)
        language = program.language
        program.do("poll_all()")
        language.ask(name)
        program.note(step.label)
        went = program.result(line, "mlx5dv_mkey_check", step.claim, known, "mkey_check")
        records = program.expectations.records(step)
        check = language.check_record(line, step.mkey, records)
        with program.when(went):
            if known is None or known.outcome is not None:
                program.do(check)
                return
            changed = mkey_check.departure(step, known)
            other = language.boolean(True)
            if changed is not None:
                other = self._is_one(program.expectations.records(changed))
            right = language.negated(f"({self._is_one(records)})")
            with program.when(f"{right}{language.both}({other})", short=True):
                program.do(language.departed(line, known.id))
            with program.otherwise(short=True):
                program.do(check)

    def _is_one(self, records: Sequence[str]) -> str:
        language = self._program.language
        return language.either.join(language.is_record(one) for one in records)

    def _closing(self, taken: Taken) -> None:
        program = self._program
        language = program.language
        program.line("")
        program.line(language.comment("At the end nothing may be left over that no statement names."))
        carry_out(program, taken.calls, taken, program.subject.row.steps[-1].at.line)
        program.do(language.pause)
        for name in program.pairs:
            program.do(language.call("nothing_left", language.place(f"{name}.owner")))
            if not program.is_dci(name):
                program.do(language.call("nothing_left", language.place(f"{name}.peer")))
        if any(map(program.is_dci, program.pairs)):
            program.do(language.call("nothing_left", language.place("targets")))
        program.do(language.call("no_events", language.boolean(program.failed)))
        for name in program.buffers:
            program.do(language.call("nothing_else_changed", program.declared[name], language.place(name)))
        for text in language.finish():
            program.do(text)


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
