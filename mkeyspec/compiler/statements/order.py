"""Warnings about an order that no page promises. Two right devices may give different results there.

A READ, an atomic and a memcpy write into local memory when they end. A later request of the section waits for that only
with IBV_SEND_FENCE (ibv_post_send(3); mlx5dv_wr_post(3), memcpy). Nor does the other end wait: what a READ or an atomic
takes there a later request may have written already, and a key that it uses may be invalid (IBTA volume 1, 10.8.3.3).
mlx5dv_wr_mkey_configure(3) says that a request after a configuration needs no wait, and nothing of one before it.
Between two statements the rig waits. Of two parts of one layout that are the same bytes, either may be written last.
What is cancelled waits after a fence, or has left (mlx5dv_qp_cancel_posted_send_wrs(3)).
"""

from __future__ import annotations

from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.compiler.eval.undecided import reached
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.diagnostics.diagnostic import Diagnostic, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.plan.use import End
from mkeyspec.reference.layout import Segment
from mkeyspec.value.layout import Layout, Part

CODE = "MKS0619"

_OF_KEYS = {plan.Invalidate.word: "ends"} | dict.fromkeys(
    (plan.Configure.word, plan.MrList.word, plan.MrInterleaved.word), "configures"
)
"""What requests do to a key of their own end."""


class Late(NamedTuple):
    """A request that need not have come to its end: the bytes that it writes here, those that it takes at the other
    end, and the names of what it goes through."""

    request: plan.Wr
    written: list[Segment]
    taken: list[Segment]
    names: frozenset[str]
    span: Span


class SectionOrder:
    """The requests of one section, in order. `found`: warnings, reported if the section is expected to succeed."""

    def __init__(self, row: RowState, qp: str | None, peer: bool) -> None:
        self.row = row
        self.found: list[Diagnostic] = []
        self._late: list[Late] = []
        far = row.state.end(row.state.receive_queue(qp, not peer))
        self._receives = [one.into for one in far.receives or ()]

    def take(self, request: plan.Wr) -> None:
        """The next request."""
        if request.options.fence:
            self._late = []
        span = self.row.origin.get(request)
        into = self._receives.pop(0) if request.takes_receive() and self._receives else ()
        if self._late:
            self._compare(request, into, span)
        late = [end for end in request.ends() if _is_late(end)]
        if late:
            written = [one for end in late for one in self._bytes(end)]
            taken = [one for end in request.ends() if end.use.remote for one in self._bytes(end)]
            names = frozenset(end.part.name for end in request.ends())
            self._late.append(Late(request, written, taken, names, span))

    def _compare(self, request: plan.Wr, into: tuple[Part, ...], span: Span) -> None:
        for end in request.ends():
            here = self._bytes(end)
            for earlier in self._late:
                both = _is_answered(earlier.request) and _is_answered(request)
                if not (end.use.writes and both) and _overlap(here, earlier.written):
                    self._tell(request, earlier, span, "meets bytes that", "need not have written yet")
                    return
                if end.use.writes and end.use.remote and not both and _overlap(here, earlier.taken):
                    self._tell(request, earlier, span, "writes bytes that", "need not have taken yet")
                    return
        arrives = [one for part in into for one in reached(self.row.ledger, part, span)] if into else []
        for earlier in self._late:
            if _overlap(arrives, earlier.taken):
                self._tell(request, earlier, span, "brings bytes to where", "need not have taken them yet")
                return
            if request.word in _OF_KEYS and earlier.names & {*request.changes()}:
                self._tell(request, earlier, span, f"{_OF_KEYS[request.word]} a key that", "may still use")
                return

    def _bytes(self, end: End) -> list[Segment]:
        return [] if end.part.but else reached(self.row.ledger, end.part, self.row.origin.get(end.part))

    def _tell(self, request: plan.Wr, earlier: Late, span: Span, does: str, not_yet: str) -> None:
        name = earlier.request.name()
        self.found.append(
            Diagnostic(
                CODE,
                f"this `{request.name()}` {does} the `{name}` before it {not_yet}",
                span,
                "warning",
                notes=(Note("nothing has the next request wait for this one", earlier.span),),
                help=f"`{request.name()} …, fence` waits",
                page="ibv_post_send(3)" if _is_answered(earlier.request) else "mlx5dv_wr_post(3)",
            )
        )


def check_cancelled(row: RowState, qp: str | None, number: int, span: Span) -> None:
    """A `cancel`: a request may have left unless it, or one before it, waits after a fence."""
    fenced = False
    for step in row.steps:
        if not plan.is_post(step) or step.qp != qp or step.peer or step.abort:
            continue
        for request in step.requests:
            fenced = fenced or request.options.fence
            if request.options.id == number and not fenced:
                row.diagnostics.warning(
                    CODE,
                    f"request {number} has no fence: it may have left already, and then nothing is cancelled",
                    span,
                    notes=(Note("posted here", row.origin.get(request)),),
                    help=f"`{request.name()} …, fence, id {number}` waits for what is before it",
                    page="mlx5dv_qp_cancel_posted_send_wrs(3)",
                )
                return


def check_arrival(row: RowState, part: Part, length: int | None, span: Span) -> None:
    """Something arrives in `part` of an mkey: no two of the bytes that it leads to may be the same."""
    ledger = row.ledger
    layout = ledger.mkey(part.name).layout
    if layout is None or not _repeats(layout):
        return
    last = ("", 0)
    for buffer, start, size in sorted(ledger.targets(part, length, span)):
        if size and buffer == last[0] and start < last[1]:
            row.diagnostics.warning(
                CODE,
                f"`{part.name}` leads to {buffer}[{start}] twice: which of the bytes that arrive stays there is open",
                span,
                help="a layout without overlaps, where something arrives; to gather twice from a place is fine",
            )
            return
        last = (buffer, start + size)


def _repeats(layout: Layout) -> bool:
    """Whether a layout names anything more than once."""
    given = layout.given()
    return len({entry.target().name for entry in given}) < len(given) or any(entry.repeated for entry in given)


def _is_answered(request: plan.Wr) -> bool:
    """Whether the other end answers with bytes; it does so in order."""
    return request.remote() is not None and any(_is_late(end) for end in request.ends())


def _is_late(end: End) -> bool:
    return end.use.writes and not end.use.remote


def _overlap(some: list[Segment], others: list[Segment]) -> bool:
    return any(
        name == other and start < first + size and first < start + length
        for name, start, length in some
        for other, first, size in others
    )
