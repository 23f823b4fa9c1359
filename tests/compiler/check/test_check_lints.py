"""Warnings: each with the nearest case that earns none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from mkeyspec import plan
from mkeyspec.compiler.check import lint_case
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.bytestring import Counter
from mkeyspec.value.live import Int, Live
from mkeyspec.value.signature import Crc, Domain, T10Dif
from tests.compiler.check.check_steps import (
    CRC,
    CRC_C,
    DIF,
    SOURCE,
    access,
    at,
    configuration,
    configure,
    judged,
    listed,
    memory,
    mkey,
    origin_of,
    part,
    post,
    signature,
    transmit,
)
from tests.compiler.statements.lower_text import compiled

M = memory()
KEEP = Domain(DIF.signature, 4096)
CRC_64 = Domain(Crc(2, 0), 512)


def armed(domain: Domain, mask: int = 0xFF) -> tuple[plan.Step, ...]:
    setter = plan.SetSignature(domain, None, mask)
    return (M, mkey(), configure(access(0xF), listed(part(length=8192)), setter))


def case_codes(*steps: plan.Step, verifies: tuple[str, ...] = ("LAY-01",)) -> list[str]:
    diagnostics = Diagnostics()
    located = tuple(replace(cast("Any", step), origin=origin_of(step)) for step in steps)
    lint_case((plan.Row("", located),), verifies, Span(SOURCE, 0, 1), diagnostics)
    assert not diagnostics.errors
    return [found.code for found in diagnostics]


def wire_pair(near: Domain | None, far: Domain | None) -> tuple[plan.Step, ...]:
    return (
        M,
        mkey(),
        configure(access(0xF), listed(part(length=1024)), signature(wire=near)),
        memory("w", peer=True),
        mkey("p", peer=True),
        post(configuration(access(0xF), listed(part("w", length=1024)), signature(wire=far), name="p"), peer=True),
    )


def test_both_ends_apply_the_same_wire_domain() -> None:
    write = post(plan.Write(at(), (part("k", length=516),), part("p", length=516)))
    read = post(plan.Read(at(), (part("k", length=516),), part("p", length=516)))
    for step in (write, read):
        assert judged(*wire_pair(CRC, CRC), step)[1] == ["MKS0601"]
        assert judged(*wire_pair(None, None), step)[1] == []
    recv = plan.Recv(at(), (part("p", length=516),), None, True)
    send = post(plan.Send(at(), (part("k", length=516),)))
    assert judged(*wire_pair(CRC, CRC), recv, send)[1] == ["MKS0601"]
    assert judged(*wire_pair(CRC, CRC), plan.Recv(at(), (part("w", length=516),), None, True), send)[1] == []


def test_an_offset_under_a_signature() -> None:
    assert judged(*armed(CRC), transmit(512, 516))[1] == ["MKS0603"]
    assert judged(*armed(CRC), transmit(512))[1] == []
    assert judged(M, mkey(), configure(access(0), listed(part(length=8192))), transmit(512, 512))[1] == []


def test_reference_tags_twice() -> None:
    assert judged(*armed(DIF), transmit(), transmit())[1] == ["MKS0604"]
    assert judged(*armed(DIF), transmit(), configure(), transmit())[1] == []
    assert judged(*armed(CRC), transmit(), transmit())[1] == []


def test_used_again_after_a_reported_error() -> None:
    reported = plan.Check(at(), "k", ("bad_guard",), domain=CRC)
    assert judged(*armed(CRC), transmit(), reported, transmit())[1] == ["MKS0604"]
    assert judged(*armed(CRC), transmit(), reported, configure(), transmit())[1] == []
    assert judged(*armed(CRC), transmit(), plan.Check(at(), "k", ("ok",), domain=CRC), transmit())[1] == []


def test_an_error_that_cannot_be_reported() -> None:
    def check(domain: Domain, mask: int, *kinds: str) -> list[str]:
        return judged(*armed(domain, mask), plan.Check(at(), "k", kinds, domain=domain))[1]

    assert check(CRC, 0x0F, "bad_guard") == ["MKS0605"]
    assert check(CRC, 0x10, "bad_guard") == []
    assert check(CRC, 0xFF, "bad_reftag") == ["MKS0605"]
    assert check(DIF, 0x0F, "bad_guard") == ["MKS0605"]
    assert check(DIF, 0x0F, "bad_reftag") == []
    assert check(DIF, 0xC0, "bad_apptag") == ["MKS0605"]
    assert check(DIF, 0x10, "bad_apptag") == []
    assert check(DIF, 0x0F, "bad_guard", "bad_reftag") == ["MKS0605"], "one of the list that can never be"
    assert check(CRC, 0, "ok") == []


def test_a_mask_that_covers_no_byte() -> None:
    def codes(setter: plan.SetSignature, *verifies: str) -> list[str]:
        check = plan.Check(at(), "k", ("ok",))
        return case_codes(M, mkey(), configure(setter), check, verifies=verifies or ("MSK-01",))

    assert codes(plan.SetSignature(CRC, None, 0x0F)) == ["MKS0620"]
    assert codes(plan.SetSignature(None, CRC_C, 0x01)) == ["MKS0620"]
    assert codes(plan.SetSignature(CRC, None, 0x1F)) == codes(plan.SetSignature(CRC, None, 0)) == []
    assert codes(plan.SetSignature(CRC_64, None, 0x01)) == codes(plan.SetSignature(DIF, None, 0x01)) == []
    assert codes(plan.SetSignature(CRC_64, CRC, 0x01)) == [], "the memory is the input of what is sent"
    assert codes(plan.SetSignature(CRC, CRC_64, 0x01)) == [], "the wire is the input of what arrives"
    assert codes(plan.SetSignature(None, None, 0x01)) == [], "no domain, no field: the pages are silent (X-DIFF-13)"
    assert codes(plan.SetSignature(CRC, CRC, 0xF0, 0x0F)) == ["MKS0620"]
    assert codes(plan.SetSignature(CRC, CRC, 0xF0, 0x0F, (("flags", 0),))) == [], "copy_mask is ignored anyway"
    assert codes(plan.SetSignature(CRC, CRC, 0x0F, 0x0F), "MSK-03", "MSK-15") == []
    forced = Domain(Crc(0, 0, (("type", 2),)), 512)
    assert codes(plan.SetSignature(forced, None, 0x0F)) == [], "the device is told another type"


def test_both_escapes_at_once() -> None:
    def dif(flags: int, *but: tuple[str, Int]) -> Domain:
        return Domain(T10Dif(flags=flags, but=but), 512)

    def codes(mem: Domain | None, wire: Domain | None = None, *verifies: str, claim: plan.Claim = ()) -> list[str]:
        check = plan.Check(at(), "k", ("ok",))
        step = replace(configure(signature(mem, wire)), claim=claim)
        return case_codes(M, mkey(), step, check, verifies=verifies or ("DIF-14",))

    rejected = plan.Rejected("complete")
    assert codes(dif(6)) == codes(dif(7)) == codes(None, dif(6)) == ["MKS0621"]
    assert codes(dif(2)) == codes(dif(4)) == codes(dif(3)) == codes(dif(5)) == codes(CRC) == []
    assert codes(dif(2), dif(4)) == [], "each of the domains has one"
    assert codes(dif(2, ("flags", 6))) == ["MKS0621"]
    assert codes(dif(6, ("flags", 2))) == [], "the device is told one"
    assert codes(dif(6, ("flags", Live("k", "lkey")))) == [], "a live value decides"
    assert codes(replace(dif(6), but=(("sig_type", 2),))) == [], "the device is told another type"
    assert codes(dif(6), None, "DIF-11") == [], "the case is about the values of flags"
    assert codes(dif(6), claim=(rejected,)) == codes(dif(6), claim=(plan.Accepted(), rejected)) == []


def test_a_case_without_observation() -> None:
    setup = (M, mkey(), configure(access(0), listed()), transmit())
    assert case_codes(*setup) == ["MKS0602"]
    expect = plan.Expect(at(), plan.Wire(512), "==", Counter(512))
    assert case_codes(*setup, expect) == []
    claimed = post(configuration(access(1)), claim=(plan.Rejected("complete"),))
    assert case_codes(M, mkey(), claimed) == []


def test_a_case_without_verifies() -> None:
    assert case_codes(plan.Check(at(), "k", ("ok",)), verifies=()) == ["MKS0606"]


def test_a_statement_that_means_both_escapes_hides_no_later_one() -> None:
    both = "signature { mem t10dif(flags=app_escape | app_ref_escape) every 512 }"
    _, found = compiled(f"""
        memory m[520]
        mkey k {{ block_signature }}
        configure k as c {{ {both} }}
            accepted or rejected at complete
        record errno = c.errno
        configure k {{ layout list(m); {both} }}
        expect m == fill(0, 520)
        """)
    assert [one.code for one in found if one.severity == "warning"] == ["MKS0621"]
