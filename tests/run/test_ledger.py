"""Each byte is traced: its block and field, its memory, its entry, through nested keys, in both directions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mkeyspec.plan import Accepted, At, Rejected
from mkeyspec.run import difference, ledger_text, route
from mkeyspec.run.drawing import drawing_of
from mkeyspec.run.ledger import Ledger, first_blocks
from mkeyspec.run.route import Key, Transfer
from mkeyspec.run.verdict import Verdict
from mkeyspec.value.bytestring import Fill
from mkeyspec.value.layout import Part
from mkeyspec.value.signature import Crc, Domain, T10Dif
from tests.run.fixtures import changed, failures, plain, rig, transmit, wire
from tests.run.text import one, verdicts

SIGNED = (
    "let d = crc32c(ones) every 512",
    "memory src = counter(1536)",
    "mkey s { block_signature }",
    "configure s { access local_write; layout list(src[0 +: 100], src[100 +: 1436]); signature { wire d } }",
    "transmit s by send",
)
STORED = (
    "let d = t10dif(flags=ref_remap) every 512",
    "memory dst[1560]",
    "mkey s { block_signature }",
    "configure s { access local_write; layout list(dst[0 +: 1000], dst[1000 +: 560]); signature { mem d } }",
    "receive counter(1536) into s by recv",
)
SHORT = (
    "let d = t10dif(flags=ref_remap) every 512",
    "memory dst[1560]",
    "mkey s { block_signature }",
    "configure s { access local_write; layout list(dst); signature { mem d } }",
    "receive counter(600) into s by recv",
)
"""The message ends in block 1."""
NESTED = (
    "memory a = counter(64)",
    "memory b = counter(64)",
    "mkey inner",
    "configure inner { access remote_read; layout list(b[32 +: 32], a[8 +: 8]) }",
    "mkey outer",
    "configure outer { access remote_read; layout list(a[0 +: 16], inner[16 +: 24]) }",
    "transmit outer by send",
)
TURNS = (
    "memory a = counter(300)",
    "mkey t",
    "configure t { access remote_read; layout interleaved(3, a count 8 skip 2, a[100..] count 4 skip 6) }",
    "let turns = a[0 +: 8] ++ a[100 +: 4] ++ a[10 +: 8] ++ a[110 +: 4] ++ a[20 +: 8] ++ a[120 +: 4]",
    "transmit t by send",
)


PARTS = (
    "let d = t10dif(ref_tag=7, flags=ref_remap) every 512",
    "memory src = counter(1024)",
    "memory x = fill(7, 8)",
    "let sent = framed(counter(1024), d)",
    "peer memory far[2088]",
    "mkey s { block_signature }",
    "configure s { layout list(src[0 +: 100], src[100 +: 924]); signature { wire d } }",
)
TWICE = (*PARTS, "write [s[0 +: 1040], x[0 +: 8], s[0 +: 1040]] to far")
NEXT = "framed(counter(1024), t10dif(ref_tag=9, flags=ref_remap) every 512)"
"""What the model sends after two blocks: its tags go on from part to part."""
AS_A_WHOLE = "framed(counter(1024), t10dif(ref_tag=6, flags=ref_remap) every 512)"
LATER = (*PARTS, "write s[520 +: 520] to far[0 +: 520]")
RECEIVED = (
    "memory one[16]",
    "memory two[8]",
    "peer memory far = counter(24)",
    "mkey a",
    "mkey b",
    "configure a { access local_write; layout list(one) }",
    "configure b { access local_write; layout list(two) }",
    "read [a, b] from far",
)


def details(*body: str) -> dict[str, str]:
    """The details of the first failure, by label; further lines of one follow after ` | `."""
    failed = verdicts(one(*body))[0]
    assert not isinstance(failed, Verdict)
    found: dict[str, str] = {}
    label = ""
    for word, text in failed[0].details:
        label = word or label
        found[label] = f"{found[label]} | {text}" if label in found else text
    return found


@pytest.mark.parametrize(
    ("body", "wrong", "told"),
    [
        (
            SIGNED,
            "expect wire == flip(framed(counter(1536), d), 516 + 513)",
            {
                "block": "block 1, CRC32C field, byte 1 of 4 (little endian), on the wire of `s`",
                "computed": "crc32c(ones) over block 1: src[512 +: 512] | s: entry 1 + 412 … 923",
                "differ": "CRC32C field: block 1, 1 of 3, byte 1 of 4 | data: equal",
            },
        ),
        (
            SIGNED,
            "expect wire == flip(framed(counter(1536), d), 513)",
            {"computed": "crc32c(ones) over block 0: src[0 +: 512] | s: entry 0 + 0 … entry 1 + 411"},
        ),
        (
            SIGNED,
            "expect wire[516 +: 516] == flip(framed(counter(1024), d)[516 +: 516], 4)",
            {
                "block": "block 1, data byte 4 of 512, on the wire of `s`",
                "from": "src[516] (s: entry 1 + 416)",
                "differ": "CRC32C field: equal | data: 1 byte in block 1, the only one | "
                "entry 1 (1 of 1436 bytes): 1 of 1 entries of `s`",
            },
        ),
        (
            STORED,
            "expect dst == flip(framed(counter(1536), d), 2 * 520 + 519)",
            {
                "block": "block 2, reference tag, byte 3 of 4 (big endian), in the memory of `s`",
                "computed": "from t10dif(flags=ref_remap), plus block 2",
                "through": "s: entry 1 + 559, which is dst[1559]",
            },
        ),
        (
            STORED,
            "expect dst[520 +: 520] == flip(framed(counter(1536), d)[520 +: 520], 512)",
            {
                "block": "block 1, guard, byte 0 of 2 (big endian), in the memory of `s`",
                "computed": "t10dif(flags=ref_remap) over block 1: the peer's data[512 +: 512]",
                "through": "s: entry 1 + 32, which is dst[1032]",
            },
        ),
        (
            NESTED,
            "expect wire == flip(a[0 +: 16] ++ b[48 +: 16] ++ a[8 +: 8], 33)",
            {
                "from": "a[9] (outer: entry 1 + 17 → inner: entry 1 + 1)",
                "differ": "entry 1 (1 of 24 bytes): 1 of 2 entries of `outer`",
            },
        ),
        (
            TURNS,
            "expect wire == flip(turns, 21)",
            {
                "from": "a[111] (t: turn 1, entry 1 + 1)",
                "differ": "turn 1, entry 1 (1 of 4 bytes): 1 of 6 entries of `t`",
            },
        ),
        (
            TWICE,
            f"expect far == flip(sent, 512) ++ fill(9, 8) ++ flip({NEXT}, 1039)",
            {
                "block": "block 0, guard, byte 0 of 2 (big endian), on the wire of `s`",
                "computed": "t10dif(ref_tag=0x7, flags=ref_remap) over block 0: src[0 +: 512]"
                " | sg_list[0] → s: entry 0 + 0 … entry 1 + 411",
                "differ": "guard: block 0, 1 of 4, byte 0 of 2 | application tag: equal"
                " | reference tag: block 3, 1 of 4, byte 3 of 4 | data: equal | sg_list[1]: 8 bytes",
                "field": "block 0, guard: expected 0x81b9, got 0x80b9"
                " | block 3, reference tag: expected 0x0000000b, got 0x0000000a",
            },
        ),
        (
            TWICE,
            f"expect far == sent ++ fill(7, 8) ++ flip({NEXT}, 1039)",
            {
                "block": "block 3 of the message (block 1 of `s`), reference tag, byte 3 of 4 (big endian),"
                " on the wire of `s`",
                "computed": "from t10dif(ref_tag=0x7, flags=ref_remap), plus block 3"
                " | sg_list[2] → s: entry 1 + 412 … 923",
            },
        ),
        (
            LATER,
            "expect far[0 +: 520] == flip(framed(counter(1024)[512 +: 512], t10dif(ref_tag=7) every 512), 5)",
            {
                "block": "block 0 of the message (block 1 of `s`), data byte 5 of 512, on the wire of `s`",
                "should be": "bit 0 flipped by the case | byte 517 of 1024 | counter(1024), byte 517",
            },
        ),
        (
            LATER,
            f"expect far[0 +: 520] == flip({AS_A_WHOLE}, 525)[520 +: 520]",
            {
                "block": "block 0 of the message (block 1 of `s`), data byte 5 of 512, on the wire of `s`",
                "should be": "byte 525 of 1040 | bit 0 flipped by the case | block 1, byte 5 of what is expected"
                " | counter(1024), byte 517",
            },
        ),
        (
            RECEIVED,
            "expect two == flip(counter(24), 20)[16 +: 8]",
            {
                "from": "far[20]",
                "through": "sg_list[1] → b: entry 0 + 4, which is two[4]",
            },
        ),
        (
            ("memory x = counter(32)", "write x[4 +: 8] to w[0 +: 8]"),
            "expect w[0 +: 8] == flip(counter(32)[4 +: 8], 2)",
            {"should be": "bit 0 flipped by the case | byte 6 of 32 | counter(32), byte 6"},
        ),
        (
            ("write k[4 +: 8] to w[0 +: 8]",),
            "expect w[0 +: 8] == flip(fill(1, 8), 2)",
            {"from": "m[6] (k: entry 0 + 6)"},
        ),
    ],
)
def test_a_byte_is_traced(body: tuple[str, ...], wrong: str, told: dict[str, str]) -> None:
    found = details(*body, wrong)
    assert {label: found.get(label) for label in told} == told


@pytest.mark.parametrize(
    ("body", "wrong", "lines"),
    [
        (
            SIGNED,
            "expect wire == flip(framed(counter(1536), d), 513)",
            [
                "memory │ src[0 +: 100]       │ src[100 +: 412]       │                   │ src[512 +: 512]       │ …",
                "s      │ entry 0 + 0         │ entry 1 + 0           │ computed          │ entry 1 + 412         │ …",
                "wire   │ block 0: [0 +: 100] │ block 0: [100 +: 412] │ crc32c [512 +: 4] │ block 1: [516 +: 512] │ …",
                "                                                       ^^^^^^^^^^^^^^^^^",
            ],
        ),
        (
            STORED,
            "expect dst == flip(framed(counter(1536), d), 2 * 520 + 511)",
            [
                "memory … │ dst[1040 +: 512] │ dst[1552 +: 8] │",
                "           ^^^^^^^^^^^^^^^^",
                "s      … │ entry 1 + 40     │ computed       │",
                "wire   … │ [1024 +: 512]    │                │",
            ],
        ),
        (
            NESTED,
            "expect wire == flip(a[0 +: 16] ++ b[48 +: 16] ++ a[8 +: 8], 33)",
            [
                "memory … │ b[48 +: 16]                       │ a[8 +: 8]                         │",
                "outer  … │ entry 1 + 0 → inner: entry 0 + 16 │ entry 1 + 16 → inner: entry 1 + 0 │",
                "wire   … │ [16 +: 16]                        │ [32 +: 8]                         │",
                "                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
            ],
        ),
        (
            TWICE,
            f"expect far == flip(sent, 1039) ++ fill(9, 8) ++ {NEXT}",
            [
                "memory … │ src[512 +: 512]       │                    │ x[0 +: 8]   │ src[0 +: 100]          │ …",
                "s      … │ entry 1 + 412         │ computed           │             │ entry 0 + 0            │ …",
                "SGE    … │ sg_list[0]            │ sg_list[0]         │ sg_list[1]  │ sg_list[2]             │ …",
                "wire   … │ block 1: [520 +: 512] │ t10dif [1032 +: 8] │ [1040 +: 8] │ block 2: [1048 +: 100] │ …",
                "                                   ^^^^^^^^^^^^^^^^^^   ^^^^^^^^^^^",
            ],
        ),
        (
            SHORT,
            "expect dst[520 +: 520] == framed(counter(1024), d)[520 +: 520]",
            [
                "memory … │ dst[520 +: 88] │ dst[608 +: 424] │ dst[1032 +: 8] │",
                "                            ^^^^^^^^^^^^^^^   ^^^^^^^^^^^^^^",
                "s      … │ entry 0 + 520  │ entry 0 + 608   │                │",
                "wire   … │ [512 +: 88]    │ not written     │ not written    │",
            ],
        ),
        (
            RECEIVED,
            "expect one == flip(counter(24), 10)[0 +: 16]",
            [
                "memory │ one[0 +: 16] │",
                "         ^^^^^^^^^^^^",
                "a      │ entry 0 + 0  │",
                "SGE    │ sg_list[0]   │",
                "wire   │ [0 +: 16]    │",
            ],
        ),
    ],
)
def test_the_way_is_drawn(body: tuple[str, ...], wrong: str, lines: list[str]) -> None:
    assert details(*body, wrong)["way"].split(" | ") == lines


def test_the_facts_are_those_of_the_text() -> None:
    [failed] = verdicts(one(*SIGNED, "expect wire == flip(framed(counter(1536), d), 516 + 513)"))
    assert not isinstance(failed, Verdict)
    facts = failed[0].difference
    assert facts is not None
    assert (facts.first, facts.differing, facts.total, facts.start) == ("wire[1029]", 1, 1548, 1028)
    want, got = bytes.fromhex(facts.expected), bytes.fromhex(facts.got)
    assert [a ^ b for a, b in zip(want, got, strict=True)] == [0, 1, 0, 0]
    assert facts.part.startswith("block 1, CRC32C field, byte 1 of 4")
    assert facts.source == "crc32c(ones) over block 1: src[512 +: 512]"
    assert (facts.key, facts.side, facts.before, facts.after) == ("s", "wire", True, False)
    assert [cell[3] for cell in facts.cells] == ["", "differs", "", ""]


def test_the_statements_that_may_have_written_the_bytes_are_named() -> None:
    """Of memory, those since it was last compared; of a wire, its own."""
    body = ("write k[0 +: 8] to w[0 +: 8]", "expect w[0 +: 8] == fill(1, 8)", "write k to w", "expect w == fill(2, 64)")
    [failed] = verdicts(one(*body))
    assert not isinstance(failed, Verdict)
    assert [(one.suspects[0], [at.line for at in one.suspects[1]]) for one in failed] == [("maybe by", [11])]
    [failed] = verdicts(one("transmit k by send as t", "transmit k by send", "expect t.wire == fill(2, 64)"))
    assert not isinstance(failed, Verdict)
    assert [(one.suspects[0], [at.line for at in one.suspects[1]]) for one in failed] == [("sent by", [9])]


def test_what_was_got_can_be_pasted_back() -> None:
    """The printed statement holds in the place of the wrong one."""
    wrong = "expect wire == flip(framed(counter(1536), d), 516 + 513)"
    pasted = details(*SIGNED, wrong)["paste"]
    assert pasted.startswith("expect wire[1028 +: 4] == hex")
    [verdict] = verdicts(one(*SIGNED, pasted, "expect wire == framed(counter(1536), d)"))
    assert isinstance(verdict, Verdict)


@pytest.mark.parametrize(
    ("bytes_", "pattern"),
    [("600 +: 24", "hex"), ("608 +: 24", "unchanged"), ("520 +: 120", "hex"), ("1000 +: 64", "unchanged")],
)
def test_bytes_that_nobody_wrote_are_pasted_as_unchanged(bytes_: str, pattern: str) -> None:
    """Their values are of this file and row alone. No statement may have written them."""
    length = int(bytes_.split()[-1])
    [failed] = verdicts(one(*SHORT, f"expect dst[{bytes_}] == fill(0xee, {length})", "expect dst == any"))
    assert not isinstance(failed, Verdict)
    pasted = dict(failed[0].details)["paste"]
    assert pattern in pasted
    assert failed[0].suspects[0] == ("not by" if pattern == "unchanged" else "maybe by")
    [verdict] = verdicts(one(*SHORT, pasted, "expect dst == any"))
    assert isinstance(verdict, Verdict)


def test_of_a_configuration_that_may_be_refused_nothing_is_said() -> None:
    """Which layout the key has is unknown."""
    tested, _ = rig()
    memory, mkey, post = plain()
    for claim, said in (((), True), ((Accepted(), Rejected("complete")), False)):
        [failure] = failures(tested, memory, mkey, changed(post, claim=claim), transmit(), wire(Fill(0, 64)))
        assert ("from" in dict(failure.details)) is said


def test_data_cut_by_fields_is_in_several_ranges() -> None:
    domain = Domain(Crc(1, 0), 512)
    assert list(route.stream_ranges(domain, 500, 600)) == [(500, 12), (516, 512), (1032, 76)]
    assert [route.place_in(domain, i) for i in (511, 512, 516, 1031)] == [
        (0, 511, False), (0, 0, True), (1, 0, False), (1, 3, True),
    ]  # fmt: skip
    assert route.place_in(None, 700) == (0, 700, False)


def test_numbers_are_shortened() -> None:
    assert ledger_text.numbers([0, 1, 2, 5]) == "0..2, 5"
    assert ledger_text.numbers(range(0, 20, 2)) == "0, 2, 4 and 7 more"


BIG = """\
case a
    verifies SIG-05
    for n in COUNT
    let d = crc32c(ones) every 4096
    memory src = counter(n * 4096)
    mkey s { block_signature }
    configure s { layout list(src[0 +: 100], src[100 +: n * 4096 - 100]); signature { wire d } }
    transmit s by send
    expect wire == framed(counter(n * 4096), crc32c(zeros) every 4096)
"""


def test_a_large_buffer_fails_as_short_as_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 blocks and 4,000 blocks (16 MiB, the limit of a buffer), of which each field differs: as many lines but those
    of the near misses, as many steps through keys. A search that was cut says so."""
    calls: list[str] = []
    for subject, name in ((route.Transfer, "memory"), (route.Transfer, "pieces"), (difference, "field_span")):
        monkeypatch.setattr(subject, name, _noted(getattr(subject, name), name, calls))
    taken, lengths, texts, near = [], [], [], []
    for n in (16, 4000):
        calls.clear()
        [failed] = verdicts(BIG.replace("COUNT", str(n)), deadline=30)
        assert not isinstance(failed, Verdict)
        taken.append(len(calls))
        at = [label for label, _ in failed[0].details].index("looks like:")
        after = next(i for i, (label, _) in enumerate(failed[0].details) if i > at and label)
        near.append([text for _, text in failed[0].details[at:after]])
        lengths.append(len(failed[0].details) - len(near[-1]))
        texts.append(sum(len(text) for _, text in failed[0].details))
        assert f"CRC32C field: blocks 0..{n - 1}, every one" in dict(failed[0].details)["differ"]
    assert taken[0] == taken[1] < 40
    assert lengths[0] == lengths[1] < 36
    assert "and this is how: the CRC starts from ones" in near[0][-1]
    assert [line[:9] for line in near[1]] == ["not known"]
    assert texts[1] < texts[0] + 100


def _noted(real: Any, name: str, calls: list[str]) -> Any:
    def noted(*args: object) -> object:
        calls.append(name)
        return real(*args)

    return noted


def test_an_sge_may_cut_a_block_and_its_field() -> None:
    """The block goes on behind the cut, and has one number; a block of another SGE that begins it anew has its own."""
    domain = Domain(T10Dif(), 512)
    key = Key("s", (("src", 0, 1024),), (0,), wire=domain)
    starts = (0, 300, 514, 0, 520)
    names = ("s", "s", "s", "x", "s")
    lengths = (300, 214, 526, 8, 520)
    cuts = tuple(Part(*one) for one in zip(names, starts, lengths, strict=True))
    transfer = Transfer(At(1, 1), cuts, (Part("far", 0, 1568),), {"s": key})
    firsts = first_blocks(transfer, cuts, "wire")
    assert firsts == [0, 0, 0, 0, 1]
    parts = [
        Ledger(transfer, key, "wire", begins - start, ((begins, start, length),), firsts[number], number)
        for number, ((begins, length, part), start) in enumerate(zip(transfer.legs(cuts), starts, strict=True))
        if part.name == "s"
    ]
    ledger = replace(parts[1], others=(parts[0], *parts[2:]))
    drawing = drawing_of(ledger, np.asarray([310, 515]))
    assert drawing is not None
    assert drawing.lines() == [
        "memory … │ src[300 +: 212]       │                   │                   │ src[512 +: 512]       │ …",
        "s      … │ entry 0 + 300         │ computed          │ computed          │ entry 0 + 512         │ …",
        "SGE    … │ sg_list[1]            │ sg_list[1]        │ sg_list[2]        │ sg_list[2]            │ …",
        "wire   … │ block 0: [300 +: 212] │ t10dif [512 +: 2] │ t10dif [514 +: 6] │ block 1: [520 +: 512] │ …",
        "           ^^^^^^^^^^^^^^^^^^^^^                       ^^^^^^^^^^^^^^^^^",
    ]
