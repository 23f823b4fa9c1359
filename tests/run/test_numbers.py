"""Numbers that are read out of buffers and wires when the case runs (`be32_at`)."""

from __future__ import annotations

import pytest

from mkeyspec.device.model.late import Late
from mkeyspec.device.profile.profile import Profile
from tests.run.text import one, told

SENT = ("store m = be32(7) ++ le64(0x1122334455667788) ++ fill(3, 52)", "transmit k by send as t")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("expect be32_at(wire, 0) == 7", "pass"),
        ("expect be32_at(wire, 0) == 8", "MKS2105:11"),
        ("expect be32_at(wire, 0) >= 5", "pass"),
        ("expect be32_at(wire, 0) < 7", "MKS2105:11"),
        ("expect be32_at(wire, 0) in [6, 7]", "pass"),
        ("expect be16_at(wire[2..], 0) == 7", "pass"),
        ("expect le32_at(t.wire, 0) == 0x07000000", "pass"),
        ("expect le64_at(t.wire, 4) == 0x1122334455667788", "pass"),
        ("expect be64_at(t.wire, 4) == 0x8877665544332211", "pass"),
        ("expect be64_at(t.wire, 4) & 0xff0000000000ff00 == 0x8800000000002200", "pass"),
        ("expect be64_at(t.wire, 4) & 0xff0000000000ff00 == 0x8800000000002300", "MKS2105:11"),
        ("expect be32_at(wire, 60) == be32_at(wire, 56)", "pass"),
        ("expect be32_at(wire, 60) == be32_at(wire, 0)", "MKS2105:11"),
        ("expect be32_at(m, 0) == be32_at(wire, 0)", "pass"),
        ("expect be32_at(wire, 0) - be32_at(wire, 0) + 1 == 1", "pass"),
        ("expect 7 == be32_at(wire, 0)", "pass"),
    ],
)
def test_what_is_there_is_read(line: str, found: str) -> None:
    assert told(one(*SENT, line, "expect wire == m")) == [found]


def test_it_waits_for_what_writes_there() -> None:
    """Also on a device that carries requests out late, and for what the peer sends."""
    for lines in (("post { read m from w }",), ("recv m", "peer post { send w }")):
        text = one("store w = be32(41) ++ fill(2, 60)", *lines, "expect be32_at(m, 0) + 1 == 42", "expect m == w")
        assert told(text) == told(text, Late(Profile())) == ["pass"]
    text = one(
        "store w = be32(41) ++ fill(2, 60)", "post { read m from w }", "store w[0 +: 4] = be32(be32_at(m, 0) + 1)",
        "expect be32_at(w, 0) == 42", "expect m == any", "expect w == any",
    )  # fmt: skip

    assert told(text, Late(Profile())) == ["pass"]


def test_a_number_names_no_byte() -> None:
    """What arrived and is only read as a number is still a change that no statement names."""
    arrived = ("receive be32(9) ++ fill(4, 60) into k by recv", "expect be32_at(m, 0) == 9")
    assert told(one(*arrived)) == ["MKS2103:9"]
    assert told(one(*arrived, "expect m == any")) == ["pass"]


def test_the_message_names_it_as_the_case_does() -> None:
    from tests.run.text import verdicts

    (failures,) = verdicts(one(*SENT, "expect be32_at(t.wire, 0) == 8", "expect wire == m"))
    assert [failure.message for failure in failures] == ["be32_at(t.wire, 0) is 7, not == 8"]  # type: ignore[union-attr]
