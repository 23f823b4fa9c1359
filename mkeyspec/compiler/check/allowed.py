"""Things that look forbidden but are allowed: notes for a claimed rejection without a reason (MKS0502)."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.value.signature import Crc, Domain


def allowed(step: plan.Step) -> list[str]:
    """Sentences, each with the requirement that permits the thing; at most one of a kind."""
    found: dict[str, None] = {}
    for request in step.posted():
        if isinstance(request, plan.Configure):
            for text in _configure(request):
                found[text] = None
    return list(found)


def _configure(request: plan.Configure) -> Iterator[str]:
    if not request.setters:
        yield "a configuration without setters is legal (CFG-06)"
    for setter in request.setters:
        match setter:
            case plan.SetAccess(0):
                yield "access 0 is legal (ACC-04)"
            case plan.SetAccess(int() as flags) if flags & ~0xF:
                yield "which flags of enum ibv_access_flags a device takes is its own matter (ACC-05, X-DIFF-01)"
            case plan.SetSignature():
                yield from _signature(setter)
            case plan.SetAccess() | plan.SetLayout() | plan.SetCrypto():
                pass
            case _:
                assert_never(setter)


def _signature(setter: plan.SetSignature) -> Iterator[str]:
    mem, wire = setter.mem, setter.wire
    if mem is None and wire is None:
        yield "the pages are silent about two domains without signature (SIG-13, SIG-14, X-DIFF-13)"
    if mem is not None and wire is not None and mem.block != wire.block:
        yield "the domains may differ in block size (SIG-16, X-OPEN-05)"
    for domain in (mem, wire):
        if domain is not None and _surplus_seed(domain):
            yield "bits of the seed that the CRC type does not use are ignored (CRC-06)"


def _surplus_seed(domain: Domain) -> bool:
    return isinstance(domain.signature, Crc) and domain.signature.seed != domain.signature.init
