"""What a rig takes from elsewhere than the calls of its device: the time, and what is known of earlier cases.

A recording keeps it beside the calls, and gives it again (`mkeyspec.bundle`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, sleep


class NotRecorded(BaseException):
    """A recording has no answer to a call; `str()` says what was asked, and what the run did there instead. It is no
    `Exception`: a device that raises fails its case, and this is nothing of the device."""


PASSED_ON = (KeyboardInterrupt,)
"""What is nothing of the device, and is not caught. Whatever else a call of a device raises is its failure, also what
would end the interpreter or, as pytest's own `skip` and `xfail`, a test: the rest of the run goes on."""


class Surroundings:
    """Of a run on a device."""

    def __init__(self, device: object = None) -> None:
        # Not inherited: what changes a class of devices may be late.
        self.immediate = vars(type(device)).get("immediate", False)

    missing: tuple[type[NotRecorded], ...] = ()
    """NotRecorded where a recording answers. Raised by a device it is a failure as any other."""

    immediate = False
    """Whether all that the device ever does is done when its call returns. Then nothing is waited for: each wait puts
    the clock forward."""

    ahead = 0.0
    """So many seconds the clock was put forward."""

    own = False
    """Whether the call under way is the rig's own: it depends on what came, not on the steps alone."""

    def now(self) -> float:
        """Seconds of a clock that only advances."""
        return monotonic() + self.ahead

    def pause(self, seconds: float) -> None:
        """Between two looks of a wait for something."""
        self._wait(seconds)

    def rest(self, seconds: float) -> None:
        """Between two looks of a wait until nothing new comes."""
        self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        if self.immediate:
            self.ahead += seconds
        else:
            sleep(seconds)

    def ran_out(self) -> None:
        """A wait for something has ended at its deadline."""

    def fell_quiet(self) -> None:
        """A wait until nothing new comes has ended."""

    @contextmanager
    def as_own(self) -> Iterator[None]:
        """The calls within are the rig's own."""
        self.own = True
        try:
            yield
        finally:
            self.own = False

    def begin(self, case: str, late: Counter[int]) -> Counter[int]:
        """A case begins. `late`: of which QPs, by handle, earlier cases owe an event; what is given back counts."""
        return late

    def passed_by(self, case: str, unmet: Sequence[str]) -> None:
        """A case is not run: the device does not meet these needs."""

    def end(self, whole: bool) -> None:
        """The steps of a case are over; what it made is given back next. `whole`: the end was waited for, since no
        failure had ended it."""

    def ended(self) -> None:
        """What a case made was given back."""

    def symptom(self, ask: Callable[[], str]) -> str:
        """What is wrong with the device after a case, which `ask` finds out; "" if it is healthy."""
        return ask()
