"""Evidence against near misses: of a row that passed, those by which it would have failed, told by hand."""

from __future__ import annotations

import pytest

from mkeyspec import plan
from mkeyspec.abi.constants import CrcType
from mkeyspec.lookslike.transfer import Stage
from mkeyspec.lookslike.witness import Asked, ruled_out
from mkeyspec.plan import At
from mkeyspec.run.doubts import ASKED, ENOUGH, Doubts
from mkeyspec.run.verdict import Failure
from mkeyspec.value.bytestring import Literal
from mkeyspec.value.layout import List, Part
from mkeyspec.value.live import NoValue
from mkeyspec.value.signature import Crc, Domain
from tests.lookslike.bitwise import blocks, crc32c
from tests.lookslike.test_records import BAD, DATA, STEPS, TRUE, laid_down, unread

AT = At(1, 1)
DOMAIN = Domain(Crc(CrcType.CRC32C, (1 << 64) - 1), 512)
GOOD = b"".join(block + crc32c(block) for block in blocks(DATA, 512))
CHECKED = (Asked(len(STEPS), "k", lambda told: told == TRUE),)
"""A check that told what it should."""


def test_a_check_that_held() -> None:
    stage = Stage(STEPS, {"m": BAD, "@": DATA}, unread)
    asked = [
        "record.none",
        "record.swapped",
        "record.last_block",
        "check.not_last_block",
        "crc.inversion",
        "copied.none",
    ]
    assert ruled_out(stage, asked, CHECKED, laid_down) == {"record.none", "record.swapped", "crc.inversion"}
    assert ruled_out(stage, asked, (), laid_down) == set(), "nothing was asked"


def generated(found: bytes) -> Stage:
    """A row that puts fields on the wire, and finds these bytes there."""
    signature = plan.SetSignature(None, DOMAIN, 0xF0)
    layout = List((Part("m", 0, 512), Part("n", 0, 1024)))
    return Stage(
        (
            plan.Memory(AT, "m", 512, Literal(DATA[:512])),
            plan.Memory(AT, "n", 1024, Literal(DATA[512:])),
            plan.Mkey(AT, "k", 0, 2),
            plan.Post(AT, (plan.Configure(AT, "k", (plan.SetLayout(layout), signature)),)),
            plan.Transmit(AT, Part("k", 0, len(GOOD)), "send"),
            plan.Expect(AT, plan.Wire(len(GOOD)), "==", Literal(found)),
        ),
        {"m": DATA[:512], "n": DATA[512:], "@": found},
        unread,
    )


NAMES = {
    "crc.inversion": True, "layout.order": True, "layout.first_missing": True, "moved.nothing": True, "offset.+1": True,
    "key.unsigned": True, "frame.last_only": True,
    # What this row does not show.
    "copied.none": False, "crypto.order": False, "key.old_layout": False, "ref.down": False, "block.size_4096": False,
    "no.such": False,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_bytes_that_were_found(name: str) -> None:
    assert (name in ruled_out(generated(GOOD), [name], (), laid_down)) is NAMES[name]


def test_what_is_not_foreseen_is_no_evidence() -> None:
    other = generated(bytes(len(GOOD)))
    assert ruled_out(other, NAMES, (), laid_down) == set()
    never = (Asked(len(STEPS), "k", lambda told: False),)
    assert ruled_out(Stage(STEPS, {"m": BAD, "@": DATA}, unread), ["record.none"], never, laid_down) == set()


def test_the_end_of_a_row_that_passed() -> None:
    """Bytes that no statement names stay as they are: the closing rule has looked."""
    steps = (
        plan.Memory(AT, "m", 8, Literal(bytes(range(8)))),
        plan.Memory(AT, "w", 16, Literal(bytes(16))),
        plan.Post(AT, (plan.Write(AT, (Part("m", 0, 8),), Part("w", 0, 8)),)),
    )
    held = bytes(range(8)) + bytes(8)
    stage = Stage(steps, {"m": bytes(range(8)), "w": held}, unread)
    assert ruled_out(stage, ["target.+1", "crc.inversion"], (), laid_down, ended=True) == {"target.+1"}
    assert ruled_out(stage, ["target.+1"], (), laid_down) == set()


def test_doubts_are_about_what_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[list[str]] = []

    def found(stage: Stage, names: list[str], *more: object, **options: object) -> set[str]:
        tried.append(names)
        with pytest.raises(NoValue):  # the device is not asked for more
            stage.read("k", "lkey")
        return {"b"} & set(names)

    monkeypatch.setattr("mkeyspec.run.doubts.ruled_out", found)
    monkeypatch.setattr("mkeyspec.run.likeness.stage_of", lambda state: generated(GOOD))
    monkeypatch.setattr("mkeyspec.run.likeness.laid_down_by", lambda state: None)

    class State:
        asked = ()

    doubts, state = Doubts(), State()
    assert doubts.passed(state) == []  # type: ignore[arg-type]
    assert not tried, "nothing was named"
    named = (("a", ""), ("b", ""), ("bytes.zero", ""))
    doubts.failed([Failure("MKS2101", AT, "", looks_like=named)])
    for _ in range(ENOUGH):
        assert doubts.passed(state) == ["b"]  # type: ignore[arg-type]
    assert doubts.passed(state) == []  # type: ignore[arg-type]
    assert tried[0] == ["a", "b"]
    assert tried[-1] == ["a"], "enough rows have spoken against b"
    for _ in range(ASKED):
        doubts.passed(state)  # type: ignore[arg-type]
    assert doubts.passed(state) == []  # type: ignore[arg-type]
    assert len(tried) == ASKED, "no row more"
