"""A step under all rules."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from mkeyspec import plan
from mkeyspec.compiler.check import configure, create, mkey_state, transfer
from mkeyspec.compiler.check.claims import settle
from mkeyspec.compiler.check.context import Look
from mkeyspec.compiler.check.lint import lint_step
from mkeyspec.compiler.check.rules import BrokenRule, Spans
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.check.unread_members import look_effect
from mkeyspec.diagnostics.diagnostic import Diagnostics

CLAIMING = (
    plan.Mkey, plan.Qp, plan.Dek, plan.Post, plan.Transmit, plan.Receive, plan.Check, plan.Poll, plan.Cancel,
)  # fmt: skip
"""Steps that carry a claim."""


def broken_by(world: AbstractState, step: plan.Step, spans: Spans) -> list[BrokenRule]:
    """The rules that `step` breaks, or may break, in `world`; changes nothing."""
    if isinstance(step, plan.Post):
        return _post(world, step, spans)
    if isinstance(step, plan.Transmit):
        look = Look(world, step, spans, world.qp(step.qp))
        transfer.look_transmit(look, step)
    elif isinstance(step, plan.Receive):
        look = Look(world, step, spans, world.qp(step.qp))
        transfer.look_receive(look, step)
    elif isinstance(step, plan.Mkey):
        look = Look(world, step, spans, world.qp(None))
        create.look_mkey(look, step)
    elif isinstance(step, plan.Dek):
        look = Look(world, step, spans, world.qp(None))
        create.look_dek(look, step)
    elif isinstance(step, plan.Check):
        look = Look(world, step, spans, world.qp(None))
        mkey_state.look_check(look, step)
    elif isinstance(step, plan.Qp):
        look = Look(world, step, spans, world.qp(None))
        create.look_qp(look, step)
    elif isinstance(step, plan.Recv):
        look = Look(world, step, spans, world.qp(step.qp), step.peer)
        transfer.look_recv(look, step)
    elif isinstance(step, plan.Cancel):
        look = Look(world, step, spans, world.qp(step.qp))
        mkey_state.look_cancel(look, step)
    elif isinstance(step, plan.Retag):
        look = Look(world, step, spans, world.qp(None))
        mkey_state.look_retag(look, step)
    else:
        return []
    return look.found


def _post(world: AbstractState, step: plan.Post, spans: Spans) -> list[BrokenRule]:
    """A section: each request is looked at in the world that those before it leave behind."""
    several = len(step.requests) > 1
    look = Look(world.copy() if several else world, step, spans, world.qp(step.qp), step.peer)
    strays = sum(isinstance(request, plan.StraySetter) for request in step.requests)
    for number, request in enumerate(step.requests):
        before = len(look.found)
        match request:
            case plan.Configure():
                if transfer.look_configuration_posted(look, request):
                    configure.look_configure(look, request, strays)
            case plan.MrList() | plan.MrInterleaved():
                if transfer.look_configuration_posted(look, request):
                    configure.look_registration(look, request)
            case plan.StraySetter():
                configure.look_stray(look, request)
            case _:
                transfer.look_request(look, request)
        if several:
            look.found[before:] = [found._replace(request=number) for found in look.found[before:]]
            look.world.request(request, (step.qp, not step.peer))
    if step.abort:
        # Nothing of an aborted section is carried out: what could only show in a completion never does.
        return [b for b in look.found if b.rule.phases != ("completion",) and b.rule.name != "unknown_state"]
    return look.found


def check_step(
    world: AbstractState, step: plan.Step, spans: Spans, diagnostics: Diagnostics, when_false: bool = False
) -> plan.Step:
    """Look, settle, lint, and let the step happen in `world`. Returns the step with its claim settled.

    `when_false`: the text has a claim, but its `when` is false in this row (then `step.claim` is empty).
    """
    broken = broken_by(world, step, spans) if look_effect(world, step, spans, diagnostics) else []
    if isinstance(step, CLAIMING) and (broken or step.claim):
        claim = settle(broken, step.claim, spans, step, diagnostics, when_false)
        if claim is not step.claim:
            changed = cast("plan.Step", replace(step, claim=claim))
            spans.put(changed, spans.get(step))
            step = changed
    elif broken:
        settle(broken, (), spans, step, diagnostics)
    lint_step(world, step, spans, diagnostics)
    world.apply(step)
    return step
