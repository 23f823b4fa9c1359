"""The rig: carries out a case's plan on a device, step by step, and judges it. Knows nothing of pytest."""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec.device.profile import Profile
from mkeyspec.device.protocol import Device
from mkeyspec.plan import Step
from mkeyspec.run.expectation import Expectations
from mkeyspec.run.verdict import CaseInfo, Verdict


class Rig:
    """One per worker: `begin`, `step`…, `finish` for each case."""

    def __init__(
        self,
        device: Device,
        profile: Profile,
        expectations: Expectations,
        *,
        deadline: float = 5.0,
        statement: Callable[[str], str | None] = lambda requirement: None,
    ) -> None:
        """`deadline` bounds every wait, in seconds; `statement` gives a requirement's sentence by its id."""
        self.verdict = Verdict()

    def begin(self, case: CaseInfo) -> list[str]:
        """Start a case. Returns what it needs and the device lacks: not empty means don't run it (and don't finish it).

        Raises Blocked when an earlier case left the device unhealthy.
        """
        raise NotImplementedError

    def step(self, step: Step) -> None:
        """Carry out one step. Never raises for what the device does: it is recorded, and told by `finish`."""
        raise NotImplementedError

    def finish(self) -> Verdict:
        """Apply the closing rule and give everything back. Returns the verdict if it is pass or known.

        Raises CaseFailed, whose text is the whole message, or CaseSkipped.
        """
        raise NotImplementedError
