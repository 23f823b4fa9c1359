"""`hex"4? ?f"`: the bits of a `?` are not compared, all others are."""

from __future__ import annotations

import pytest

from tests.compiler.statements.lower_text import errors, steps
from tests.run.fixtures import failures, rig, run

SENT = """
    memory m = hex"4ab0c1d2"
    mkey k
    configure k {{ layout list(m) }}
    transmit k by send
    expect wire {}
"""


@pytest.mark.parametrize(
    "wanted",
    [
        '== hex"4? ?0 c1 ??"',
        '== hex"4?" ++ any(1) ++ hex"?1 d2"',
        '== any(1) ++ hex"b0 ?1" ++ m[3]',
        'in [hex"0???????", hex"?a ?? ?1 d?"]',
        '!= hex"5???????"',
    ],
)
def test_what_fits_passes(wanted: str) -> None:
    assert run(rig()[0], *steps(SENT.format(wanted))).status == "pass"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ('== hex"5? ?0 c1 ??"', "1 of 4 bytes differs, first at wire[0]"),
        ('== hex"?b ?? ?? d2"', "1 of 4 bytes differs, first at wire[0]"),
        ('== hex"?? ?? ?2 ?3"', "2 of 4 bytes differ, first at wire[2]"),
        ('== any(3) ++ hex"e?"', "1 of 4 bytes differs, first at wire[3]"),
        ('in [hex"0???????", hex"?b ?? ?2 d?"]', "1 of 4 bytes differs, first at wire[0]"),
        ('!= hex"4???????"', "wire holds exactly the bytes that it must not hold"),
    ],
)
def test_each_bit_that_is_said_is_compared(wanted: str, message: str) -> None:
    (failure,) = failures(rig()[0], *steps(SENT.format(wanted)))
    assert failure.message == message


def test_an_open_half_is_shown_as_it_was_got() -> None:
    (failure,) = failures(rig()[0], *steps(SENT.format('== hex"?b b0 c1 d2"')))
    assert any(text.endswith("expected  4b b0 c1 d2") for _, text in failure.details)


def test_what_was_matched_so_is_not_known() -> None:
    body = SENT.format('== hex"4? b0 ?? d2"')
    assert errors(body + "store m = wire[0 +: 1]") == ["MKS0320 nothing says what `wire[0..1]` holds"]
    assert errors(body + "store m[0 +: 1] = wire[1 +: 1]") == []


def test_it_is_no_byte_string() -> None:
    assert errors('memory m = hex"4?"') == ["MKS0302 `memory m` takes bytes, not a pattern"]
