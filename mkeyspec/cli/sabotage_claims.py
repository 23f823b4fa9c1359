"""The command `mkeyspec sabotage --claims`: whether each `verifies` of the cases is supported by a fault."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

from mkeyspec.cli.sabotage_command import Command
from mkeyspec.cli.session import FAILED, NOTHING, OK, Failure
from mkeyspec.device.select import DeviceChoice
from mkeyspec.files.atomic_write import replace
from mkeyspec.requirements.ledger import requirements
from mkeyspec.requirements.proofs import FILE, Proof, Proofs, ProofsError, read
from mkeyspec.sabotage.claims.entries import Entry, by_requirement
from mkeyspec.sabotage.claims.proof import Claim, WorkerEnded, prove
from mkeyspec.sabotage.suite import Item


def check(options: argparse.Namespace, device: DeviceChoice) -> None:
    """Refuse options that say nothing of claims. Raises Failure."""
    if device.kind != "model":
        raise Failure("MKS0905", f"--claims --device {options.device}: claims are proved on the model")
    for option in ("matrix", "rows", "choose", "conditions", "list"):
        if getattr(options, option) not in (None, False):
            raise Failure("MKS0905", f"--claims and --{option} do not go together")
    if options.sample is not None and options.sample < 1:
        raise Failure("MKS0905", f"--sample {options.sample}: at least one claim")
    if options.update and (options.sample is not None or options.only or options.profile is not None):
        raise Failure("MKS0905", "--update is for whole cases: no --sample, --only or --profile")
    for name in options.only:
        if name not in requirements():
            raise Failure("MKS0907", f"{name} is not an entry of the ledger; `mkeyspec requirements list` names them")


class Claims(Command):
    """One run over the claims of the cases."""

    def __init__(self, options: argparse.Namespace, device: DeviceChoice, paths: list[Path], project: Path) -> None:
        super().__init__(options, device, {}, paths, project)

    def _run(self) -> int:
        items = self._items()
        if not items:
            return NOTHING
        try:
            before = read(self.project) or Proofs()
        except ProofsError as error:
            raise Failure("MKS0904", str(error)) from None
        wanted = self._wanted(items)
        found: dict[tuple[str, str], Claim] = {}
        failing: dict[str, None] = {}
        before = self._prove(
            items, wanted, before, found, failing, thorough=bool(self.options.only) and self.options.sample is None
        )
        if lacking := self._lacking(found):
            names = {one.requirement.id for one in lacking}
            again = frozenset(key for key, claim in found.items() if key[1] in names and claim.open())
            before = self._prove(items, again, before, found, failing, thorough=True)
        for item in failing:
            print(f"mkeyspec: fails without any fault, and supports nothing: {item}", file=sys.stderr)
        if self.options.update and not self.options.paths:
            self._forget(before, {item.case for item in items})
        claims = list(found.values())
        lacking = self._lacking(found)
        self._say(claims, by_requirement(claims), lacking, list(failing), {item.case for item in items})
        return FAILED if failing or lacking or not all(claim.supported for claim in claims) else OK

    def _prove(
        self,
        items: Sequence[Item],
        wanted: frozenset[tuple[str, str]],
        before: Proofs,
        found: dict[tuple[str, str], Claim],
        failing: dict[str, None],
        *,
        thorough: bool,
    ) -> Proofs:
        """Prove these claims into `found` and `failing`. Gives what is known then."""
        # Of a sample it is asked whether each claim has support, and no more; --update looks for what else there is.
        both = thorough or self.options.update
        try:
            for one in prove(items, wanted, before, self.profile, self.options.workers, both=both, thorough=thorough):
                found |= {(claim.case, claim.requirement): claim for claim in one.claims}
                failing |= dict.fromkeys(one.failing)
                for case in {claim.case for claim in one.claims}:
                    before = self._keep(before, case, [claim for key, claim in found.items() if key[0] == case])
        except WorkerEnded as error:
            raise Failure("MKS0919", str(error)) from None
        return before

    def _lacking(self, found: Mapping[tuple[str, str], Claim]) -> list[Entry]:
        """Entries without a supported half that they want, if all claims were asked for."""
        entries = by_requirement(found.values())
        return [one for one in entries.values() if one.missing] if self._whole else []

    @property
    def _whole(self) -> bool:
        """Whether it is about all claims of the project: a part of them lacks much."""
        options = self.options
        return not (options.paths or options.only or options.profile) and options.sample is None

    def _wanted(self, items: Sequence[Item]) -> frozenset[tuple[str, str]]:
        """The claims to prove: all, those of some entries, or a sample."""
        everything = [key for key in _claims(items) if not self.options.only or key[1] in self.options.only]
        if self.options.sample is not None and self.options.sample < len(everything):
            everything = _drawn(everything, self.options.sample, self.options.seed)
        return frozenset(everything)

    def _keep(self, before: Proofs, case: str, found: Sequence[Claim]) -> Proofs:
        """With what is proved of a case; --update writes it: a long search that is cut has not been in vain."""
        now = {(one.case, one.requirement, half): proof for one in found for half, proof in one.proofs.items()}
        kept = before.replaced({case}, now)
        if self.options.update and kept != before:
            replace(self.project / FILE, kept.text())
        return kept

    def _forget(self, before: Proofs, cases: Collection[str]) -> None:
        """Take away the proofs of cases that are no more."""
        gone = {case for case, _, _ in before.known} - set(cases)
        if gone:
            replace(self.project / FILE, before.replaced(gone, {}).text())

    # What is said ----------------------------------------------------------------------------

    def _say(
        self,
        found: Sequence[Claim],
        entries: dict[str, Entry],
        lacking: Sequence[Entry],
        failing: Sequence[str],
        cases: set[str],
    ) -> None:
        unsupported = [claim for claim in found if not claim.supported]
        seconds = monotonic() - self.started
        if not self.text:
            data = {
                "seed": self.options.seed if self.options.sample is not None else None,
                "claims": [_claim(one) for one in found],
                "supported": len(found) - len(unsupported),
                "unsupported": [f"{_place(one)} {one.requirement}" for one in unsupported],
                "requirements": {
                    name: {"claims": one.claims, "positive": one.positive, "negative": one.negative}
                    for name, one in entries.items()
                    if one.claims
                },
                "lacking": {one.requirement.id: one.missing for one in lacking},
                "failing": list(failing),
                "seconds": round(seconds, 1),
            }
            print(json.dumps(data, indent=2, ensure_ascii=False))
            return
        for name, one in entries.items():
            if one.claims:
                print(f"{name:8} {one.claims:3} claims: {one.positive:3} positive {one.negative:3} negative supported")
        for claim in unsupported:
            print(f"UNSUPPORTED {_place(claim)}: {claim.requirement}: {requirements()[claim.requirement].title}")
        for one in lacking:
            print(f"LACKS       {one.requirement.id}: no supported {' and no supported '.join(one.missing)} claim")
        print(
            f"mkeyspec: {len(found) - len(unsupported)} of {len(found)} claims are supported; {len(lacking)} entries "
            f"lack a supported half; on {self.device.text} ({len(cases)} cases) in {seconds:.1f} s"
        )


def _claims(items: Sequence[Item]) -> list[tuple[str, str]]:
    """Every case with every entry of its `verifies`, in order; no fault violates an entry of a suite's own ledger."""
    return list(
        dict.fromkeys((item.case, name) for item in items for name in item.info.verifies if name in requirements())
    )


def _drawn(claims: Sequence[tuple[str, str]], count: int, seed: int) -> list[tuple[str, str]]:
    """`count` of them by chance. Each has its own lot: a claim that comes or goes moves no other."""
    return sorted(claims, key=lambda claim: Random(f"{seed} {claim[0]} {claim[1]}").random())[:count]


def _place(claim: Claim) -> str:
    """`cases/a.mks:12: name`."""
    source, _, name = claim.case.partition("::")
    return f"{source}:{claim.at.line}: {name}"


def _claim(one: Claim) -> dict[str, Any]:
    source, _, name = one.case.partition("::")
    return {
        "source": source,
        "line": one.at.line,
        "case": name,
        "requirement": one.requirement,
        "halves": list(one.halves),
        "supported": one.supported,
        "proofs": {half: _proof(proof) for half, proof in one.proofs.items()},
    }


def _proof(proof: Proof) -> dict[str, str]:
    return {"fault": proof.fault, "row": proof.row, "code": proof.code}
