"""Both escapes of a T10-DIF at once (MKS0621): flags is "one of the following" (mlx5dv_wr_set_mkey_sig_block(3)).

With both, no page says whether a block with an application tag of 0xFFFF escapes if its reference tag is not 0xFFFFFFFF
(X-DIFF-21). REF_REMAP beside one escape is common, and has one meaning.
"""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec import plan
from mkeyspec.abi.constants import T10difFlag
from mkeyspec.compiler.check.masks import setters_in_effect
from mkeyspec.compiler.check.origin import origin_of
from mkeyspec.compiler.check.state import overridden
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.value.signature import Domain, T10Dif

_BOTH = int(T10difFlag.APP_ESCAPE | T10difFlag.APP_REF_ESCAPE)
_REQUIREMENT = "DIF-11"
"""The values of flags: a case of it means them."""


def check_escapes(rows: Sequence[plan.Row], verifies: tuple[str, ...], diagnostics: Diagnostics) -> None:
    """Report every domain whose signature has both escapes, unless the step's claim names a refusal of it."""
    if _REQUIREMENT in verifies:
        return
    for row in rows:
        for step in row.steps:
            if plan.may_be_rejected(getattr(step, "claim", ())):
                continue
            for setter in setters_in_effect(step):
                _look(step, setter, diagnostics)


def _look(step: plan.Step, setter: plan.SetSignature, diagnostics: Diagnostics) -> None:
    # The same signature in both domains is one cause.
    sides = (("mem", setter.mem), ("wire", None if setter.wire == setter.mem else setter.wire))
    for side, domain in sides:
        if domain is not None and _has_both(domain):
            diagnostics.warning(
                "MKS0621",
                "app_escape and app_ref_escape at once: no page says which of them holds",
                origin_of(step).get(setter, side, step),
                help="flags=app_escape, or flags=app_ref_escape; or claim `accepted or rejected at complete`",
                page=f"mlx5dv_wr_set_mkey_sig_block(3) T10DIF signature flags, {_REQUIREMENT}, X-DIFF-21",
            )


def _has_both(domain: Domain) -> bool:
    """Whether the device certainly gets both. A `but` of the type decides that it is not a T10-DIF."""
    if any(member == "sig_type" for member, _ in domain.but):
        return False
    match domain.signature:
        case T10Dif(but=but, flags=written):
            flags, _ = overridden(but, "flags", written)
            return flags is not None and flags & _BOTH == _BOTH
        case _:
            return False
