"""Warnings (MKS06xx): allowed, but probably a mistake."""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec import plan
from mkeyspec.compiler.check.context import place
from mkeyspec.compiler.check.escapes import check_escapes
from mkeyspec.compiler.check.masks import check_masks
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.state import SIGNATURE, AbstractState
from mkeyspec.compiler.check.unchanged_members import check_same
from mkeyspec.diagnostics.diagnostic import Diagnostics, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.layout import Part
from mkeyspec.value.signature import PLAIN

_SIG = "mlx5dv_wr_set_mkey_sig_block(3)"


def lint_case(rows: Sequence[plan.Row], verifies: tuple[str, ...], span: Span, diagnostics: Diagnostics) -> None:
    """Warnings about a whole case. `span`: of the case's name."""
    if not verifies:
        diagnostics.warning(
            "MKS0606",
            "this case does not say what it verifies",
            span,
            help="verifies ID, …   (`mkeyspec list --requirements` shows them)",
        )
    if rows and not any(_observes(step) for row in rows for step in row.steps):
        diagnostics.warning(
            "MKS0602",
            "this case observes nothing",
            span,
            notes=(Note("only that its steps succeed, and that nothing else changes"),),
            help="expect …, check …, or a claim of one outcome; where it is open, `allow MKS0602` with the reason",
        )
    check_same(rows, diagnostics)
    check_masks(rows, verifies, diagnostics)
    check_escapes(rows, verifies, diagnostics)


# Steps -----------------------------------------------------------------------------------------


def lint_use(
    state: AbstractState, request: plan.Wr | plan.Step, part: Part, origin: Origin, diagnostics: Diagnostics
) -> None:
    key = state.mkey(part.name)
    if key is None or key.domains == PLAIN or key.lost(SIGNATURE):
        return
    if part.start != 0:
        diagnostics.warning(
            "MKS0603",
            f"an offset into `{part.name}`, which has a signature: the pages do not say what it counts",
            origin.get(part, "", request),
            help="record it, or claim `accepted or rejected at completion`",
            page="X-OPEN-02",
        )
    if not key.transfers:
        return
    if key.reported:
        _again(part, request, "after a reported error", origin, diagnostics)
    elif any(d.signature.remap for d in (key.mem, key.wire) if d is not None):
        _again(part, request, "for a second run of reference tags", origin, diagnostics)


def _again(part: Part, request: object, why: str, origin: Origin, diagnostics: Diagnostics) -> None:
    diagnostics.warning(
        "MKS0604",
        f"`{part.name}` is used again {why} without being configured in between",
        origin.get(part, "", request),
        help=f"configure {part.name} {{ }}   before it",
        page=f"{_SIG} ref_tag, X-OPEN-07",
    )


def lint_both_ends(
    state: AbstractState, step: plan.Post, request: plan.Wr, origin: Origin, diagnostics: Diagnostics
) -> None:
    """Both ends apply the same wire domain, and the wire is seen by neither."""
    remote = request.remote()
    far: tuple[Part, ...] = () if remote is None else (remote,)
    if not far and request.takes_receive():
        waiting = state.receive(state.receive_queue(step.qp, not step.peer))
        far = () if waiting is None else waiting.into
    there = map(state.mkey, (part.name for part in far))
    wires = {key.wire for key in there if key is not None and not key.lost(SIGNATURE)}
    for part in request.local():
        key = state.mkey(part.name)
        if key is not None and key.wire is not None and key.wire in wires and not key.lost(SIGNATURE):
            diagnostics.warning(
                "MKS0601",
                "this case cannot see what it claims: both ends apply "
                f"`{key.wire.signature.describe()} every {key.wire.block}` on the wire, and nothing looks at it",
                origin.get(request, "", step),
                notes=(Note(f"`{part.name}` is declared at {place(key.at)}"),),
                help=f"use a plain peer buffer (`transmit {part.name}`), or verify acceptance only",
            )
            return


# Cases -----------------------------------------------------------------------------------------


def _observes(step: plan.Step) -> bool:
    """A claim of a refusal, or of exact completions, observes as well as `expect` and `check` do. One that is met
    whether the device accepts or refuses does not."""
    match step:
        case plan.Expect():
            items = plan.items_of(step.expected)
            return not all(plan.is_any(item) or getattr(item, "length", None) == 0 for item in items)
        case plan.Check() | plan.Await() | plan.Query() | plan.LoginState():
            return True
        case _:
            claim = getattr(step, "claim", ())
            return bool(claim) and not (plan.accepts(claim) and plan.may_be_rejected(claim))
