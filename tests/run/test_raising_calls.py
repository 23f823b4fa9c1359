"""A device whose calls raise, each once: the row fails at its statement, with a code, and the next row goes well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.outside import CALLS
from mkeyspec.device.protocol import DeviceLost, Refused
from mkeyspec.run.surroundings import NotRecorded
from mkeyspec.run.verdict import Failure, Verdict
from tests.run.text import told, verdicts

PLAIN = """
case the_next
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""

FAILED = [
    "mkey k",
    "configure k { access local_write; layout list(m) }",
    "transmit k[0 +: 65] by send",
    "    rejected at completion",
]

STOPPED = [
    "memory s[516]",
    "peer memory t[512]",
    "mkey k { block_signature }",
    "qp q { sig_pipelining }",
    "configure k on q { access 0; layout list(s); signature { mem crc32(ones) every 512 } }",
    "post on q, nowait { write k[0 +: 512] to t, signaled }",
    "await sq_drained on q",
    "check k is bad_guard, block 0",
]

# Of each call: the statements of a case that makes it, after `memory m = counter(64)` in line 5, and how it ends.
ROWS: dict[str, tuple[list[str], str]] = {
    "pd": (["pd p"], "MKS2007:6"),
    "memory": ([], "MKS2007:5"),
    "write": ([], "MKS2007:5"),
    "read": (["expect m == counter(64)"], "MKS2007:6"),
    "mkey": (["mkey k"], "MKS2007:6"),
    "retag": (["mkey k { update_tag }", "retag k to 7"], "MKS2007:7"),
    "destroy": (["mkey k", "destroy k"], "MKS2007:7"),
    "mkey_check": (["mkey k { block_signature }", "check k is ok"], "MKS2007:7"),
    "qp_pair": (["qp q"], "MKS2007:6"),
    "post": (["peer memory w[64]", "write m to w"], "MKS2007:7"),
    "post_recv": (["peer memory w[64]", "peer recv w"], "MKS2007:7"),
    "poll": (["peer memory w[64]", "write m to w"], "MKS2007:7"),
    "events": ([], "MKS2007:5"),
    "cancel": ([*STOPPED, "cancel 1 on q as c"], "MKS2007:14"),
    "resume": ([*STOPPED, "resume q"], "MKS2007:14"),
    "dek": (["dek d { key random(64, seed=1) }"], "MKS2007:6"),
    "dct": (["dct t { key 5 }"], "MKS2007:6"),
    "reconnect": (FAILED, "MKS2007:8"),
    "release": ([], "MKS2205:3"),
}
BETWEEN_ROWS = {"info", "capabilities", "close"}
"""These are not called in a row: tests/device/test_outside.py."""


class Raising(Model):
    """One call raises, the first time that it is made in a row."""

    def __init__(self, call: str, error: BaseException) -> None:
        super().__init__()
        self._errors = [error]
        self.__dict__[call] = partial(self._raise_once, getattr(self, call))

    def _raise_once(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if self._errors:
            raise self._errors.pop()
        return call(*arguments, **options)


def text_of(call: str) -> str:
    lines = ["verifies CFG-04", "memory m = counter(64)", *ROWS[call][0]]
    first = "\n".join(["case the_first", *(f"    {line}" for line in lines)])
    return f"{first}\n{PLAIN}"


def results(call: str, error: BaseException) -> list[str]:
    return told(text_of(call), Raising(call, error))


def outcomes(call: str, device: Raising) -> tuple[Sequence[Failure], str]:
    """The failures of the first row, and the status of the second."""
    first, following = verdicts(text_of(call), device)
    assert not isinstance(first, Verdict)
    assert isinstance(following, Verdict)
    return first, following.status


def told_of(failures: Sequence[Failure]) -> str:
    return ", ".join(f"{one.code}:{one.at.line}" for one in failures)


@pytest.mark.parametrize("call", ROWS)
@pytest.mark.parametrize(
    "error", [OSError, KeyError, SystemExit, GeneratorExit, pytest.skip.Exception, pytest.xfail.Exception, NotRecorded]
)
def test_a_call_that_raises(call: str, error: type[BaseException]) -> None:
    try:
        first, following = results(call, error("no answer"))
    except BaseException as passed:  # pytest would make a skip of some of them
        raise AssertionError(f"{passed!r} is not caught") from None
    assert first == ROWS[call][1]
    assert following == "pass"


@pytest.mark.parametrize("call", ROWS)
def test_a_call_that_finds_the_device_lost(call: str) -> None:
    """A place, and no word of what follows from it."""
    first, following = results(call, DeviceLost("MKS2016", "the peer, host2, is lost"))
    assert first == f"MKS2016:{ROWS[call][1].partition(':')[2]}"
    assert following == "pass"


@pytest.mark.parametrize("errno", ["EINVAL", None, 0])
@pytest.mark.parametrize("call", ROWS)
def test_a_refusal_without_an_errno(call: str, errno: Any) -> None:
    """It is no refusal that a claim could speak of, and no mistake of the rig."""
    first, following = outcomes(call, Raising(call, Refused(call, errno)))
    assert (told_of(first), following) == (ROWS[call][1], "pass")
    (failure,) = first
    assert f"errno {errno}" in failure.message.replace("'", "")
    assert "traceback" not in dict(failure.details)


class Returning(Raising):
    def _raise_once(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        return "EINVAL" if self._errors and self._errors.pop() else call(*arguments, **options)


@pytest.mark.parametrize("call", ["post", "post_recv", "cancel", "resume"])
def test_a_call_that_returns_a_name_for_an_errno(call: str) -> None:
    first, following = outcomes(call, Returning(call, OSError()))
    assert (told_of(first), following) == (ROWS[call][1], "pass")
    (failure,) = first
    assert failure.message == "the device failed: a call returned 'EINVAL', which is no number"
    assert failure.details == ()


def test_each_call_is_tried() -> None:
    assert ROWS.keys() | BETWEEN_ROWS == {*CALLS}
