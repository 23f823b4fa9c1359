"""MKS2301, MKS2302 and KNOWN: the page's truth, a departure beside it, and the list of who departs."""

from __future__ import annotations

from mkeyspec.device.protocol import SignatureError
from mkeyspec.plan import (
    Accepted,
    Any,
    At,
    Check,
    Completes,
    Configure,
    Entry,
    Expect,
    Known,
    OneOf,
    Options,
    Outcome,
    Post,
    Rejected,
    SetAccess,
    SetLayout,
    Step,
    Wire,
)
from mkeyspec.run.departures import Expectations
from mkeyspec.value.bytestring import Counter, Flip, Framed, Literal
from mkeyspec.value.layout import List, Part
from mkeyspec.value.live import Live
from tests.run.faulty_device import double
from tests.run.fixtures import (
    ALL,
    CRC32,
    SIGNALED,
    at,
    changed,
    codes,
    failures,
    generating,
    plain,
    rig,
    run,
    transmit,
    validating,
    wire,
)

ID = "X-DIFF-08"
LISTED = Expectations({ID: ("driver.toml", "is too strict")})
REJECTED = Known(ID, Rejected("complete", "EINVAL"))


def configure(*claim: Outcome, known: Known | None = REJECTED) -> Post:
    request = Configure(at(4), "k", (SetAccess(ALL), SetLayout(List((Part("m", 0, 64),)))), False, SIGNALED)
    return Post(at(4), (request,), claim=claim, known=known)


def test_the_truth_passes_where_nothing_is_listed() -> None:
    tested, _ = rig()
    verdict = run(tested, *plain()[:2], configure(), transmit(), wire(Counter(64)))
    assert (verdict.status, verdict.known) == ("pass", [])


def test_the_stated_departure_of_a_listed_device_is_known_and_ends_the_case() -> None:
    tested, device = rig(expectations=LISTED)
    device.errno = 22
    verdict = run(tested, *plain()[:2], configure(), transmit())
    assert (verdict.status, verdict.known, verdict.not_run) == ("known", [ID], [at(5)])
    assert device.released == [False, True], "of the case, of the canary"


def test_of_an_unlisted_device_it_is_a_plain_failure_that_says_so() -> None:
    tested, device = rig()
    device.errno = 22
    [failure] = failures(tested, *plain()[:2], configure())
    assert failure.code == "MKS2001"
    assert f"this is what {ID} describes; no file of expectations lists {ID} for this device" in str(failure.details)


def test_departed_otherwise_than_known() -> None:
    tested, device = rig(expectations=LISTED)
    device.errno = 12
    [failure] = failures(tested, *plain()[:2], configure())
    assert failure.code == "MKS2302"
    assert "without that, it is MKS2001" in str(failure.details)
    tested, device = rig()
    device.errno = 12
    [failure] = failures(tested, *plain()[:2], configure())
    assert failure.code == "MKS2001"
    assert "describes another departure" in str(failure.details)


def test_a_departure_that_disappeared() -> None:
    tested, _ = rig(expectations=LISTED)
    [failure] = failures(tested, *plain()[:2], configure(), transmit(), wire(Counter(64)))
    assert (failure.code, failure.at) == ("MKS2301", at(4))
    assert ("fix", f"take {ID} out of driver.toml") in failure.details


def test_a_departure_that_the_truth_admits_too_is_no_failure() -> None:
    """X-DIFF-06: the page leaves open who refuses; the driver is known to leave it to the device."""
    tested, device = rig(expectations=LISTED)
    device.errno = 22
    both = configure(Rejected("create"), Rejected("complete"))
    assert run(tested, *plain()[:2], both).status == "pass"


def test_accepted_where_the_page_rejects() -> None:
    tested, _ = rig(expectations=LISTED)
    known = configure(Rejected("complete"), known=Known(ID, Accepted()))
    assert run(tested, *plain()[:2], known).status == "known"


def test_a_known_list_of_completions() -> None:
    """X-BUG-04: two completions for one request."""
    tested, device = rig(expectations=LISTED)
    device.twist = lambda found: double(found) if found[-1].opcode == "driver1" else found
    twice = Known(ID, Completes((Entry("driver1"), Entry("driver1"))))
    request = Configure(at(4), "k", (), False, Options(signaled=True, id=7))
    once = Post(at(4), (request,), claim=(Completes((Entry("driver1"),)),), known=twice)
    assert run(tested, *plain()[:2], once).status == "known"
    device.twist = None
    assert codes(tested, *plain()[:2], once) == ["MKS2301"]


# Expectations --------------------------------------------------------------------------------


def expect(known: Known) -> Expect:
    data = Framed(Counter(1024), CRC32)
    return Expect(At(6, 5), Wire(data.length), "==", data, known)


def test_a_known_value() -> None:
    steps = generating()
    departed = Literal(b"\0" * 1032)
    wrong = changed(steps[4], expected=departed, known=Known(ID, value=Framed(Counter(1024), CRC32)))
    tested, _ = rig(expectations=LISTED)
    assert run(tested, *steps[:4], wrong).known == [ID], "what is there is what the departure says"
    tested, _ = rig()
    assert codes(tested, *steps[:4], wrong) == ["MKS2101"]
    tested, _ = rig(expectations=LISTED)
    assert codes(tested, *steps[:4], expect(Known(ID, value=departed))) == ["MKS2301"]
    otherwise = changed(wrong, known=Known(ID, value=Literal(b"\1" * 1032)))
    assert codes(tested, *steps[:4], otherwise) == ["MKS2302"]


def test_a_known_number_is_that_number() -> None:
    """`expect k.max_entries >= 100 known X-… 0`: a device that departs says 0, not any number from 0 on."""
    tested, _ = rig(expectations=LISTED)
    entries = Live("k", "max_entries")
    granted = 4  # as many as `plain` asks for

    def number(operator: str, wanted: int, known: int) -> tuple[Step, ...]:
        return (*plain()[:2], Expect(At(6, 5), entries, operator, wanted, Known(ID, value=known)))

    assert run(tested, *number(">=", granted + 1, granted)).known == [ID]
    assert run(tested, *number("!=", granted, granted)).known == [ID]
    assert codes(tested, *number(">=", granted + 1, 0)) == ["MKS2302"]
    assert codes(tested, *number("!=", granted, granted + 1)) == ["MKS2302"]
    assert codes(tested, *number(">=", granted, 0)) == ["MKS2301"], "the departure was not seen"


ANYTHING = Known(ID, value=Any())


def test_a_departure_of_which_nothing_can_be_said_is_not_strict_by_row() -> None:
    tested, _ = rig(expectations=LISTED)
    steps = generating()
    wrong = changed(steps[4], expected=Literal(b"\0" * 1032), known=ANYTHING)
    assert run(tested, *steps[:4], wrong).known == [ID]
    verdict = run(tested, *steps[:4], expect(ANYTHING))
    assert (verdict.status, verdict.absent) == ("pass", [ID])


def test_a_departure_that_may_keep_to_the_page_is_not_strict_by_row() -> None:
    """The values that it names are all that is taken for it; one of them is the page's."""
    tested, _ = rig(expectations=LISTED)
    steps = generating()
    named = Known(ID, value=OneOf((Framed(Counter(1024), CRC32), Literal(b"\1" * 1032))))
    verdict = run(tested, *steps[:4], expect(named))
    assert (verdict.status, verdict.absent) == ("pass", [ID])
    wrong = changed(steps[4], expected=Literal(b"\0" * 1032), known=named)
    assert run(tested, *steps[:4], wrong).known == [ID]
    other = Known(ID, value=OneOf((Literal(b"\2" * 1032), Literal(b"\1" * 1032))))
    assert codes(tested, *steps[:4], changed(wrong, known=other)) == ["MKS2302"]


def test_a_bare_known_takes_nothing() -> None:
    """The compiler refuses it (MKS0515); of a step it is no departure either."""
    tested, _ = rig(expectations=LISTED)
    steps = generating()
    assert codes(tested, *steps[:4], changed(steps[4], expected=Literal(b"\0" * 1032), known=Known(ID))) == ["MKS2302"]
    assert codes(tested, *plain()[:2], configure(Rejected("complete", "EINVAL"), known=Known(ID))) == ["MKS2302"]


def test_a_known_value_does_not_end_the_case() -> None:
    tested, _ = rig(expectations=LISTED)
    steps = generating()
    wrong = changed(steps[4], expected=Literal(b"\0" * 1032), known=ANYTHING)
    assert codes(tested, *steps[:4], wrong, Expect(at(8), Wire(4), "==", Literal(b"\1\2\3\4"))) == ["MKS2101"]


def test_a_known_record_of_a_check() -> None:
    bad = Flip(Framed(Counter(1024), CRC32), 516, 0)
    check = Check(at(7), "k", ("bad_guard",), 1, domain=CRC32)
    tested, device = rig(expectations=LISTED)
    device.record = SignatureError(2, 0, 0, 1031)
    kind = changed(check, known=Known(ID, value="bad_reftag"))
    assert run(tested, *validating(2, bad), kind).known == [ID]
    device.record = SignatureError(1, 0, 0, 515)
    block = changed(check, known=Known(ID, members=(("block", 0),)))
    assert run(tested, *validating(2, bad), block).known == [ID]
    assert codes(tested, *validating(2, bad), kind) == ["MKS2302"]
    device.record = None
    assert codes(tested, *validating(2, bad), block) == ["MKS2301"]
