"""Claims against broken rules: pinned, refused, or a question back."""

from __future__ import annotations

import pytest

from mkeyspec import plan
from mkeyspec.compiler.check import AbstractState
from mkeyspec.compiler.statements.check_step import apply, check_step
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.value.bytestring import Fill
from mkeyspec.value.live import Live
from mkeyspec.value.signature import Crc, Domain
from tests.compiler.check.check_steps import (
    CRC,
    abort,
    access,
    at,
    configuration,
    configure,
    crypto,
    judged,
    listed,
    memory,
    mkey,
    origin_of,
    part,
    post,
    settled,
    sges,
    signature,
    state_after,
    strided,
    transmit,
)

BAD_SEED = Domain(Crc(0, 0xFFFF), 512)
BAD_SIZE = Domain(CRC.signature, 512, (("block_size", 5),))
AT_COMPLETE = plan.Rejected("complete")
AT_COMPLETION = plan.Rejected("completion")
AT_CREATE = plan.Rejected("create")
ACCEPTED = plan.Accepted()

K = mkey()
NO_LAYOUT = (K, configure(access(1)))


def codes(claim: plan.Claim, *steps: plan.Step) -> list[str]:
    return [d.code for d in settled(claim, *steps)[1]]


def rules(claim: plan.Claim, *steps: plan.Step) -> list[str | None]:
    """The rules that the claim's rejections are pinned to; no diagnostic may come with it."""
    found, diagnostics = settled(claim, *steps)
    assert not diagnostics.found
    return [outcome.rule for outcome in found if isinstance(outcome, plan.Rejected)]


def test_unclaimed_is_the_rules_own_error() -> None:
    _, diagnostics = settled((), K, configure(signature(BAD_SEED)))
    (found,) = diagnostics
    assert found.code == "MKS0405"
    assert found.severity == "error"
    assert found.message == "seed 0xffff is neither zeros nor ones for crc32"
    assert found.page == "mlx5dv_wr_set_mkey_sig_block(3) seed, CRC-07"
    assert "rejected at complete" in found.help


def test_every_broken_rule_is_reported() -> None:
    step = configure(access(1), access(1 << 30), signature(BAD_SEED))
    assert sorted(codes((), K, step)) == ["MKS0405", "MKS0411", "MKS0419"]


def test_accepted_alone_claims_no_refusal() -> None:
    assert codes((ACCEPTED,), K, configure(signature(BAD_SEED))) == ["MKS0405"]


def test_wrong_on_purpose_is_no_error_and_no_claim() -> None:
    assert codes((), K, configure(signature(BAD_SIZE))) == []
    assert codes((ACCEPTED,), K, configure(signature(BAD_SIZE))) == []


def test_wrong_on_purpose_is_what_a_rejection_is_pinned_to() -> None:
    assert rules((AT_COMPLETE,), K, configure(signature(BAD_SIZE))) == ["block_size"]


def test_one_broken_rule_is_the_reason() -> None:
    assert rules((AT_COMPLETE,), K, configure(signature(BAD_SEED))) == ["crc_seed"]
    assert rules((ACCEPTED, AT_COMPLETE), K, configure(signature(BAD_SEED))) == ["crc_seed"]


def test_the_same_rule_twice_is_one_reason() -> None:
    assert rules((AT_COMPLETE,), K, configure(signature(BAD_SEED, BAD_SEED))) == ["crc_seed"]


def test_a_written_reason_stays_beside_the_rule() -> None:
    claim, diagnostics = settled((plan.Rejected("complete", "ENOMEM"),), K, configure(signature(BAD_SEED)))
    assert claim == (plan.Rejected("complete", "ENOMEM", "crc_seed"),)
    assert not diagnostics.found


def test_a_completion_is_pinned_to_its_class() -> None:
    claim, _ = settled((AT_COMPLETION,), *NO_LAYOUT, transmit(64))
    assert claim == (plan.Rejected("completion", "local_protection", "no_layout"),)


def test_a_written_status_is_kept() -> None:
    claim, _ = settled((plan.Rejected("completion", "loc_len_err"),), *NO_LAYOUT, transmit(64))
    assert claim == (plan.Rejected("completion", "loc_len_err", "no_layout"),)


def test_two_broken_rules_are_a_question() -> None:
    step = configure(access(1), access(2), comp_mask=1)
    _, diagnostics = settled((AT_COMPLETE,), K, step)
    (found,) = diagnostics
    assert found.code == "MKS0501"
    assert "two rules are broken" in found.message
    assert "CFG-07" in found.message
    assert "CFG-22" in found.message
    assert len(found.notes) == 2
    assert codes((plan.Rejected("complete", "EINVAL"),), K, step) == []


def test_nothing_forbidden_is_a_question() -> None:
    _, diagnostics = settled((AT_COMPLETE,), K, configure(access(0)))
    (found,) = diagnostics
    assert found.code == "MKS0502"
    assert [note.message for note in found.notes] == ["access 0 is legal (ACC-04)"]


@pytest.mark.parametrize(
    "claim", [(ACCEPTED, AT_COMPLETE), (plan.Rejected("complete", "EINVAL"),), (plan.Completes(()), AT_COMPLETE)]
)
def test_nothing_forbidden_and_a_way_out(claim: plan.Claim) -> None:
    assert codes(claim, K, configure(access(0))) == []


def test_two_rejections_are_no_way_out() -> None:
    assert codes((AT_COMPLETE, AT_COMPLETION), K, configure(access(0))) == ["MKS0502"]


def test_a_live_value_may_break_it() -> None:
    steps = (memory(), mkey(entries=Live("j", "max_entries")), configure(sges(2)))
    assert rules((AT_COMPLETE,), *steps) == ["mkey_entries"]
    assert codes((), *steps) == []
    both = (memory(), mkey(entries=Live("j", "max_entries")), configure(strided(2)))
    assert rules((AT_COMPLETE, AT_COMPLETION), *both) == [None, None]


def test_the_phase_is_the_rules() -> None:
    _, diagnostics = settled((AT_COMPLETION,), K, configure(signature(BAD_SEED)))
    (found,) = diagnostics
    assert found.code == "MKS0503"
    assert found.help == "rejected at complete"
    assert codes((AT_COMPLETE,), *NO_LAYOUT, transmit(64)) == ["MKS0503"]


def test_either_phase_where_the_page_leaves_it_open() -> None:
    steps = (memory(), mkey(entries=2), configure(strided(2)))
    assert rules((AT_COMPLETE, AT_COMPLETION), *steps) == ["strided_entry", "strided_entry"]
    assert rules((AT_COMPLETION,), *steps) == ["strided_entry"]


def test_what_comes_after_a_refusal_is_moot() -> None:
    """The section is refused as a whole: that its send would go nowhere is no second fault."""
    step = post(configuration(access(1), signature(BAD_SEED)), plan.Send(at(), (part("k"),)))
    assert rules((AT_COMPLETE,), K, step) == ["crc_seed"]
    assert codes((AT_COMPLETION,), K, step) == ["MKS0503"]


def test_the_undefined_cannot_be_claimed() -> None:
    lost = (memory(), K, abort(configuration(access(1), listed())))
    assert codes((ACCEPTED, AT_COMPLETION), *lost, transmit()) == ["MKS0506"]
    assert codes((), *lost, transmit()) == ["MKS0506"]


def test_the_note_of_a_false_when() -> None:
    _, diagnostics = settled((), K, configure(signature(BAD_SEED)), when_false=True)
    (found,) = diagnostics
    assert "`when` is false" in found.notes[-1].message


def test_judge_returns_the_settled_step_and_lets_it_happen() -> None:
    step = configure(signature(BAD_SEED))
    claimed = plan.Post(step.at, step.requests, claim=(AT_COMPLETE,))
    claim, found = judged(K, claimed)
    assert claim == (plan.Rejected("complete", None, "crc_seed"),)
    assert found == []
    world = state_after(K)
    plain = configure(access(0))
    assert check_step(world, plain, origin_of(plain), Diagnostics()) is plain
    state = world.mkey("k")
    assert state is not None
    assert state.access == 0


def test_judge_asks_back() -> None:
    assert judged(K, post(configuration(access(0)), claim=(AT_COMPLETE,)))[1] == ["MKS0502"]
    assert judged(K, configure(signature(BAD_SEED)))[1] == ["MKS0405"]
    assert judged(K, post(configuration(access(0)), claim=(ACCEPTED,))) == ((ACCEPTED,), [])


# The world ---------------------------------------------------------------------------------------


def test_a_copy_is_independent() -> None:
    world = state_after(K)
    other = world.copy()
    apply(other, configure(access(7)))
    assert world.mkey("k") != other.mkey("k")
    assert AbstractState().copy().things == {}


@pytest.mark.parametrize(
    ("again", "use", "code"),
    [
        (configuration(access(0), listed(), reset=True), transmit(), []),
        (configuration(listed(), reset=True), transmit(), []),
        (configuration(listed(), reset=True), transmit(by="peer_read"), ["MKS0506"]),
        (configuration(access(4), listed(), reset=True), transmit(by="peer_read"), []),
        (configuration(access(0), listed()), transmit(), ["MKS0506"]),
        (configuration(access(0), listed(), signature()), transmit(), []),
        (configuration(access(0), reset=True), transmit(), ["MKS0506"]),
    ],
)
@pytest.mark.parametrize("how", ["abort", "refused"])
def test_what_is_unknown_is_configured_anew(how: str, again: plan.Configure, use: plan.Step, code: list[str]) -> None:
    """sig_block(3), Notes: signature re-configured or reset, as required; and all that the use relies on."""
    first = configuration(access(0xF), listed(), signature(CRC))
    lost = abort(first) if how == "abort" else post(first, claim=(AT_COMPLETE,))
    assert judged(memory(), K, lost, post(again), use)[1] == code


def test_the_help_names_what_is_missing() -> None:
    lost = (memory(), K, post(configuration(access(1), listed()), abort=True))
    (found,) = settled((), *lost, transmit(by="peer_read"))[1]
    assert f"after the abort at {lost[2].at.line}:{lost[2].at.column}" in found.message
    assert found.help.startswith("configure k, reset_signature { access …; layout … }")


def test_an_mkey_without_signature_needs_no_reset() -> None:
    plain = mkey(flags=1)
    lost = abort(configuration(access(1), listed()))
    assert judged(memory(), plain, lost, configure(listed()), transmit())[1] == []


def test_crypto_is_unknown_too() -> None:
    """XCRY-12."""
    key = mkey(flags=5)
    dek = plan.Dek(at(), "d", Fill(1, 32))
    lost = abort(configuration(access(1), listed(), crypto()))
    assert judged(memory(), key, dek, lost, configure(listed()), transmit())[1] == ["MKS0506"]
    assert judged(memory(), key, dek, lost, configure(listed(), crypto()), transmit())[1] == []


def test_a_configuration_that_may_be_refused_leaves_the_mkey_unknown() -> None:
    """What is needed of it is set again, or its use may be refused as well."""
    either = post(configuration(access(1), listed()), claim=(ACCEPTED, AT_COMPLETE))
    open_too = plan.Transmit(at(), part("k", 0, 512), "send", claim=(ACCEPTED, AT_COMPLETION))
    (found,) = settled((), memory(), K, either, transmit())[1]
    assert found.code == "MKS0506"
    assert f"after the statement that may be refused at {either.at.line}:{either.at.column}" in found.message
    assert judged(memory(), K, either, open_too)[1] == []
    again = configure(plan.SetSignature(None, None), listed())
    assert judged(memory(), K, either, again, transmit())[1] == []
    assert judged(memory(), K, either, again, transmit(by="peer_read"))[1] == ["MKS0506"]


def test_a_refused_data_request_leaves_the_mkey_alone() -> None:
    bad = plan.Transmit(at(), part("k", 0, 513), "send", claim=(AT_COMPLETION,))
    assert judged(memory(), K, configure(access(0), listed()), bad, transmit())[1] == []


def test_what_a_refusal_at_completion_leaves_behind() -> None:
    """A data request that fails leaves the configuration before it; a configuration that fails itself does not."""
    setup = (memory(), mkey(entries=2))
    both = post(configuration(access(0), listed()), plan.Send(at(), (part("k", 0, 513),)), claim=(AT_COMPLETION,))
    assert judged(*setup, both, transmit())[1] == []
    alone = post(configuration(access(0), strided(2)), claim=(AT_COMPLETION,))
    assert judged(*setup, alone, transmit(16))[1] == ["MKS0506"]
    either = post(configuration(access(0), strided(2)), claim=(AT_COMPLETE, AT_COMPLETION))
    assert judged(*setup, either, transmit(16))[1] == ["MKS0506"]


def test_a_key_that_was_not_created() -> None:
    world = state_after(plan.Dek(at(), "d", Fill(1, 32)), plan.Dek(at(), "e", Fill(1, 7), claim=(AT_CREATE,)))
    assert [getattr(world.things[name], "created", None) for name in "de"] == [True, False]


def test_invalidation_clears_the_configuration() -> None:
    steps = (memory(), K, configure(access(0xF), listed()), post(plan.Invalidate(at(), "k", "wr_post")))
    assert judged(*steps, transmit())[1] == ["MKS0443"]
    assert judged(*steps, configure(access(0xF)), transmit())[1] == ["MKS0401"]
    assert judged(*steps, configure(access(0), listed()), transmit())[1] == []


def test_a_tag_that_no_configuration_has_told() -> None:
    """The device learns of a tag with the next configuration (MKY-06)."""
    steps = (memory(), mkey(flags=11), configure(access(0xF), listed()), plan.Retag(at(), "k", 9))
    assert judged(*steps, transmit())[1] == ["MKS0442"]
    for by, reason in (("send", "local_protection"), ("peer_read", "remote_access")):
        use = plan.Transmit(at(), part("k"), by, claim=(AT_COMPLETION,))
        claim = (plan.Rejected("completion", reason, "update_tag"),)
        assert judged(*steps, use) == (claim, [])
    assert judged(*steps, configure(access(0)), transmit())[1] == []
    assert judged(*steps, plan.Retag(at(), "k", 0), transmit())[1] == []


def test_remote_invalidation_needs_the_flag() -> None:
    send = post(plan.Send(at(), (part("w"),), None, "k"), peer=True)
    peer = memory("w", peer=True)
    ready = configure(access(0), listed())
    assert judged(memory(), mkey(flags=17), peer, ready, send, transmit())[1] == ["MKS0443"]
    refused = post(*send.requests, peer=True, claim=(AT_COMPLETION,))
    assert judged(memory(), K, peer, ready, refused, transmit())[1] == []


def test_what_was_not_created_is_not_there() -> None:
    refused = mkey(but=(("create_flags", 0),), claim=(plan.Rejected("create"),))
    assert judged(refused)[0] == (plan.Rejected("create", None, "create_flags"),)
    assert judged(refused, configure(access(0)))[1] == ["MKS0507"]
