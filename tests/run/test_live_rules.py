"""MKS2107: a rule of the pages that a live number breaks, or doesn't. The compiler leaves it open; the run does not."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mkeyspec.compiler.live_rules import LiveRules
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Mkey, Side
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed, CaseInfo
from tests.quality.subject import ROOT, Bench, rows
from tests.run.text import told, verdicts


def case(*lines: str) -> str:
    """The first of these is line 5."""
    return "case a\n    verifies LAY-01\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        # An mkey's end.
        (["transmit k[0 +: k.max_entries * 100] by send as t", "expect t.status == success"], 8, "beyond the 64"),
        (["peer memory w[1000]", "write k[0 +: k.max_entries * 20] to w", "expect w == any"], 9, "beyond the 64"),
        (["receive counter(16) into k[k.max_entries * 20 +: 16] by recv", "expect m == any"], 8, "beyond the 64"),
        (["receive counter(16) into k[k.max_entries * 20 +: 16] by peer_write", "expect m == any"], 8, "beyond the 64"),
        # The length of a layout, and what a later statement wants of it.
        (
            [
                "configure k { layout list([m[0 +: 4]] * (k.max_entries - 3)) }",
                "transmit k[0 +: 8] by send",
                "expect wire == m[0 +: 8]",
            ],
            9,
            "beyond the 4",
        ),
        (
            [
                "configure k { layout interleaved(k.max_entries - 3, m count 4 skip 4) }",
                "transmit k[0 +: 8] by send",
                "expect wire == any",
            ],
            9,
            "beyond the 4",
        ),
        (
            [
                "configure k { layout list([m] * (k.max_entries - k.max_entries)) }",
                "transmit k[0 +: 8] by send",
                "expect wire == any",
            ],
            9,
            "beyond the 0",
        ),
        # The entries of an mkey.
        (
            [
                "configure k { layout list([m] * (k.max_entries + 1)) }",
                "transmit k[0 +: 8] by send",
                "expect wire == any",
            ],
            8,
            "entries",
        ),
        (
            [
                "mkey l { entries k.max_entries - 3 }",
                "configure l { access local_write; layout list(cut(m, 6)) }",
                "transmit l by send",
                "expect wire == m",
            ],
            9,
            "entries",
        ),
        # Rooms and boundaries.
        (
            [
                "qp q { max_inline_data 64 }",
                "memory n = counter(6000)",
                "peer memory w[32]",
                "peer recv w on q",
                "send n[0 +: q.max_inline_data * 2] on q",
                "expect w == any",
            ],
            12,
            "32",
        ),
        (
            [
                "peer memory w = counter(32)",
                "peer mkey l { entries 4 }",
                "peer configure l { access remote_atomic; layout list(w) }",
                "memory o[8]",
                "fetch_add o from l[l.max_entries + 1 +: 8], add 1",
                "expect o == any",
                "expect w == any",
            ],
            12,
            "8",
        ),
        # A claim that nothing here earns.
        (["configure k { layout list([m] * (k.max_entries - 1)) }", "    rejected at complete"], 8, "entries"),
        (["transmit k[0 +: k.max_entries] by send", "    rejected at completion"], 8, "beyond the layout"),
        (
            ["transmit k[0 +: k.max_entries] by send", "    rejected at completion with local_protection"],
            8,
            "beyond the layout",
        ),
    ],
)
def test_a_rule_that_a_live_number_decides_is_the_authors(lines: list[str], line: int, reason: str) -> None:
    text = case(
        "memory m = counter(64)",
        "mkey k { entries 4 }",
        "configure k { access local_write | remote_write; layout list(m) }",
        *lines,
    )
    [failures] = verdicts(text)
    assert isinstance(failures, tuple | list)
    assert [(one.code, one.at.line) for one in failures] == [("MKS2107", line)]
    assert failures[0].message.startswith("with the numbers of this device, ")
    assert reason in failures[0].message


@pytest.mark.parametrize(
    "lines",
    [
        ["transmit k[0 +: k.max_entries * 17] by send", "    rejected at completion"],
        ["transmit k[0 +: k.max_entries * 16] by send as t", "expect t.status == success"],
        ["configure k { layout list([m] * (k.max_entries + 1)) }", "    rejected at complete"],
        ["configure k { layout list([m] * k.max_entries) }", "transmit k[0 +: 256] by send", "expect wire == m * 4"],
        ["transmit k[0 +: k.max_entries * 17] by send", "    accepted or rejected at completion"],
    ],
)
def test_what_its_number_allows_or_earns_is_judged_of_the_device(lines: list[str]) -> None:
    text = case(
        "memory m = counter(64)", "mkey k { entries 4 }", "configure k { access local_write; layout list(m) }", *lines
    )
    assert told(text) == ["pass"]


def test_entries_from_bytes_are_those_at_the_declaration() -> None:
    text = case(
        "memory m = be32(4)",
        "mkey k { entries be32_at(m, 0) }",
        "store m = be32(200)",
        "configure k { access local_write; layout list([m] * (k.max_entries + 1)) }",
        "    rejected at complete",
    )
    assert told(text) == ["pass"]


class Generous(Model):
    """Grants 29 entries more than it is asked for, as MKY-09 allows."""

    def mkey(self, side: Side, *, max_entries: int, **options: Any) -> Mkey:
        return super().mkey(side, max_entries=max_entries + (29 if max_entries < 60000 else 0), **options)


@pytest.mark.parametrize("file", ["entries", "limits", "room"])
def test_one_entry_beyond_those_granted_is_refused_though_it_breaks_the_room_too(file: str) -> None:
    bench = Bench(lambda: Generous(Profile()))
    found = [(row.id, bench.run(row)) for row in rows([ROOT / f"cases/layout/{file}.mks"], most=1)]
    assert [(id, out.text) for id, out in found if not out.green and out.status != "skip"] == []


WAITS = """\
case a
    verifies XCAN-04
    for first, second in (2, 2), (2, 3), (3, 2), (3, 3)
    let d = crc32(ones) every 512
    memory src = flip(framed(counter(512), d), field_at(d, 0))
    memory m = counter(64)
    memory o = random(64, seed=1)
    peer memory w[512]
    qp q { sig_pipelining }
    mkey k { block_signature; entries 4 }
    mkey l
    mkey n
    configure k on q { layout list(src); signature { mem d } }
    configure l on q { access remote_read; layout list(m[0 +: 32]) }
    configure n on q { access remote_read; layout list(m[32 +: 32]) }
    post on q, nowait {
        write k[0 +: 512] to w, signaled, id 1
        configure l, fence, signaled, id first { layout list(o[0 +: 16]) }
        configure n, signaled, id second { layout list(o[16 +: 24]) }
    }
    await sq_drained on q
    check k is bad_guard, block 0
    cancel 2 on q
    resume q
    poll q
    expect w == counter(512)
    transmit l[k.max_entries - 4 +: pick(first == 2, 32, 16)] by peer_read
    expect wire == pick(first == 2, m[0 +: 32], o[0 +: 16])
    transmit n[k.max_entries - 4 +: pick(second == 2, 32, 24)] by peer_read
    expect wire == pick(second == 2, m[32 +: 32], o[16 +: 24])
"""
"""Two configurations wait in a queue that has stopped, one behind the other."""


def test_a_cancelled_configuration_has_left_its_key_as_it_was() -> None:
    assert told(WAITS) == ["pass"] * 4


def test_one_of_another_number_has_taken_effect() -> None:
    """Where the key of line 29 or of line 31 is used as it was before."""
    text = WAITS.replace("pick(first == 2, 32, 16)", "32").replace("pick(second == 2, 32, 24)", "32")
    text = re.sub("wire == .*", "wire == any", text)
    assert told(text) == ["pass", "MKS2107:31", "MKS2107:29", "MKS2107:29"]


def test_what_an_earlier_stop_held_back_was_carried_out() -> None:
    """Its number is cancelled in a later stop, when it is done."""
    again = "resume q\n    poll q\n    configure k on q { layout list(src); signature { mem d } }\n"
    stop = "    post on q, nowait { write k[0 +: 512] to w, signaled, id 1; write m to w[0 +: 64], fence, id 2 }\n"
    stop += "    await sq_drained on q\n    check k is bad_guard, block 0\n    cancel 2 on q\n"
    text = WAITS.replace("    cancel 2 on q\n", "    " + again + stop)
    text = text.replace("o[0 +: 16]", "o[0 +: 48]").replace("32, 16", "32, 48")  # longer than it was
    assert told(text.replace("first == 2", "no").replace("second == 2", "no")) == ["pass"] * 4


def test_no_shipped_row_breaks_a_rule_by_the_numbers_of_the_device() -> None:
    """Each is judged as if a live number had been read at its first statement."""
    rig = Rig(Model(Profile()), Profile(), expectations=Expectations(), deadline=1.0, rules=LiveRules)
    red = []
    for row in rows(most=1):
        info = CaseInfo(row.id, row.source, row.case.verifies, row.row.needs, None, row.case.at, row.case.isolated)
        if rig.begin(info):
            continue
        assert rig._executor is not None
        rig._executor.state.counted = True
        for step in row.row.steps:
            rig.step(step)
        try:
            rig.finish()
        except CaseFailed as failed:
            red.append((row.id, [str(one) for one in failed.failures]))
    assert red == []
