"""Compares the broken rules with the claim.

Source: docs/design/language.md, truth. Without a claim (or with `accepted` only) every broken rule is a separate
error. With a claimed rejection the one broken rule is the reason that the device must give; no broken rule, two, or
one that is reported at another phase are errors of the claim.

What is written with `but` is wrong on purpose. It is not an error without a claim (the run shows what happens), and a
claimed rejection refers to its rule. A rule that a live value decides, or that the pages leave open, is never an
error; it makes a claimed rejection possible; if it is the only one, the claim refers to it.
"""

from __future__ import annotations

from dataclasses import replace

from mkeyspec import plan
from mkeyspec.abi.constants import STATUS_CLASS
from mkeyspec.compiler.check.allowed import allowed
from mkeyspec.compiler.check.context import UNRELIABLE
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.rules import BrokenRule
from mkeyspec.compiler.check.unchanged_members import overrides
from mkeyspec.diagnostics.diagnostic import Diagnostics, Note

UNDEFINED_HELP = "what happens is undefined; no claim covers it"
ORDER = {"create": 0, "login": 0, "logout": 0, "complete": 1, "completion": 2}
ORDER |= dict.fromkeys(("mkey_check", "cancel", "destroy", "query"), 3)
"""Phases of one step in time: what is refused at one never reaches a later one."""


def settle(
    broken: list[BrokenRule],
    claim: plan.Claim,
    origin: Origin,
    step: plan.Step,
    diagnostics: Diagnostics,
    when_false: bool = False,
) -> plan.Claim:
    """The claim, with the one broken rule entered in its rejections; diagnostics if claim and rules do not fit.
    `when_false`: there is a claim, but its `when` is false in this row.
    """
    undefined = [b for b in broken if not b.rule.phases and b.definite]
    for found in undefined:
        _report(found, diagnostics, help=found.help or UNDEFINED_HELP)
    if undefined:
        return claim
    broken = [b for b in broken if b.rule.phases]
    rejections = plan.rejections(claim)
    if not rejections:
        for found in broken:
            if found.definite and not found.by_but:
                _report(found, diagnostics, notes=_when_note(when_false), help=_claim_help(found))
            elif found.dropped and not found.by_but and not found.live:
                _dropped(found, diagnostics)
        return claim
    definite = [b for b in broken if b.definite]
    if not broken and not overrides(step):
        _every_outcome(claim, rejections, origin, step, diagnostics)
    if not definite:
        _nothing_certain(broken, claim, rejections, origin, step, diagnostics)
        return _pinned(claim, [b for b in broken if _matches(b, rejections)])
    first = min(_phase(b) for b in definite)
    earliest = [b for b in definite if _phase(b) == first]
    matching = [b for b in earliest if _matches(b, rejections)]
    if not matching:
        _wrong_phase(earliest[0], rejections, origin, step, diagnostics)
        return claim
    names = {b.rule.name for b in matching}
    if len(names) > 1:
        if any(outcome.reason is None for outcome in rejections):
            _two(matching, rejections, origin, step, diagnostics)
        return _placed(claim, matching)
    return _placed(_pinned(claim, matching), matching)


def _phase(broken: BrokenRule) -> int:
    return min(ORDER[phase] for phase in broken.rule.phases)


def _matches(broken: BrokenRule, rejections: list[plan.Rejected]) -> bool:
    return any(outcome.phase in broken.rule.phases for outcome in rejections)


def _pinned(claim: plan.Claim, matching: list[BrokenRule]) -> plan.Claim:
    """The claim with its rule filled in, if `matching` is of one rule."""
    if len({b.rule.name for b in matching}) != 1:
        return claim
    found = matching[0]

    def pin(outcome: plan.Outcome) -> plan.Outcome:
        if not plan.is_rejection(outcome) or outcome.phase not in found.rule.phases:
            return outcome
        reason = found.reason if outcome.reason is None and outcome.phase == "completion" else outcome.reason
        return replace(outcome, rule=found.rule.name, reason=reason)

    return tuple(pin(outcome) for outcome in claim)


def _placed(claim: plan.Claim, matching: list[BrokenRule]) -> plan.Claim:
    """The claim with the requests that an error completion is due to, of a section of several."""

    def place(outcome: plan.Outcome) -> plan.Outcome:
        if not plan.is_rejection(outcome) or outcome.phase != "completion":
            return outcome
        which = {b.request for b in matching if b.request is not None and outcome.phase in b.rule.phases}
        return replace(outcome, requests=tuple(sorted(which))) if which else outcome

    return tuple(place(outcome) for outcome in claim)


# Diagnostics -----------------------------------------------------------------------------------


def _report(found: BrokenRule, diagnostics: Diagnostics, notes: tuple[Note, ...] = (), help: str = "") -> None:
    diagnostics.error(
        found.rule.code, found.message, found.span, notes=(*found.notes, *notes), help=help, page=found.rule.reference
    )


def _dropped(found: BrokenRule, diagnostics: Diagnostics) -> None:
    diagnostics.warning(
        "MKS0622",
        "the other end drops this request and tells nobody: nothing arrives",
        found.span,
        notes=(Note(found.message), *found.notes),
        help=found.help or "if that is meant, `allow MKS0622` with the reason",
        page=found.rule.reference,
    )


def _claim_help(found: BrokenRule) -> str:
    refusal = f"if the device must refuse it, say so: `rejected at {found.rule.phases[-1]}`"
    return f"{found.help}; {refusal}" if found.help else refusal


def _when_note(when_false: bool) -> tuple[Note, ...]:
    return (Note("in this row the claim's `when` is false, so plain success is claimed"),) if when_false else ()


def _nothing_certain(
    broken: list[BrokenRule],
    claim: plan.Claim,
    rejections: list[plan.Rejected],
    origin: Origin,
    step: plan.Step,
    diagnostics: Diagnostics,
) -> None:
    """MKS0502, unless a live value may break a rule, the claim allows success too, or it brings its own reason;
    MKS0503, if nobody tells of the broken rule."""
    matching = [b for b in broken if _matches(b, rejections)]
    if any(not b.dropped for b in matching) or len(rejections) < len(claim):
        return
    if matching:
        _never_told(
            matching[0].rule.title,
            Note(matching[0].message, matching[0].span),
            rejections[0],
            origin,
            step,
            diagnostics,
        )
        return
    if plan.is_post(step) and not step.requests and (late := [one for one in rejections if one.phase == "completion"]):
        diagnostics.error(
            "MKS0502",
            "no request is posted here, so nothing completes with an error",
            origin.get(late[0], "", step),
            help="drop the claim, or write the request that it is of",
        )
        return
    bare = [outcome for outcome in rejections if outcome.reason is None]
    if bare:
        diagnostics.error(
            "MKS0502",
            "nothing here is forbidden by the pages, so why should it be rejected?",
            origin.get(bare[0], "", step),
            notes=tuple(Note(text) for text in allowed(step)),
            help="drop the claim, or say why: `with ERRNO`, and the requirement"
            if bare[0].phase != "completion"
            else "drop the claim, or say why: `with` a status, and the requirement",
        )


PHASES: dict[type, frozenset[str]] = {
    plan.Post: frozenset({"complete", "completion"}),
    plan.Transmit: frozenset({"complete", "completion"}),
    plan.Receive: frozenset({"complete", "completion"}),
    plan.Mkey: frozenset({"create"}),
    plan.Qp: frozenset({"create"}),
    plan.Dek: frozenset({"create"}),
    plan.Cancel: frozenset({"cancel"}),
    plan.Destroy: frozenset({"destroy"}),
    plan.DestroyDek: frozenset({"destroy"}),
    plan.Query: frozenset({"query"}),
    plan.LoginState: frozenset({"query"}),
}
"""Where a step may be refused."""


def _every_outcome(
    claim: plan.Claim, rejections: list[plan.Rejected], origin: Origin, step: plan.Step, diagnostics: Diagnostics
) -> None:
    """A claim that names success and a refusal at each phase, for whatever reason, where the pages forbid nothing."""
    bare = {outcome.phase for outcome in rejections if outcome.reason is None}
    phase = getattr(step, "phase", None)  # of a login it depends on whether it is a session or an object
    everywhere = PHASES.get(type(step)) if phase is None else frozenset({phase})
    if everywhere is not None and everywhere <= bare and plan.accepts(claim):
        diagnostics.warning(
            "MKS0612",
            "this claim cannot fail: it names everything that can happen, and the pages forbid nothing here",
            origin.get(step, "claim"),
            help="drop it: what breaks no rule goes through",
        )


def _wrong_phase(
    found: BrokenRule, rejections: list[plan.Rejected], origin: Origin, step: plan.Step, diagnostics: Diagnostics
) -> None:
    phases = " or ".join(found.rule.phases)
    diagnostics.error(
        "MKS0503",
        f"{found.rule.title}: that is refused at {phases}, not at {rejections[0].phase}",
        origin.get(rejections[0], "", step),
        notes=(Note(found.message, found.span),),
        help=f"rejected at {found.rule.phases[0]}",
        page=found.rule.reference,
    )


def check_told(claim: plan.Claim, qp_type: str, origin: Origin, step: plan.Step, diagnostics: Diagnostics) -> None:
    """MKS0503, if all that is claimed are statuses which no request on a QP of this type ends with."""
    rejections = plan.rejections(claim)
    if qp_type not in UNRELIABLE or not rejections or len(rejections) < len(claim):
        return
    remote = {"remote_access", *STATUS_CLASS["remote_access"]}
    if all(one.phase == "completion" and one.reason in remote for one in rejections):
        _never_told(f"`{rejections[0].reason}` on a {qp_type} QP", None, rejections[0], origin, step, diagnostics)


def _never_told(
    what: str, note: Note | None, claimed: plan.Rejected, origin: Origin, step: plan.Step, diagnostics: Diagnostics
) -> None:
    diagnostics.error(
        "MKS0503",
        f"{what}: the other end drops what it refuses and tells nobody, so the request succeeds",
        origin.get(claimed, "", step),
        notes=() if note is None else (note,),
        help="drop the claim, and say what the bytes are: `expect … == unchanged`; or use an rc QP",
        page="IBTA volume 1, 9.8.3",
    )


def _two(
    matching: list[BrokenRule],
    rejections: list[plan.Rejected],
    origin: Origin,
    step: plan.Step,
    diagnostics: Diagnostics,
) -> None:
    by_name = {b.rule.name: b for b in reversed(matching)}
    faults = sorted(by_name.values(), key=lambda b: (b.span.start, b.rule.code))
    listed = ", ".join(f"{b.rule.title} ({b.rule.requirement})" for b in faults)
    number = "two" if len(faults) == 2 else str(len(faults))
    diagnostics.error(
        "MKS0501",
        f"rejected for which reason? {number} rules are broken: {listed}",
        origin.get(rejections[0], "", step),
        notes=tuple(Note(b.message, b.span) for b in faults),
        help="one fault a case",
    )
