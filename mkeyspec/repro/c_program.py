"""A C program that is being written: its lines, its objects, and the numbers of its requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mkeyspec import plan
from mkeyspec.device.profile.profile import Profile
from mkeyspec.repro import calls, claims
from mkeyspec.repro.c_expect import Expectations
from mkeyspec.repro.c_frame import query_of
from mkeyspec.repro.c_requests import Requests
from mkeyspec.repro.numbers import number
from mkeyspec.repro.tables import Tables
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

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.trace = self.new_trace()
        self.tables = Tables()
        self.requests = Requests(self.trace.recorder, self.tables, self.wr_id)
        self.expectations = Expectations(self.trace.recorder, self.trace.state, self.tables)
        self.body: list[str] = []
        self.objects: list[str] = []
        """Declarations of what the case declares."""
        self.buffers: list[str] = []
        self.declared: dict[str, int] = {}
        """The line of each buffer and mkey."""
        self.pairs: dict[str, str] = {}
        """The type of each pair of QPs: rc, uc, ud, dci…"""
        self.tags: dict[str, int] = {}
        """How often the tag of an mkey was changed."""
        self.claims: dict[plan.At, plan.Claim] = {}
        """Of each statement so far."""
        self.failed = False
        """A failure of a QP was claimed."""
        steps = [step for step in subject.row.steps if isinstance(step, (plan.Expect, plan.Check))]
        branches = [step.branch.at for step in steps if step.branch is not None]
        writers = [step.writer for step in steps if isinstance(step, plan.Expect) and step.writer is not None]
        self.looked_at = frozenset([*branches, *writers])
        """The statements whose outcome a later one asks for."""
        self._depth = 1
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
            return f"{name}->{member}" if tags == self.tags.get(name, 0) else f"{name}_{member}_{tags}"

        text = re.sub(r"(\w+)@(\w+)@(\d+)@", key, text)
        self.body.append("\t" * self._depth + text if text else "")

    @contextmanager
    def block(self, head: str = "", tail: str = "}") -> Iterator[None]:
        """Lines in braces; without a `head`, those of an `else` that stands there."""
        if head:
            self.line(head)
        self._depth += 1
        yield
        self._depth -= 1
        self.line(tail)

    def note(self, label: str | None, value: str = "result") -> None:
        """What a label tells of its statement's errno."""
        if label is not None:
            self.line(f"errno_of_{label} = {value};")

    # Names -----------------------------------------------------------------------------------

    def wr_id(self, given: int) -> str:
        if given < FIRST_WR_ID:
            return number(given)
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
        profile = self.subject.profile
        own = claims.errnos(claim, phase, profile)
        outcome = known.outcome if known is not None else None
        if known is not None and outcome is not None:
            test = ""
            if plan.is_rejection(outcome):
                other = claims.errnos((outcome,), phase, profile)
                if claims.ANY not in own:
                    named = [f"{value} == {claims.errno_text(one)}" for one in other if one not in own]
                    test = value if claims.ANY in other else " || ".join(named)
            elif not claims.goes_on(claim):
                test = f"!{value}"
            if test:
                self.line(f"if ({test})")
                self.line(f'\tdeparts({line}, "{known.id}");')
        errors = ", ".join([*map(claims.errno_text, own), "0"])
        may = "true" if claims.goes_on(claim) else "false"
        return f'result_is({line}, "{call}", {value}, {may}, (const int[]){{{errors}}})'

    def created(self, line: int, call: str, claim: plan.Claim, known: plan.Known | None, phase: str = "create") -> None:
        """A call that makes an object: the case ends where it is refused, and the case admits that beside success."""
        for name in plan.lacked(self.subject.row.needs):
            if not query_of(name) and not claims.goes_on(claim):
                self.line(f'needs(result, "nothing: it has {name}");')
        text = self.result(line, call, claim, known, phase)
        if claims.errnos(claim, phase, self.subject.profile) and claims.goes_on(claim):
            self.line(f"if (!{text})")
            self.line('\tstop(PASSED, "the device refuses it, which the case admits");')
        else:
            self.line(f"{text};")
