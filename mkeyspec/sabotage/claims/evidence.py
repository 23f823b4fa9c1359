"""What a failed row is evidence of: the observation of the ledger that failed, and whether a refusal or an error
record was claimed there.

A row can fail for reasons that say nothing of an entry: a completion that never comes, a device that dies, a QP that
stops. Only a statement of the case that disagrees with the device counts, or a closing rule. It counts only for
entries that list that observation in the ledger (`observe`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.plan import At, Step
from mkeyspec.run.verdict import Failure

COMPLETION = frozenset({"completion status", "completion opcode", "number of completions"})
_PHASES: Mapping[str, frozenset[str]] = {
    "create": frozenset({"return value", "QP creation"}),
    "complete": frozenset({"ibv_wr_complete"}),
    "completion": frozenset({"completion status"}),
    "mkey_check": frozenset({"mlx5dv_mkey_check", "return value"}),
    "cancel": frozenset({"return value"}),
    "destroy": frozenset({"destruction"}),
    "query": frozenset({"return value"}),
    "login": frozenset({"return value"}),
    "logout": frozenset({"return value"}),
}
"""The phase of a refusal to the observations that show it."""
_CODES: Mapping[str, frozenset[str]] = {
    "MKS2005": COMPLETION,
    "MKS2006": frozenset({"async event"}),
    "MKS2101": frozenset({"wire bytes"}),
    "MKS2102": frozenset({"memory bytes"}),
    "MKS2105": frozenset({"return value", "QP creation", *COMPLETION}),
    "MKS2106": frozenset({"mlx5dv_mkey_check"}),
    "MKS2109": frozenset({"return value", "QP creation"}),
    "MKS2110": frozenset({"return value"}),
    "MKS2120": frozenset({"return value"}),
}
"""A statement of the case, or a request of it, disagrees with the device."""
_CLOSING: Mapping[str, frozenset[str]] = {
    "MKS2103": frozenset({"memory bytes"}),
    "MKS2104": frozenset({"memory bytes"}),
    "MKS2201": frozenset({"number of completions"}),
    "MKS2202": frozenset({"mlx5dv_mkey_check"}),
    "MKS2203": frozenset({"async event"}),
    "MKS2205": frozenset({"destruction"}),
}
"""A closing rule: what no statement names."""
_REFUSALS = frozenset({"MKS2001", "MKS2002", "MKS2003"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of one failure. `kinds`: observations of the ledger. `negative`: it is at a claimed refusal or error record."""

    code: str
    kinds: frozenset[str]
    negative: bool


def statements(steps: Iterable[Step]) -> dict[At, Step]:
    """The step of each place that a failure can be at: its own, or that of a request that it posts."""
    found: dict[At, Step] = {}
    for step in steps:
        for request in step.posted():
            found[request.at] = step
    for step in steps:
        found[step.at] = step
    return found


def is_negative(step: Step) -> bool:
    """Whether a statement claims a refusal, an error completion or an error record."""
    claim: plan.Claim = getattr(step, "claim", ())
    if plan.may_be_rejected(claim) or any(_fails(entry) for entries in plan.lists(claim) for entry in entries):
        return True
    return isinstance(step, plan.Check) and step.kind != ("ok",)


def _fails(entry: plan.Entry) -> bool:
    return entry.opcode == plan.ERROR or dict(entry.members).get("status", "success") != "success"


def plain_peer(steps: Sequence[Step]) -> frozenset[str]:
    """The peer's memories, if none of its mkeys changes bytes: what came over the wire is there as it came."""
    changing = int(MkeyFlag.BLOCK_SIGNATURE | MkeyFlag.CRYPTO)
    if any(isinstance(step, plan.Mkey) and step.peer and step.flags & changing for step in steps):
        return frozenset()
    return frozenset(step.name for step in steps if isinstance(step, plan.Memory) and step.peer)


def _expected(step: Step, plain: Collection[str]) -> frozenset[str]:
    """What an `expect` of memory observes."""
    kinds = _CODES["MKS2102"]
    observed = step.observed if isinstance(step, plan.Expect) else None
    if isinstance(observed, plan.Content) and observed.parts and all(one.name in plain for one in observed.parts):
        return kinds | _CODES["MKS2101"]
    return kinds


def evidence(
    failures: Iterable[Failure],
    at: Mapping[At, Step],
    statuses: Sequence[tuple[At, str, str]],
    plain: Collection[str] = (),
) -> list[Evidence]:
    """What the failures of a row say. `statuses`: the refusals that were seen, as the verdict has them. `plain`:
    memories that hold wire bytes (`plain_peer`)."""
    phases = {place: phase for place, phase, _ in statuses}
    found = []
    for failure in failures:
        step = at.get(failure.at)
        if failure.code in _CLOSING:
            found.append(Evidence(failure.code, _CLOSING[failure.code], False))
        elif step is None:
            continue
        elif failure.code in _REFUSALS:
            claim: plan.Claim = getattr(step, "claim", ())
            where = {phases[failure.at]} if failure.at in phases else set()
            claimed = {outcome.phase for outcome in plan.rejections(claim)}
            if failure.code == "MKS2003" and where <= claimed - {"completion"}:
                continue  # refused at the claimed phase with another errno: no page names an errno
            where |= claimed
            kinds = frozenset[str]().union(*(_PHASES.get(phase, frozenset()) for phase in where))
            found.append(Evidence(failure.code, kinds, is_negative(step)))
        elif failure.code == "MKS2004":
            # Every statement that waits for a lost completion fails. Only a claim with a list is about the completion.
            if plan.lists(getattr(step, "claim", ())):
                found.append(Evidence(failure.code, frozenset({"number of completions"}), is_negative(step)))
        elif failure.code in _CODES and not (failure.code == "MKS2105" and failure.hard):
            negative = is_negative(step) and failure.code not in ("MKS2101", "MKS2102", "MKS2105")
            kinds = _expected(step, plain) if failure.code == "MKS2102" else _CODES[failure.code]
            found.append(Evidence(failure.code, kinds, negative))
    return found
