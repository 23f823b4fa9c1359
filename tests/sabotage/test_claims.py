"""`mkeyspec sabotage --claims`: which failures support a claim, and what is proved of the shipped cases."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mkeyspec import cli, plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device.profile.profile import Profile
from mkeyspec.plan import At
from mkeyspec.requirements.ledger import requirements
from mkeyspec.requirements.proofs import Proof, Proofs, read
from mkeyspec.run.verdict import Failure
from mkeyspec.sabotage import catalogue
from mkeyspec.sabotage.claims import proof
from mkeyspec.sabotage.claims.evidence import Evidence, evidence, is_negative, plain_peer, statements
from mkeyspec.sabotage.claims.proof import prove
from mkeyspec.sabotage.conditions import catalogue as conditions
from mkeyspec.sabotage.suite import load
from mkeyspec.store import Store
from mkeyspec.value.layout import Part
from tests.shipped import ROOT

HERE = At(3, 5)

CASES = """\
mks 1

case looks
    verifies CRC-02, LST-01
    for block in 512, 4096
    let d = crc32(ones) every block
    memory src = framed(counter(block), d)
    mkey k { block_signature }
    configure k { layout list(src[0 +: 8], src[8 +: block - 4]); signature { mem d } }
    transmit k by send
    expect wire == counter(block)
    check k is ok

case refuses
    verifies LAY-03
    memory m = counter(8)
    mkey k
    configure k { layout list(m); layout interleaved(1, m count 8) }
        rejected at complete

case looks_at_nothing
    verifies LST-01
    memory m = counter(8)
    mkey k
    configure k { layout list(m) }
    transmit k by send
"""

BOTH_HALVES = """\
mks 1

case a_later_access_replaces_the_first
    verifies ACC-02
    memory m = counter(64)
    mkey k
    configure k { access remote_read; layout list(m) }
    configure k { access remote_write }
    receive fill(0x5a, 64) into k by peer_write
    expect m == fill(0x5a, 64)
    transmit k by peer_read
        rejected at completion with remote_access
"""


LACKING = """\
mks 1

case a_crc_is_not_made_up
    verifies CRC-01
    needs not signature.crc32c
    allow MKS0612
    memory m = random(1024, seed=1)
    peer memory w[1032]
    mkey k { block_signature }
    post {
        configure k { layout list(m); signature { wire crc32c(ones) every 512 } }
        write k[0 +: 1032] to w, signaled
    }
        accepted or rejected at complete or rejected at completion
    expect w in [framed(random(1024, seed=1), crc32c(ones) every 512), unchanged]

case no_pipelining
    verifies XCAN-02
    needs not pipelining
    qp q { sig_pipelining yes }
        rejected at create with EOPNOTSUPP

case a_login
    verifies XCRY-24, XCRY-22
    login_object o
    login_object p
        rejected at create
    query o is state_valid
    login
    login_state is state_valid
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "a.mks").write_text(CASES)
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(["sabotage", "--claims", *arguments])
    said = capfd.readouterr()
    return code, said.out, said.err


# What supports a claim -------------------------------------------------------------------------


def post(*claim: plan.Outcome) -> plan.Post:
    return plan.Post(HERE, (), claim=claim)


REFUSED = plan.Rejected("complete")


@pytest.mark.parametrize(
    ("code", "step", "statuses", "found"),
    [
        ("MKS2101", plan.Expect(HERE, plan.Wire(8), "==", plan.Any()), [], ("wire bytes", False)),
        ("MKS2102", plan.Expect(HERE, plan.Content(()), "==", plan.Any()), [], ("memory bytes", False)),
        ("MKS2106", plan.Check(HERE, "k", ("ok",)), [], ("mlx5dv_mkey_check", False)),
        ("MKS2106", plan.Check(HERE, "k", ("bad_guard",)), [], ("mlx5dv_mkey_check", True)),
        ("MKS2001", post(), [(HERE, "complete", "EINVAL")], ("ibv_wr_complete", False)),
        ("MKS2002", post(REFUSED), [], ("ibv_wr_complete", True)),
        ("MKS2005", post(), [], ("completion status", False)),
        ("MKS2005", post(plan.Completes((plan.Entry("error"),))), [], ("completion status", True)),
        ("MKS2004", post(plan.Completes((plan.Entry("driver1"),))), [], ("number of completions", False)),
        ("MKS2103", None, [], ("memory bytes", False)),
        ("MKS2202", None, [], ("mlx5dv_mkey_check", False)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_failure_says_how_it_was_observed(
    code: str, step: plan.Step | None, statuses: list[tuple[At, str, str]], found: tuple[str, bool]
) -> None:
    (said,) = evidence([Failure(code, HERE, "")], {HERE: step} if step is not None else {}, statuses)
    assert found[0] in said.kinds
    assert said.negative == found[1]


@pytest.mark.parametrize(
    ("code", "hard"),
    [("MKS2004", True), ("MKS2007", True), ("MKS2105", True), ("MKS2107", True), ("MKS2204", False), ("MKS2206", True)],
)
def test_what_any_case_would_notice_supports_nothing(code: str, hard: bool) -> None:
    """A lost completion, a crash, a number that was never there, a QP that stopped."""
    assert evidence([Failure(code, HERE, "", hard=hard)], {HERE: post()}, []) == []


def test_another_errno_at_the_claimed_phase_supports_nothing() -> None:
    """A device that refuses for any other reason gives it too."""
    refused = [(HERE, "complete", "ENOMEM")]
    assert evidence([Failure("MKS2003", HERE, "")], {HERE: post(REFUSED)}, refused) == []


def test_a_refusal_where_none_can_be_observed_is_of_no_kind() -> None:
    (said,) = evidence([Failure("MKS2001", HERE, "")], {HERE: post()}, [])
    assert said == Evidence("MKS2001", frozenset(), False)


def test_a_request_belongs_to_the_statement_that_posts_it() -> None:
    request = plan.Invalidate(At(4, 9), "k", "post_send")
    step = plan.Post(HERE, (request,))
    assert statements([step]) == {HERE: step, At(4, 9): step}


def test_negative_statements() -> None:
    assert is_negative(post(REFUSED))
    assert is_negative(plan.Check(HERE, "k", ("bad_guard",)))
    assert is_negative(post(plan.Completes((plan.Entry("send", (("status", "wr_flush_err"),)),))))
    assert not is_negative(post())
    assert not is_negative(plan.Check(HERE, "k", ("ok",)))
    assert not is_negative(post(plan.Completes((plan.Entry("send", (("id", 4),)),))))


KEY = [plan.Mkey(At(2, 5), "k", int(MkeyFlag.INDIRECT), 4, peer=True)]
SIGNED = [plan.Mkey(At(2, 5), "k", int(MkeyFlag.BLOCK_SIGNATURE), 4, peer=True)]


@pytest.mark.parametrize(
    ("mkeys", "peer", "wire"), [([], True, True), ([], False, False), (KEY, True, True), (SIGNED, True, False)]
)
def test_what_came_to_the_peer_is_what_was_on_the_wire(mkeys: list[plan.Step], peer: bool, wire: bool) -> None:
    """Unless a key of the peer has signed or taken signatures off since."""
    step = plan.Expect(HERE, plan.Content((Part("w", 0, 8),)), "==", plan.Any())
    steps = [plan.Memory(At(1, 5), "w", 8, peer=peer), *mkeys, step]
    (said,) = evidence([Failure("MKS2102", HERE, "")], {HERE: step}, [], plain_peer(steps))
    assert said.kinds == {"memory bytes"} | ({"wire bytes"} if wire else set())


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 100])
def test_some_rows_are_from_all_over_the_case(count: int) -> None:
    spread = proof._spread(range(count))
    assert sorted(spread) == list(range(count))
    for some in (2, 4, 8):
        if count > some:
            gaps = sorted(spread[:some])
            assert max(b - a for a, b in zip(gaps, [*gaps[1:], count], strict=True)) < 2 * count / some + 2


# The command -----------------------------------------------------------------------------------


def test_what_is_supported_and_what_is_not(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "--only", "CRC-02", "LST-01", "LAY-03")
    assert code == 1
    lines = out.splitlines()
    assert "CRC-02     1 claims:   1 positive   0 negative supported" in lines
    assert "LST-01     2 claims:   1 positive   0 negative supported" in lines
    assert "LAY-03     1 claims:   0 positive   1 negative supported" in lines
    title = requirements()["LST-01"].title
    assert [line for line in lines if line.startswith("UNS")] == [
        f"UNSUPPORTED cases/a.mks:21: looks_at_nothing: LST-01: {title}"
    ]
    assert "mkeyspec: 3 of 4 claims are supported; 0 entries lack a supported half; on model (3 cases) in " in lines[-1]


def test_json_names_the_fault_the_row_and_the_failure(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "--only", "CRC-02", "--format", "json")
    assert code == 0
    data = json.loads(out)
    assert data["claims"] == [
        {
            "source": "cases/a.mks", "line": 3, "case": "looks", "requirement": "CRC-02", "halves": ["positive"],
            "supported": True,
            "proofs": {"positive": {"fault": "crc32_polynomial", "row": "block=512", "code": "MKS2106"}},
        }
    ]  # fmt: skip
    assert data["unsupported"] == []


def test_an_entry_that_lacks_a_supported_half_is_named(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of the whole suite only: a part of it lacks much."""
    code, out, _ = run(capfd)
    assert code == 1
    assert "LACKS       LAY-03: no supported positive claim" in out
    assert "LACKS       CRC-02" in out  # its error record
    assert "LACKS       DIF-04: no supported positive and no supported negative claim" in out
    assert "LACKS" not in run(capfd, "cases/a.mks")[1]


def test_a_row_that_fails_without_a_fault_supports_nothing(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = project / "cases" / "a.mks"
    path.write_text(CASES.replace("== counter(block)", "== counter(block) ++ hex 00"))
    code, out, err = run(capfd, "--only", "CRC-02")
    assert code in (1, 2)
    path.write_text(CASES.replace("check k is ok", "check k is bad_guard"))
    code, out, err = run(capfd, "--only", "CRC-02")
    assert code == 1
    assert "mkeyspec: fails without any fault, and supports nothing: cases/a.mks::looks[block=512]" in err
    assert "UNSUPPORTED cases/a.mks:3: looks: CRC-02" in out


def test_what_was_proved_is_kept_and_tried_first(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(capfd, "--update", "cases")[0] == 1
    kept = read(project)
    assert kept is not None
    assert kept.of("cases/a.mks::looks", "CRC-02", "positive") == Proof("crc32_polynomial", "block=512", "MKS2106")
    assert kept.of("cases/a.mks::looks_at_nothing", "LST-01", "positive") is None
    other = Proof("crc64_polynomial", "block=512", "MKS2106")
    file = project / "cases" / "claims.json"
    for known in (Proof("crc32_reflected", "block=4096", "MKS2106"), other, Proof("gone", "block=9", "MKS2101")):
        key = ("cases/a.mks::looks", "CRC-02", "positive")
        file.write_text(Proofs({**kept.known, key: known}).text())
        data = json.loads(run(capfd, "--only", "CRC-02", "--format", "json")[1])
        found = data["claims"][0]["proofs"]["positive"]
        # A fault of another entry, and one that is no more, prove nothing: the search finds what it found before.
        assert found["fault"] == (known.fault if known.fault == "crc32_reflected" else "crc32_polynomial")


def test_a_sample_is_drawn_by_its_seed(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def drawn(seed: int) -> list[tuple[str, str]]:
        _, out, _ = run(capfd, "--sample", "2", "--seed", str(seed), "--format", "json")
        return [(one["case"], one["requirement"]) for one in json.loads(out)["claims"]]

    assert drawn(1) == drawn(1)
    assert len(drawn(1)) == 2
    assert len({tuple(drawn(seed)) for seed in range(6)}) > 1


def test_two_processes_find_the_same(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def found(*arguments: str) -> object:
        return json.loads(run(capfd, "--format", "json", *arguments)[1])["claims"]

    assert found() == found("-n", "2")


@pytest.mark.parametrize("end", [sys.exit, os._exit])
def test_a_process_that_ends_is_named(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, end: Callable[[int], None]
) -> None:
    monkeypatch.setattr(proof.Case, "prove", lambda *given: end(3))
    code, _, err = run(capfd, "-n", "2")
    assert code == 2
    assert "error[MKS0919]: a process that proves claims ended, at cases/a.mks::looks or a later case" in err


def test_what_is_proved_is_written_case_by_case(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is cut at its second case keeps the first."""
    inner = proof.Case.prove
    seen: list[str] = []

    def cut(case: proof.Case, hints: Proofs) -> None:
        seen.append(case.items[0].case)
        if len(seen) > 1:
            raise KeyboardInterrupt
        inner(case, hints)

    monkeypatch.setattr(proof.Case, "prove", cut)
    code, _, _ = run(capfd, "--update")
    assert code == 130
    kept = read(project)
    assert kept is not None
    assert {case for case, _, _ in kept.known} == {seen[0]}


def test_what_a_device_lacks_is_proved_on_one_that_lacks_it(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """And what may be done without being announced, on one that does it wrong."""
    (project / "cases" / "a.mks").write_text(LACKING)
    data = json.loads(run(capfd, "--format", "json", "--only", "CRC-01", "XCAN-02")[1])
    found = {one["case"]: one["proofs"] for one in data["claims"]}
    assert found["a_crc_is_not_made_up"]["positive"]["fault"] == "crc32c_is_crc32"
    assert found["no_pipelining"]["negative"]["fault"] == "qp_type_unchecked"
    assert data["failing"] == []


def test_a_state_is_expected_to_hold(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As `expect`: a row with a refusal in it is positive, too."""
    (project / "cases" / "a.mks").write_text(LACKING)
    data = json.loads(run(capfd, "--format", "json", "--only", "XCRY-22", "XCRY-24")[1])
    found = {one["requirement"]: one["proofs"] for one in data["claims"]}
    assert found["XCRY-22"]["positive"]["fault"] == "login_refused"
    assert found["XCRY-24"]["negative"]["fault"] == "login_objects_unchecked"


def test_update_looks_for_the_other_half(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What is kept of it is seen without searching."""
    (project / "cases" / "a.mks").write_text(BOTH_HALVES)

    def halves(*options: str) -> set[str]:
        return set(json.loads(run(capfd, "cases/a.mks", "--format", "json", *options)[1])["claims"][0]["proofs"])

    assert len(halves()) == 1
    assert halves("--update") == {"positive", "negative"} == halves()


def test_a_sample_looks_for_either_half(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "cases" / "b.mks").write_text(BOTH_HALVES)

    def found(*options: str) -> list[dict[str, Any]]:
        _, out, _ = run(capfd, "--format", "json", *options)
        return [claim["proofs"] for claim in json.loads(out)["claims"]]

    proofs, sampled = found(), found("--sample", "99")
    assert max(map(len, proofs)) == 2
    assert {len(one) for one in sampled} <= {0, 1}
    assert [bool(one) for one in sampled] == [bool(one) for one in proofs]


def test_a_row_that_never_ends_is_no_support(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "_HANG", 0.2)
    plain = proof._plain

    class Endless:
        def __getattr__(self, name: str) -> object:
            while True:
                pass

    def endless(one: catalogue.Fault) -> proof._Fault:
        fault = plain(one)

        def make(profile: Profile) -> Any:
            made: Any = fault.make(profile)
            made.mkey = lambda *given, **named: Endless().x
            return made

        return proof._Fault(fault.id, fault.violates, make)

    proof._base.cache_clear()
    monkeypatch.setattr(proof, "_plain", endless)
    monkeypatch.setattr(conditions, "faults", dict)
    try:
        code, out, _ = run(capfd, "--only", "LAY-03")
    finally:
        proof._base.cache_clear()
    assert code == 1
    assert "UNSUPPORTED cases/a.mks:14: refuses: LAY-03" in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--device", "soft"], "error[MKS0905]: --claims --device soft: claims are proved on the model"),
        (["--matrix", "m.json"], "error[MKS0905]: --claims and --matrix"),
        (["--conditions"], "error[MKS0905]: --claims and --conditions"),
        (["--sample", "0"], "error[MKS0905]: --sample 0"),
        (["--update", "--sample", "3"], "error[MKS0905]: --update is for whole cases"),
        (["--only", "CRC-99"], "error[MKS0907]: CRC-99 is not an entry of the ledger"),
        (["-n", "0"], "error[MKS0905]"),
    ],
    ids=["device", "matrix", "conditions", "sample", "update", "entry", "n"],
)
def test_bad_input(project: Path, arguments: list[str], text: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, *arguments)
    assert (code, out) == (2, "")
    assert text in err


def test_a_file_that_holds_no_proofs(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "cases" / "claims.json").write_text("[1")
    code, _, err = run(capfd)
    assert code == 2
    assert "error[MKS0904]" in err
    assert "holds no proofs" in err


def test_update_alone_is_nothing(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sabotage", "--update"]) == 2
    assert "error[MKS0905]: --update: say --claims, too" in capfd.readouterr().err


# What is shipped -------------------------------------------------------------------------------


def test_what_is_kept_of_the_shipped_cases_is_so() -> None:
    """A sample: each proof again, on its row. `mkeyspec sabotage --claims --update` writes cases/claims.json."""
    kept = read(ROOT)
    assert kept is not None
    sources = sorted({case.partition("::")[0] for case, _, _ in kept.known})
    chosen = Random(20).sample(sources, 4)
    items = load([ROOT / one for one in chosen], Store(ROOT, None))
    there = {(item.case, name) for item in items for name in item.info.verifies}
    wanted = {(case, name) for case, name, _ in kept.known if case.partition("::")[0] in chosen} & there
    found = [claim for one in prove(items, wanted, kept, Profile(), 1) for claim in one.claims]
    assert len(found) == len(wanted) > 10
    assert [(one.case, one.requirement) for one in found if not one.supported] == []
