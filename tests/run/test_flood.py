"""A device that tells the same again and again, or tells of much that nobody asked for: the failure can be read."""

from __future__ import annotations

from dataclasses import replace

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Completion, Qp
from mkeyspec.run.verdict import Verdict
from tests.run.text import one, verdicts

TEXT = one("transmit k by send", "expect wire == m")


class Again(Model):
    """An empty poll tells the last completion of the queue, 16 times; `other`: each time with another id."""

    def __init__(self, *, other: bool = False) -> None:
        super().__init__(Profile())
        self.other = other
        self.last: Completion | None = None
        self.told = 0

    def poll(self, qp: Qp) -> list[Completion]:
        found = super().poll(qp)
        if found:
            self.last = found[-1]
        elif self.last is not None and self.last.qp == qp:
            self.told += 1
            return [replace(self.last, wr_id=self.last.wr_id + self.other * self.told)] * 16
        return found


def test_equal_completions_are_one_failure() -> None:
    [found] = verdicts(TEXT, Again(), 0.5)
    assert not isinstance(found, Verdict)
    assert 1 <= len(found) <= 4
    assert all(each.code == "MKS2201" and " times)" in each.message for each in found)
    assert any("the rig's own closing request" in each.message for each in found)


def test_of_many_others_some_are_told() -> None:
    [found] = verdicts(TEXT, Again(other=True), 0.5)
    assert not isinstance(found, Verdict)
    assert len(found) <= 17
    assert any("more completions are left over" in each.message for each in found)
