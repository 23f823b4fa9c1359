"""Before a step is carried out: waits for outstanding requests that access what it looks at, uses or stores.

What has come meanwhile may be wrong, whatever the step claims: that is a failure here.
"""

from __future__ import annotations

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.run import arrival, drain, live_numbers, teardown_checks, wait
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.dependence import Touched
from mkeyspec.run.endpoint import End
from mkeyspec.run.label import Label
from mkeyspec.run.observe import Seen
from mkeyspec.run.ruling import Rulings


class Outstanding:
    """The outstanding requests of one running case, for the steps that must wait for them."""

    __slots__ = ("rulings", "state")

    def __init__(self, state: CaseState, rulings: Rulings) -> None:
        self.state = state
        self.rulings = rulings

    def rest(
        self, step: plan.Expect | plan.Snapshot | plan.Record | plan.Store | plan.Check | plan.Destroy
    ) -> Seen | None:
        """Wait for the requests that access the bytes which a statement reads or stores. The bytes, if they were looked
        at and are as expected."""
        match step:
            case plan.Store():
                look = Touched(step.at, writes=frozenset({step.to.name}))
            case plan.Check() | plan.Destroy():
                look = Touched(step.at, changes=frozenset({step.mkey}))
            case plan.Expect() | plan.Snapshot() | plan.Record():
                look = Touched(step.at, reads=frozenset(part.name for part in plan.parts_of(step.observed)))
            case _:
                assert_never(step)
        failure = drain.rest(self.state, step.at, (look,)) if look.reads | look.writes | look.changes else None
        seen: Seen | None = None
        if failure is None:
            failure, seen = arrival.of_bytes(self.state, step)
        if failure is not None:
            self.rulings.fail(failure)
        return seen

    def rest_for(self, step: plan.Post | plan.Transmit | plan.Receive, end: End) -> bool:
        """Wait for requests of other queues that access the same objects as a statement which posts to `end`."""
        failure = drain.rest_for(self.state, step, end) or drain.rest_late(self.state, step, end)
        failure = failure or arrival.of_requests(self.state, step, end)
        self.note_exact()
        if failure is None and (step.moves_data() or any(request.writes() for request in step.posted())):
            for changed in teardown_checks.overwritten(self.state, self.rulings.excused):
                self.rulings.fail(changed)
        if failure is not None:
            self.rulings.fail(failure)
        return failure is None

    def wait_for_label(self, label: Label) -> None:
        """A member of a labelled statement is read: wait for its completions, unless the case is over."""
        state = self.state
        owed = [due for due in label.dues if due.signaled and not due.over]
        if owed and not self.rulings.over:
            wait.until(state, lambda: all(due.over for due in owed), state.poll_all)

    def wait_for_bytes(self, name: str) -> None:
        """A number of a buffer, or of a wire, is read: wait for the requests that write there."""
        if self.rulings.over or not self.state.taken:
            return
        at = self.state.taken[-1].at
        failure = drain.rest(self.state, at, (Touched(at, reads=frozenset({name})),))
        if (failure := failure or arrival.of_number(self.state, name, at)) is not None:
            self.rulings.fail(failure)

    def note_exact(self) -> None:
        """With the live numbers of now."""
        number = len(self.state.taken) - 1
        aimed = self.state.aimed[number]
        if number not in self.state.exact and (exact := live_numbers.resolved(aimed, self.state)) is not aimed:
            self.state.exact[number] = exact
