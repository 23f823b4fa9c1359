"""Suites made by hand, as lowering makes them, for the writer's tests."""

from __future__ import annotations

from mkeyspec.plan import (
    Any,
    At,
    Binding,
    Case,
    Check,
    Comparison,
    Configure,
    Content,
    Expect,
    Known,
    Memory,
    Mkey,
    Options,
    Post,
    Record,
    Rejected,
    Row,
    Sequence,
    SetAccess,
    SetLayout,
    SetSignature,
    Step,
    Store,
    Suite,
    Transmit,
    Wire,
)
from mkeyspec.value.bytestring import Counter, Fill, Flip, Framed, Join, Literal
from mkeyspec.value.layout import Chunk, Interleaved, List, Part
from mkeyspec.value.live import Live, LiveBytes, LiveOp
from mkeyspec.value.signature import Crc, Domain, T10Dif


def strip_rows() -> tuple[Row, ...]:
    """crc in two kinds, seed in two: the memory's bytes and the domain differ; half of the rows store once more."""
    rows = []
    for kind, word in ((0, "crc32"), (1, "crc32c")):
        for seed, polarity in ((0, "zeros"), (0xFFFFFFFF, "ones")):
            domain = Domain(Crc(kind, seed), 512)
            setters = (
                SetAccess(4),
                SetLayout(List((Part("src", 0, 1032),))),
                SetSignature(mem=domain, check_mask=0xF0),
            )
            steps: list[Step] = [
                Memory(At(10, 5), "src", 1032, Framed(Counter(1024), domain)),
                Mkey(At(11, 5), "k", 2, 1),
                Post(At(12, 5), (Configure(At(12, 5), "k", setters, options=Options(signaled=True)),)),
                *([Store(At(13, 22), Part("src", 0, 4), Literal(b"abcd"))] if kind else []),
                Transmit(At(14, 5), Part("k", 0, 1024), "send"),
                Expect(At(15, 5), Wire(1024), "==", Counter(1024)),
            ]
            bound = (Binding("crc", word, word), Binding("seed", seed, polarity), Binding("d", domain))
            rows.append(Row(f"crc={word},seed={polarity}", tuple(steps), (f"signature.{word}", "block.512"), bound))
    return tuple(rows)


def strip() -> Suite:
    case = Case(At(5, 1), "strip_on_transmit", "validate and strip", ("SIG-07", "CRC-08"), strip_rows())
    return Suite("cases/strip.mks", "block signatures", (case,))


def everything() -> Suite:
    """One row of every kind of thing that is awkward to write down."""
    t10 = T10Dif(bg=0xFFFF, app_tag=0x5678, ref_tag=0xF0DEBC9A, flags=1)
    steps = (
        Memory(At(4, 5), "m", 64, Literal(bytes(range(64))), misaligned=3),
        Memory(At(5, 5), "n", 1560, Flip(Framed(Counter(1536), Domain(t10, 512)), 512, 3)),
        Mkey(At(6, 5), "k", 2, Live("device", "max_entries"), but=(("create_flags", 32),)),
        Post(
            At(7, 5),
            (
                Configure(
                    At(7, 5),
                    "k",
                    (
                        SetLayout(Interleaved(2, (Chunk(Part("m", 0, 64, (("lkey", Live("n", "lkey")),)), 8, 4),))),
                        SetSignature(Domain(Crc(2, 1, (("type", 9),)), 4096, (("block_size", 5),)), None, 0, 0xFF),
                    ),
                    options=Options(signaled=True, id=41, but=(("num_setters", LiveOp("+", (2, Live("k", "lkey")))),)),
                ),
            ),
            claim=(Rejected("complete", rule="crc_type"), Rejected("completion", "local_protection")),
            known=Known("X-DIFF-08", Rejected("complete", "EINVAL")),
        ),
        Check(At(8, 5), "k", ("bad_guard", "bad_reftag"), block=1, found=Fill(0xA5, 4)),
        Expect(At(9, 5), Wire(12, 4, "t"), "==", Sequence((Literal(b"\x00\xff"), Any(4), Fill(1, 6)))),
        Expect(At(10, 5), Content((Part("m", 0, 4),), "m"), "!=", LiveBytes("be32", Live("k", "rkey"))),
        Expect(At(11, 5), Live("k", "max_entries"), ">=", 4),
        Record(At(12, 5), "granted", Live("k", "max_entries")),
    )
    needs = ("block_signature", Comparison(Live("device", "max_wr_memcpy_length"), ">=", 4096))
    case = Case(At(3, 1), "everything", "", ("CFG-07",), (Row("", steps, needs),), isolated=True)
    return Suite("cases/everything.mks", "", (case, Case(At(20, 1), "nothing", "", (), (Row("", ()),))))


HOSTILE = 'a "quote" \'and\' {{ 7 * 7 }} {% raw %} """ \n# \r \\ \u202e \u2028 é 𝄞 \x00 __import__("os")'


def hostile() -> Suite:
    """Text that would like to be code, wherever text can stand."""
    steps = (
        Memory(At(4, 5), HOSTILE, 3, Literal(b'"""')),
        Expect(At(5, 5), Content((Part(HOSTILE, 0, 3),), HOSTILE), "==", Join((Literal(b"{{"), Fill(1, 1)))),
        Record(At(6, 5), HOSTILE, Live(HOSTILE, HOSTILE)),
    )
    rows = (
        Row(HOSTILE, steps, (), (Binding(HOSTILE, 3, HOSTILE), Binding("class", HOSTILE))),
        Row(
            "other",
            (Memory(At(4, 5), HOSTILE, 4, Literal(b"{%r%")), *steps[1:-1]),
            (HOSTILE,),
            (Binding(HOSTILE, 4, HOSTILE), Binding("class", "other")),
        ),
    )
    return Suite(HOSTILE, HOSTILE, (Case(At(3, 1), "hostile", HOSTILE, (HOSTILE,), rows),))
