"""A mask whose bits all mean no byte of the signature (MKS0620): mlx5dv_wr_set_mkey_sig_block(3) ignores such bits.

0x0f for a CRC32 looks like its four bytes, and checks none: their bits are 0xf0. A mask of 0 says so itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mkeyspec import plan
from mkeyspec.abi.constants import SigBlockFlag
from mkeyspec.compiler.check.origin import origin_of
from mkeyspec.compiler.check.state import overridden
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.value.signature import Domain


class _Mask(NamedTuple):
    """A mask of the setter. `requirement`: that its bits without a byte are ignored; a case of it means them."""

    member: str
    requirement: str
    done: str
    value: int


def check_masks(rows: Sequence[plan.Row], verifies: tuple[str, ...], diagnostics: Diagnostics) -> None:
    """Report every mask that is not 0 and covers no byte in either domain; the transfer decides which is the input."""
    for row in rows:
        for step in row.steps:
            for setter in setters_in_effect(step):
                _look(step, setter, verifies, diagnostics)


def _look(step: plan.Step, setter: plan.SetSignature, verifies: tuple[str, ...], diagnostics: Diagnostics) -> None:
    domains = [domain for domain in (setter.mem, setter.wire) if domain is not None]
    if not domains or any(_another_type(domain) for domain in domains):
        return
    bits = 0
    for domain in domains:
        bits |= domain.signature.relevant_mask
    kinds = " or ".join(dict.fromkeys(domain.signature.kind for domain in domains))
    for member, requirement, done, value in _masks(setter):
        if value and not value & bits and requirement not in verifies:
            diagnostics.warning(
                "MKS0620",
                f"{member} {value:#04x} covers no byte of {kinds}: nothing is {done}",
                origin_of(step).get(setter, member, step),
                help=f"the bits of {kinds} are {bits:#04x}; if nothing is to be {done}: {member} 0",
                page=f"mlx5dv_wr_set_mkey_sig_block(3) {member}, {requirement}",
            )


def setters_in_effect(step: plan.Step) -> Iterator[plan.SetSignature]:
    """The signature setters that the step posts. What is certainly refused has no effect, and gives none."""
    if plan.is_rejected(getattr(step, "claim", ())):
        return
    for request in step.posted():
        match request:
            case plan.Configure():
                yield from _signatures(request.setters)


def _signatures(setters: Sequence[plan.Setter]) -> Iterator[plan.SetSignature]:
    for setter in setters:
        match setter:
            case plan.SetSignature():
                yield setter


def _masks(setter: plan.SetSignature) -> Iterator[_Mask]:
    yield _Mask("check_mask", "MSK-03", "checked", setter.check_mask)
    if setter.copy_mask is not None:
        flags, _ = overridden(setter.but, "flags", int(SigBlockFlag.COPY_MASK))
        if flags is None or flags & SigBlockFlag.COPY_MASK:  # without it the whole mask is ignored (MSK-13)
            yield _Mask("copy_mask", "MSK-15", "copied", setter.copy_mask)


def _another_type(domain: Domain) -> bool:
    """Whether `but` gives the device another type than the one whose bits are known here."""
    return any(member in ("sig_type", "type") for member, _ in (*domain.but, *domain.signature.but))
