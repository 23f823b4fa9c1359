"""A device that says other things of itself while it is open: no row is skipped for what it lacks now and then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Capabilities, Info
from mkeyspec.plan import Comparison
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import Blocked, CaseFailed, CaseInfo
from mkeyspec.value.live import Live

FULL = Model().capabilities()
LESS = replace(FULL, offers=FULL.offers - {"crypto"})
SHORT = replace(FULL, values={**FULL.values, "max_wr_memcpy_length": 0})
LONG = Comparison(Live("device", "max_wr_memcpy_length"), ">", 0)


class Answers(Model):
    """Says these things in turn, and the last one from then on; what is no Capabilities is raised."""

    def __init__(self, *answers: Capabilities | BaseException) -> None:
        super().__init__(Profile())
        self._answers = list(answers)

    def capabilities(self) -> Capabilities:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer


def begun(device: Model, *needs: str | Comparison) -> list[str]:
    rig = Rig(device, Profile(), Expectations())
    return rig.begin(CaseInfo("a", "a.mks", needs=needs))


@pytest.mark.parametrize(
    ("answers", "need", "code"),
    [
        ((LESS, FULL), "crypto", "MKS2014"),
        ((SHORT, FULL), LONG, "MKS2014"),
        ((SHORT, replace(FULL, values={**FULL.values, "max_wr_memcpy_length": 5})), LONG, "MKS2014"),
        ((LESS, OSError("no answer")), "crypto", "MKS2007"),
        ((LESS, pytest.skip.Exception("no answer")), "crypto", "MKS2007"),
    ],
)
def test_a_row_is_not_skipped_for_what_the_device_lacked_once(
    answers: tuple[Capabilities | BaseException, ...], need: str | Comparison, code: str
) -> None:
    with pytest.raises(BaseException) as raised:
        begun(Answers(*answers), need)
    assert isinstance(raised.value, CaseFailed)
    assert [one.code for one in raised.value.failures] == [code]


class Refreshes(Model):
    """Keeps one object for what it says of itself, and changes what is in it."""

    def __init__(self) -> None:
        super().__init__(Profile())
        self.told = Capabilities(FULL.offers, dict(FULL.values))
        self.provenance = Info("a", versions={"kernel": "6.1"})

    def capabilities(self) -> Capabilities:
        return self.told

    def info(self) -> Info:
        return self.provenance


def test_a_row_is_not_skipped_for_a_number_that_the_device_changes_in_place() -> None:
    device = Refreshes()
    rig = Rig(device, Profile(), Expectations())
    device.told.values["max_wr_memcpy_length"] = 0
    assert rig.begin(CaseInfo("a", "a.mks", needs=(LONG,))) == []
    rig.finish()
    above = Comparison(Live("device", "max_wr_memcpy_length"), ">", FULL.values["max_wr_memcpy_length"])
    with pytest.raises(CaseFailed) as raised:
        rig.begin(CaseInfo("b", "a.mks", needs=(above,)))
    assert [one.code for one in raised.value.failures] == ["MKS2014"]


@pytest.mark.parametrize("name", ["told", "provenance"])
def test_a_device_that_is_opened_again_is_compared_with_what_it_said_first(name: str) -> None:
    device = Refreshes()
    rig = Rig(device, Profile(), Expectations())
    rig._blocked = Blocked("a", "wedged")
    if name == "told":
        device.told.values["max_qp_wr"] = 16
    else:
        device.provenance.versions["kernel"] = "6.2"
    rig.take_over(device)
    assert rig.blocked is not None
    assert "it is another device" in rig.blocked.symptom


@pytest.mark.parametrize(("answer", "need"), [(LESS, "crypto"), (SHORT, LONG)])
def test_a_row_is_skipped_for_what_the_device_lacks(answer: Capabilities, need: str | Comparison) -> None:
    assert begun(Answers(answer), need)


def test_numbers_are_those_that_the_needs_were_compared_with() -> None:
    rig = Rig(device := Answers(FULL, SHORT), Profile(), Expectations())
    assert rig.begin(CaseInfo("a", "a.mks", needs=(LONG,))) == []
    assert rig._executor is not None
    assert rig._executor.state.scalar("device", "max_wr_memcpy_length") == FULL.values["max_wr_memcpy_length"]
    assert device.capabilities() == SHORT
