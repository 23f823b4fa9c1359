"""Writes a row as a C program over libibverbs and libmlx5 alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence
from pathlib import Path

from mkeyspec import plan
from mkeyspec.repro import calls
from mkeyspec.repro.c_calls import carry_out
from mkeyspec.repro.c_frame import needs_of, whole
from mkeyspec.repro.c_program import Program, Subject
from mkeyspec.repro.c_sections import section
from mkeyspec.repro.numbers import number
from mkeyspec.repro.tables import TooLong
from mkeyspec.repro.trace import Taken, Unsayable
from mkeyspec.run import mkey_check
from mkeyspec.value.bytestring import ByteString

_SET = (
    (r"wc_\d+", "struct ibv_wc "),
    (r"errno_of_\w+", "int "),
    (r"accepted_\d+", "bool "),
    (r"\w+_[lr]key_\d+", "uint32_t "),
    ("ibv", "struct ibv_qp_ex *"),
    ("mlx5", "struct mlx5dv_qp_ex *"),
    ("result", "int "),
    ("told", "struct mlx5dv_mkey_err "),
    ("dek_told", "struct mlx5dv_dek_attr "),
    ("login_told", "struct mlx5dv_crypto_login_query_attr "),
)
"""Variables of a program, and their types: each is declared where a line sets it, and set where a line reads it."""


class CWriter:
    """One program. `cut`: why it ends before the row does, if it does."""

    def __init__(self, subject: Subject) -> None:
        self.cut = ""
        self._program = Program(subject)
        self._lines = _lines_of(subject.path)

    def text(self) -> str:
        """The whole program. Raises Unsayable."""
        program = self._program
        try:
            self._steps()
            body = _read(program.body)
            start = ["open_device(argc > 1 ? argv[1] : NULL);"]
            needs = needs_of(program.subject.row.needs)
            if any("dv_attr" in line for line in (*body, *needs)):
                start.append("query_mlx5();")
            lines = [*(f"\t{line}" for line in (*start, *needs, *program.tables.filled)), *body]
            declared = [*program.tables.declared, *program.objects, *program.expectations.arrays, *_set(body)]
            used = set(re.findall(r"\w+", "\n".join(lines)))
            declared = [one for one in declared if not _is_idle(one, used)]
            return whole(program.subject, self.cut, declared, lines, program.pairs)
        except TooLong:
            raise Unsayable(program.subject.case.at, "more than 4 MiB of bytes that no loop gives") from None

    # Steps -----------------------------------------------------------------------------------

    def _steps(self) -> None:
        program = self._program
        for index, taken in enumerate(program.trace.steps()):
            step = taken.step
            if step is None:
                self._closing(taken)
                return
            text = self._lines[step.at.line - 1].strip() if step.at.line <= len(self._lines) else ""
            turn = f" (turn {step.at.turn.number})" if step.at.turn is not None else ""
            program.line("")
            program.line(f"/* {step.at.line}{turn}: {text.replace('*/', '* /')} */")
            claim: plan.Claim = getattr(step, "claim", ())
            program.claims |= dict.fromkeys([step.at, *(one.at for one in step.posted())], claim)
            branch = getattr(step, "branch", None)
            if branch is None:
                self._step(index, step, taken)
            else:
                with program.block(f"if ({'' if branch.accepted else '!'}accepted_{branch.at.line}) {{"):
                    self._step(index, step, taken)
            hard = next((one for one in taken.failures if one.hard), None)
            if hard is not None:
                self.cut = f"line {step.at.line}: the model itself does not do what the case says: {hard.message}"
                program.line("/* The program ends here, as the case does on a device like the model. */")
        self._closing(program.trace.end())

    def _step(self, index: int, step: plan.Step, taken: Taken) -> None:
        program, line = self._program, step.at.line
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
                is_bytes = plan.is_bytes(step.observed)
                lines = program.expectations.bytes(step, accepted) if is_bytes else program.expectations.scalar(step)
                for text in lines:
                    program.line(text)
            case plan.Store():
                self._store(step)
            case plan.Snapshot():
                for text in program.expectations.snapshot(step):
                    program.line(text)
            case plan.Await():
                program.line(f"await_event({line}, IBV_EVENT_{step.event.upper()});")
            case _:
                pass  # its calls are all of it

    def _store(self, step: plan.Store) -> None:
        program = self._program
        name = program.trace.recorder.memory_name(program.trace.state.buffers[step.to.name].memory)
        start = number(program.trace.state.evaluate(step.to.start))
        if isinstance(step.data, ByteString):
            data, lines = program.tables.pointer(step.data), list[str]()
        else:
            data, lines = program.expectations.live(step.data)
        for text in (*lines, f"put(&{name}, {start}, {data}, {step.data.length});"):
            program.line(text)

    def _check(self, step: plan.Check, taken: Taken) -> None:
        """The last question that the rig asks of the mkey is the one of the case."""
        program, line, known = self._program, step.at.line, step.known
        asked = max(i for i, call in enumerate(taken.calls) if isinstance(call, calls.AskMkey))
        carry_out(program, taken.calls[:asked], taken, line)
        name = program.trace.recorder.mkey_name(program.trace.state.mkeys[step.mkey].handle)
        program.line("poll_all();")
        program.line("told = (struct mlx5dv_mkey_err){0};")
        program.line(f"result = mlx5dv_mkey_check({name}, &told);")
        program.note(step.label)
        went = program.result(line, "mlx5dv_mkey_check", step.claim, known, "mkey_check")
        records = program.expectations.records(step)
        check = (
            f'check_record({line}, "{step.mkey}", &told, (struct record[]){{{", ".join(records)}}}, {len(records)});'
        )
        with program.block(f"if ({went}) {{"):
            if known is None or known.outcome is not None:
                program.line(check)
                return
            changed = mkey_check.departure(step, known)
            other = "true" if changed is None else _is_one(program.expectations.records(changed))
            program.line(f"if (!({_is_one(records)}) && ({other}))")
            program.line(f'\tprintf("KNOWN %s:%d: %s\\n", CASE_FILE, {line}, "{known.id}");')
            program.line("else")
            program.line(f"\t{check}")

    def _closing(self, taken: Taken) -> None:
        program = self._program
        program.line("")
        program.line("/* At the end nothing may be left over that no statement names. */")
        carry_out(program, taken.calls, taken, program.subject.row.steps[-1].at.line)
        program.line("usleep(5000);")
        for name in program.pairs:
            program.line(f"nothing_left(&{name}.owner);")
            if not program.is_dci(name):
                program.line(f"nothing_left(&{name}.peer);")
        if any(map(program.is_dci, program.pairs)):
            program.line("nothing_left(&targets);")
        program.line(f"no_events({'true' if program.failed else 'false'});")
        for name in program.buffers:
            program.line(f"nothing_else_changed({program.declared[name]}, &{name});")
        program.line('printf("%s\\n", failures ? "FAILED" : "PASSED");')
        program.line("return failures ? FAILED : PASSED;")


def _is_one(records: Sequence[str]) -> str:
    return " || ".join(f"is_record(&told, &(struct record){one})" for one in records)


def _read(body: Sequence[str]) -> list[str]:
    """The lines, without those that set a variable which no line reads."""
    text = "\n".join(body)
    words, sets = Counter(re.findall(r"\w+", text)), Counter(re.findall(r"(\w+) = ", text))
    lines = []
    for line in body:
        came = re.fullmatch(r"(\t*)@wc (\d+)@", line)
        if came is not None:
            if f"wc_{came[2]}" in words:
                lines.append(f"{came[1]}wc_{came[2]} = last_wc;")
            continue
        set_ = re.match(r"\t*(errno_of_\w+|\w+_[lr]key_\d+) = ", line)
        if set_ is None or words[set_[1]] > sets[set_[1]]:
            lines.append(line)
    return lines


def _set(body: Sequence[str]) -> list[str]:
    """The variables that some line sets, declared."""
    names = sorted(set(re.findall(r"(?<![\w.>])\w+", "\n".join(body))))
    return [f"static {type_}{name};" for kind, type_ in _SET for name in names if re.fullmatch(kind, name)]


def _is_idle(declared: str, words: Container[str]) -> bool:
    """Whether it declares a variable that nothing uses."""
    found = re.match(r"static (?:const )?(?:struct )?\w+ \*?(\w+)", declared)
    return found is not None and declared.endswith(";") and found[1] not in words


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
