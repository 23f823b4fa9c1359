"""How long the rig waits for completions: until all have come, until the deadline, or until one can't come any more.

After a request failed, its message takes no receive, and the other end gets no completion; unless the error says that
the receive could not take the message, or its request has succeeded.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mkeyspec.run import wait

SUCCESS = SimpleNamespace(status="success")
FAILED = SimpleNamespace(status="loc_prot_err")
REFUSED = SimpleNamespace(status="rem_op_err")


class Around:
    """A clock that goes on with each pause."""

    def __init__(self) -> None:
        self.time = 0.0
        self.pauses: list[float] = []
        self.over = False

    def now(self) -> float:
        return self.time

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds

    def ran_out(self) -> None:
        self.over = True


def state() -> Any:
    return SimpleNamespace(
        around=Around(), deadline=0.01, pairs={}, polled=[], alive=lambda: None, poll=lambda end: None
    )


def due(got: Any = None, **members: Any) -> Any:
    members = {"request": None, "takes": None, "succeeded": False, **members}
    return SimpleNamespace(got=got, failed=got is not None and got.status != "success", **members)


def end(*, broken: bool = False, owes: bool = False) -> Any:
    other = SimpleNamespace(broken=False, shared=False)
    return SimpleNamespace(broken=broken, owes=lambda due: owes, other=other, shared=False)


def waited(end: Any, dues: list[Any], far: list[Any]) -> str:
    now = state()
    done = wait.for_dues(now, end, dues, far)
    assert done is not now.around.over
    return "until the deadline" if not done else "longer" if now.around.pauses else "not at all"


@pytest.mark.parametrize(
    ("broken", "own", "owes", "how"),
    [
        (False, SUCCESS, False, "until the deadline"),
        (False, None, False, "until the deadline"),
        (False, FAILED, False, "not at all"),
        (True, SUCCESS, False, "not at all"),  # an error of an earlier statement, which nobody has looked at
        (True, None, False, "until the deadline"),  # its own completion comes also then
        (False, FAILED, True, "until the deadline"),
        (False, REFUSED, False, "until the deadline"),  # the receive has met an error, and says it
    ],
)
def test_a_receive_of_the_other_end_that_has_not_come(broken: bool, own: Any, owes: bool, how: str) -> None:
    request = due(own)
    assert waited(end(broken=broken, owes=owes), [request], [due(request=request)]) == how


def test_the_other_end_may_have_failed_alone() -> None:
    there = [due(FAILED), due()]
    assert waited(end(), [due(SUCCESS)], there) == "not at all"


def test_all_have_come() -> None:
    assert waited(end(), [due(SUCCESS)], [due(SUCCESS)]) == "not at all"


@pytest.mark.parametrize(("taken", "how"), [(SUCCESS, "not at all"), (None, "until the deadline")])
def test_a_message_may_take_another_receive_than_it_was_paired_with(taken: Any, how: str) -> None:
    """What is waited for is the one that it takes, whatever has become of the other."""
    receive = due(taken)
    request = due(SUCCESS, takes=receive)
    paired = due(None if taken else SUCCESS, request=request)
    assert waited(end(), [request], [paired]) == how


def test_a_message_that_takes_none_yet() -> None:
    request = due(SUCCESS)
    assert waited(end(), [request], [due(SUCCESS, request=request)]) == "not at all"


def test_pauses_double_up_to_a_millisecond() -> None:
    now = state()
    looks: list[float] = []
    assert not wait.until(now, lambda: False, lambda: looks.append(now.around.time))
    pauses = now.around.pauses
    assert pauses[:3] == [20e-6, 40e-6, 80e-6]
    assert pauses[-1] == max(pauses) == 1e-3
    assert looks[0] == 0
    assert looks[-1] >= now.deadline > looks[-2]
    assert len(looks) == len(pauses) + 1
    assert now.around.over
