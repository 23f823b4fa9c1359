"""A program that is being written: its lines, its objects, and the numbers of its requests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mkeyspec import plan
from mkeyspec.abi.constants import WC_STATUS
from mkeyspec.device.profile.profile import Profile
from mkeyspec.repro import calls, claims
from mkeyspec.repro.expect import Expectations
from mkeyspec.repro.language import Language, Statuses
from mkeyspec.repro.trace import Trace
from mkeyspec.run.case_state import FIRST_WR_ID

_OWN_IDS = 1001
"""The first id of requests that the case gives none."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A row that a program is written of. `path`: its file, for the text of the lines."""

    case: plan.Case
    row: plan.Row
    id: str
    source: str
    path: Path
    profile: Profile
    got: tuple[str, ...] = ()
    """What a run has got, in lines, where the row has failed."""


class Program:
    """What the modules that write a program share."""

    def __init__(self, subject: Subject, language: Callable[[Program], Language]) -> None:
        self.subject = subject
        self.at = subject.case.at
        """The statement that is being written."""
        self.trace = self.new_trace()
        self.language = language(self)
        self.expectations = Expectations(self.trace.recorder, self.trace.state, self.language)
        self.body: list[str] = []
        self.buffers: list[str] = []
        self.declared: dict[str, int] = {}
        """The line of each buffer and mkey."""
        self.pairs: dict[str, str] = {}
        """The type of each pair of QPs: rc, uc, ud, dci…"""
        self.tags: dict[str, int] = {}
        """How often the tag of an mkey was changed."""
        self.gone: set[str] = set()
        """The mkeys that were destroyed: what is used of them later are the keys that they had."""
        self.claims: dict[plan.At, plan.Claim] = {}
        """Of each statement so far."""
        self.failed = False
        """A failure of a QP was claimed."""
        steps = [step for step in subject.row.steps if isinstance(step, (plan.Expect, plan.Check))]
        branches = [step.branch.at for step in steps if step.branch is not None]
        writers = [step.writer for step in steps if isinstance(step, plan.Expect) and step.writer is not None]
        self.looked_at = frozenset([*branches, *writers])
        """The statements whose outcome a later one asks for."""
        self._depth = self.language.depth
        self._ids: dict[int, int] = {}

    def new_trace(self) -> Trace:
        """The row, from its beginning."""
        subject = self.subject
        return Trace(subject.row, subject.id, subject.case.at, subject.profile)

    # Lines -----------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Add a line. A key in it is the one that the mkey had when the number was computed."""

        def key(found: re.Match[str]) -> str:
            name, member, tags = found[1], found[2], int(found[3])
            now = tags == self.tags.get(name, 0) and name not in self.gone
            return f"{name}{self.language.of}{member}" if now else f"{name}_{member}_{tags}"

        text = re.sub(r"(\w+)@(\w+)@(\d+)@", key, text)
        text = re.sub(r"taken@(\w+)@", lambda found: self.language.snapshots[found[1]], text)
        self.body.append(self.language.indent * self._depth + text if text else "")

    def do(self, statement: str) -> None:
        """Add a line that is one statement."""
        self.line(statement + self.language.end)

    @contextmanager
    def when(self, condition: str, *, short: bool = False) -> Iterator[None]:
        """Lines that are carried out on a condition. `short`: one of them."""
        language = self.language
        self.line(language.opening(condition, short=short))
        self._depth += 1
        yield
        self._depth -= 1
        if language.closing and not short:
            self.line(language.closing)

    @contextmanager
    def otherwise(self, *, short: bool = False) -> Iterator[None]:
        """Lines that are carried out where the condition before does not hold."""
        language = self.language
        if language.closing and not short:
            self.body.pop()
        self.line("else" + language.opening("", short=True) if short else language.other)
        self._depth += 1
        yield
        self._depth -= 1
        if language.closing and not short:
            self.line(language.closing)

    def lines(self) -> list[str]:
        """All of them, without those that set a variable which no line reads."""
        text = "\n".join(self.body)
        words, sets = Counter(re.findall(r"\w+", text)), Counter(re.findall(r"(\w+) = ", text))
        kept = []
        for line in self.body:
            found = re.match(r"\s*(wc_\d+|errno_of_\w+|\w+_[lr]key_\d+) = ", line)
            if found is None or words[found[1]] > sets[found[1]]:
                kept.append(line)
        return kept

    def note(self, label: str | None, value: str = "result") -> None:
        """What a label tells of its statement's errno."""
        if label is not None:
            self.do(f"errno_of_{label} = {value}")

    # Names -----------------------------------------------------------------------------------

    def wr_id(self, given: int) -> str:
        if given < FIRST_WR_ID:
            return self.language.number(given)
        return str(self._ids.setdefault(given, _OWN_IDS + len(self._ids)))

    def is_dci(self, pair: str) -> bool:
        return self.pairs.get(pair) == "dci"

    def end(self, call: calls.Came | calls.Post | calls.PostRecv) -> str:
        """The end of a pair that a call is of: the other end of a DCI is one for all."""
        if self.is_dci(call.pair) and call.side == "peer":
            return "targets"
        return f"{call.pair}.{call.side}"

    # Results of calls ------------------------------------------------------------------------

    def result(
        self, line: int, call: str, claim: plan.Claim, known: plan.Known | None, phase: str, value: str = "result"
    ) -> str:
        """The expression that is true if a call went through, and ends the program if it may not end so."""
        profile, language = self.subject.profile, self.language
        own = claims.errnos(claim, phase, profile)
        outcome = known.outcome if known is not None else None
        if known is not None and outcome is not None:
            test = ""
            if plan.is_rejection(outcome):
                other = claims.errnos((outcome,), phase, profile)
                if claims.ANY not in own:
                    named = [f"{value} == {language.errno(one)}" for one in other if one not in own]
                    test = value if claims.ANY in other else language.either.join(named)
            elif not claims.goes_on(claim):
                test = language.negated(value)
            if test:
                with self.when(test, short=True):
                    self.do(language.call("departs", line, language.string(known.id)))
        may_succeed = claims.goes_on(claim)
        return language.result_is(line, call, value, may_succeed=may_succeed, errnos=own)

    def created(self, line: int, call: str, claim: plan.Claim, known: plan.Known | None, phase: str = "create") -> None:
        """A call that makes an object: the case ends where it is refused, and the case admits that beside success."""
        language = self.language
        for name in plan.lacked(self.subject.row.needs):
            if not language.query_of(name) and not claims.goes_on(claim):
                self.do(language.call("needs", "result", language.string(f"nothing: it has {name}")))
        text = self.result(line, call, claim, known, phase)
        if claims.errnos(claim, phase, self.subject.profile) and claims.goes_on(claim):
            with self.when(language.negated(text), short=True):
                self.do(
                    language.call("stop", "PASSED", language.string("the device refuses it, which the case admits"))
                )
        else:
            self.do(text)

    # Completions -----------------------------------------------------------------------------

    def statuses(self, names: Sequence[str]) -> Statuses:
        """Statuses that are admitted: any error where they are nearly all."""
        return Statuses(tuple(names), len(names) >= len(WC_STATUS) - 2)
