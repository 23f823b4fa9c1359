"""A conditional fault of the signatures' arithmetic.

Two objects: the model's arithmetic, observed, and the faulty one beside it. A method that the fault changes runs on the
faulty object where the condition holds. What the fault changes of a domain (seed, tag, polynomial) or of a signature's
masks is kept as a twin of the right one, and used where fields are calculated, checked or copied: so conditions on the
message apply to it. Of several blocks each goes by its own number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mkeyspec.device.model.key import Bytes
from mkeyspec.device.model.signature import Arithmetic, Bad, Flags, SigDomain, Signature
from mkeyspec.device.protocol import SigBlockAttr, SigBlockDomain
from mkeyspec.sabotage.conditions.condition import Condition
from mkeyspec.sabotage.conditions.facts import fact
from mkeyspec.sabotage.conditions.moment import Moment

WHOLE = ("transmit", "receive", "_convert", "framed", "record", "reported", "_part")
"""Methods that are one thing or the other."""


def changed(faulty: type[Any], straight: type[Any]) -> frozenset[str]:
    """Methods that a class has of its own, or of a class between."""
    between = [one for one in faulty.__mro__ if one is not straight and issubclass(one, straight)]
    return frozenset(name for one in between for name, value in vars(one).items() if callable(value))


def hooks(faulty: type[Arithmetic]) -> frozenset[str]:
    """Where the condition is looked at."""
    own = changed(faulty, Arithmetic)
    found = {name for name in own if name in (*WHOLE, "escaped", "calculate", "_first_bad", "_output")}
    if own & {"__init__", "domain"}:
        found |= {"calculate", "domain"}
    if own & {"signature", "automatic_copy"}:
        found |= {"_first_bad", "_output", "signature"}
    return frozenset(f"arithmetic.{name}" for name in found)


def gate(faulty: type[Arithmetic], moment: Moment, condition: Condition) -> type[Any]:
    """The class that goes between the observer and the model's arithmetic."""
    own = changed(faulty, Arithmetic)
    domains, signatures = bool(own & {"__init__", "domain"}), bool(own & {"signature", "automatic_copy"})

    def holds() -> bool:
        return condition.holds(fact(moment, condition.dimension))

    def by_block(first: int, count: int) -> Flags:
        """For which blocks the fault acts."""
        if condition.dimension != "block":
            return np.full(count, holds())
        return np.array([condition.holds_for(first + place) for place in range(count)], np.bool_)

    class Gate(Arithmetic):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.faulty = faulty(*given)
            self.domains: dict[SigDomain, SigDomain] = {}
            self.signatures: dict[int, tuple[Signature, Signature]] = {}

        def domain(self, given: SigBlockDomain) -> SigDomain:
            made = moment.domain = super().domain(given)
            if not domains:
                return made
            twin = self.faulty.domain(given)
            if (twin.block, twin.field) != (made.block, made.field):
                return twin if holds() else made  # lengths follow from it: for good, or not at all
            self.domains[made] = twin
            return made

        def signature(self, attr: SigBlockAttr) -> Signature:
            made = super().signature(attr)
            moment.signature, moment.domain = made, None
            if not signatures:
                return made
            twin = self.faulty.signature(attr)
            if (twin.mem, twin.wire) != (made.mem, made.wire):
                return twin if holds() else made
            self.signatures[id(made)] = made, twin
            return made

        def _twin(self, signature: Signature) -> Signature:
            return self.signatures.get(id(signature), (None, signature))[1]

        def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
            if not domains and "calculate" not in own:
                return super().calculate(domain, data, before)
            acts = by_block(before // domain.block, len(data) // domain.block)
            if not acts.any():
                return super().calculate(domain, data, before)
            wrong = self.faulty.calculate(self.domains.get(domain, domain), data, before)
            if acts.all():
                return wrong
            fields: Bytes = super().calculate(domain, data, before).copy()
            fields[acts] = wrong[acts]
            return fields

        def _output(
            self, signature: Signature, target: SigDomain, data: Bytes, stored: Bytes | None, before: int
        ) -> Bytes:
            if not signatures and "_output" not in own:
                return super()._output(signature, target, data, stored, before)
            acts = by_block(before // target.block, len(data) // target.block)
            if not acts.any():
                return super()._output(signature, target, data, stored, before)
            wrong = self.faulty._output(self._twin(signature), target, data, stored, before)
            if acts.all():
                return wrong
            fields: Bytes = super()._output(signature, target, data, stored, before).copy()
            fields[acts] = wrong[acts]
            return fields

        def _first_bad(
            self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
        ) -> Bad | None:
            if not signatures and "_first_bad" not in own:
                return super()._first_bad(signature, source, data, stored, before)
            acts = by_block(before // source.block, len(stored))
            twin = self._twin(signature)
            ends = np.flatnonzero(np.diff(acts)) + 1
            for part in np.split(np.arange(len(acts)), ends):  # blocks in a row that are judged alike
                first, end = int(part[0]), int(part[-1]) + 1
                some, fields = data[first * source.block : end * source.block], stored[first:end]
                went = before + first * source.block
                bad = (
                    self.faulty._first_bad(twin, source, some, fields, went)
                    if acts[first]
                    else super()._first_bad(signature, source, some, fields, went)
                )
                if bad is not None:
                    return bad
            return None

        def escaped(self, flags: int, stored: Bytes) -> Flags | None:
            right = super().escaped(flags, stored)
            if "escaped" not in own:
                return right
            acts = by_block(moment.first_block, len(stored))
            wrong = self.faulty.escaped(flags, stored)
            none = np.zeros(len(stored), np.bool_)
            mixed: Flags = np.where(acts, none if wrong is None else wrong, none if right is None else right)
            return mixed if mixed.any() else None

    for name in WHOLE:
        if name in own:
            setattr(Gate, name, _whole(name, Gate, holds))
    return Gate


def _whole(name: str, owner: type[Any], holds: Any) -> Any:
    def method(self: Any, *given: Any) -> Any:
        return getattr(self.faulty if holds() else super(owner, self), name)(*given)

    return method
