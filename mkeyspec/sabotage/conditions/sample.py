"""A stratified sample of the conditional faults, and what it says about all of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from random import Random
from statistics import NormalDist

from mkeyspec.sabotage.conditions.catalogue import ConditionalFault

CONFIDENCE = 0.95


def drawn(faults: Mapping[str, ConditionalFault], size: int, seed: int) -> dict[str, ConditionalFault]:
    """`size` of them, or all where there are no more: of each requirement and dimension in proportion.

    Systematic: in the order of requirement and dimension, shuffled within each, every so-many-th from a random place.
    """
    if size >= len(faults):
        return dict(faults)
    rng = Random(seed)
    strata: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, fault in faults.items():
        strata[fault.requirement, fault.condition.dimension].append(key)
    ordered: list[str] = []
    for stratum in sorted(strata):
        rng.shuffle(strata[stratum])
        ordered += strata[stratum]
    step = len(ordered) / size
    start = rng.random() * step
    chosen = {ordered[int(start + number * step)] for number in range(size)}
    return {key: fault for key, fault in faults.items() if key in chosen}


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The score interval of a proportion (E. B. Wilson, JASA 22, 1927); (0, 1) of no trials."""
    if not trials:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate, weight = successes / trials, z * z / trials
    middle = (rate + weight / 2) / (1 + weight)
    half = z * math.sqrt(rate * (1 - rate) / trials + weight / (4 * trials)) / (1 + weight)
    return max(0.0, middle - half), min(1.0, middle + half)
