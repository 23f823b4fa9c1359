"""A small sample of `python -m tests.quality.programs`, and what the campaign is to find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mkeyspec.device.protocol import Completion, Qp
from tests.quality import programs
from tests.quality.kind import kinds
from tests.quality.programs import STYLES, Exempt, Order, Wrong
from tests.quality.programs_devices import TOLD, Drawn, Right, right
from tests.quality.subject import PROFILE, Bench
from tests.quality.tap import Disturbance, Held, Tap

SEED = 6
FORBIDDEN = ("lost", "wrong_id", "success_as_error", "flip_buffer", "unsignaled_told")
LEGAL = ("late_3", "one_at_a_time")


def test_programs_are_green_on_right_devices() -> None:
    result = programs.work(Order(SEED, devices=2), programs.drawn([*STYLES], SEED, 16))
    new, _ = programs.sorted_out(result.wrong, programs.exceptions())
    assert not new, "\n".join(map(str, new))
    assert result.programs >= 15


@pytest.mark.parametrize("style", STYLES)
def test_what_is_forbidden_is_red_in_a_program(style: str) -> None:
    order = Order(SEED, devices=0, disturb=True, kinds=(*FORBIDDEN, *LEGAL))
    result = programs.work(order, programs.drawn([style], SEED, 2))
    assert not result.wrong, "\n".join(map(str, result.wrong))
    assert all(result.kinds[name].red for name in FORBIDDEN)
    assert all(result.kinds[name].green and not kinds()[name].forbidden for name in LEGAL)


class FirstTwice(Disturbance):
    """The first completion comes twice: no right device."""

    def arrive(self, tap: Tap, qp: int, queue: str, place: int, completion: Completion) -> Sequence[Held]:
        twice, self.done = not self.done, True
        return (Held(completion),) * (2 if twice else 1)


def test_a_wrong_verdict_is_kept_with_a_smaller_program_and_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A device that is called right, and repeats a completion."""

    def wrong(seed: int, number: int) -> list[Right]:
        return [Right("at fault", Bench().make, FirstTwice)]

    monkeypatch.setattr(programs, "right", wrong)
    arguments = ["--style", "mixed", "--seed", str(SEED), "--programs", "1", "--keep", str(tmp_path), "--shrink", "3"]
    assert programs.main(arguments) == 1
    assert "1 wrong verdicts" in capsys.readouterr().out
    (kept,) = tmp_path.iterdir()
    assert kept.name == f"mixed-{SEED}-right"
    whole, small = ((kept / name).read_text("utf-8") for name in ("program.mks", "smaller.mks"))
    assert whole == STYLES["mixed"](SEED)
    assert len(small.splitlines()) < len(whole.splitlines())
    assert f"--style mixed --seed {SEED} --programs 1" in (kept / "verdict.txt").read_text("utf-8")


def test_a_seed_draws_the_same_programs_and_devices() -> None:
    for write in STYLES.values():
        assert write(3) == write(3) != write(4)
    assert [one.what for one in right(3, 6)] == [one.what for one in right(3, 6)]
    assert len({one.what for seed in range(30) for one in right(seed, 4)}) > len(TOLD)


def test_programs_have_what_they_are_for() -> None:
    texts = {style: [write(seed) for seed in range(40)] for style, write in STYLES.items()}
    for style, words in {
        "mixed": (
            "type uc",
            "type dci",
            "rejected at completion",
            "rejected at complete\n",
            "abort",
            ", nowait",
            "recv",
        ),
        "listed": ("completes {", "wr_flush_err", "poll completes"),
        "streams": ("dct u", ", stream 1", "completes in any order"),
        "pipelining": ("sq_drained", "cancel 2", "resume q", ", fence"),
    }.items():
        for word in words:
            assert sum(word in text for text in texts[style]) > 3, (style, word)


def test_a_drawn_device_brings_a_read_late_and_shows_a_write_late(tmp_path: Path) -> None:
    """Both freedoms are used: else the device would be the model with delays."""
    met: Counter[str] = Counter()

    class Watched(Drawn):
        def poll(self, qp: Qp) -> list[Completion]:
            met["READs"] += any(self.execution.postponed.values())
            met["WRITEs"] += bool(self.execution.unseen)
            return super().poll(qp)

    bench = Bench(lambda: Watched(PROFILE, 1, partly=True, read_late=0.6, write_late=0.6), 0.05)
    for seed in range(8):
        for style in ("mixed", "streams"):
            row = programs.row_of(STYLES[style](seed), "program", tmp_path)
            assert not isinstance(row, str)
            assert bench.run(row, Disturbance(), slow=True).status == "pass"
    assert met["READs"] > 3
    assert met["WRITEs"] > 3


def test_an_exception_names_its_verdict_and_no_other() -> None:
    wrong = Wrong("mixed-1", "event_invented", "event qp_fatal of QP 1", "", "write a to b, but rkey b.rkey ^ 0xff00")
    (known,) = (one for one in programs.exceptions() if one.what == "event_invented")
    assert known.fits(wrong)
    assert not known.fits(replace(wrong, source="write a to b"))
    assert not known.fits(replace(wrong, what="lost"))
    other = Exempt("right", "for this test", text="MKS2004*")
    assert programs.sorted_out([wrong], [other]) == ([wrong], {})
    assert all(one.reason for one in programs.exceptions())
