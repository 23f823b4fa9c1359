"""Draws one case from a seed and its number."""

from __future__ import annotations

from mkeyspec.generate import life, refusals, requests, sections
from mkeyspec.generate.case import Case
from mkeyspec.generate.machine import Key, Open
from mkeyspec.generate.seed import Seed

STEPS = {"use": 8.0, "change": 4.0, "whole": 1.5, "invalidate": 1.0, "retag": 1.0, "request": 1.5, "refuse": 1.6}
"""What happens to a key, and how often."""
KINDS = {"plain": 5, "signature": 8, "crypto": 2, "both": 2}


def draw(seed: Seed, index: int) -> Case:
    """Case number `index` of a seed, whole."""
    rng = seed.of_case(index)
    while True:
        case = Case(rng, f"g{index:05}")
        try:
            _fill(case)
        except Open:
            continue
        return case


def _fill(case: Case) -> None:
    rng = case.rng
    if rng.random() < 0.15:
        case.wide = True
        case.script.line("qp roomy { max_inline_data 828 }")
        case.script.draws("qp: roomy", "LST-04")
    keys = [_key(case) for _ in range(rng.choices((1, 2, 3, 4), (10, 3, 2, 1))[0])]
    case.script.draws(f"keys: {len(keys)}", "CFG-15")
    if rng.random() < (0.6 if len(keys) > 1 else 0.08):
        sections.in_flight(case, keys)
    for number in range(rng.choice((1, 2, 3, 4, 5, 6)) + len(keys) - 1):
        key = rng.choice(keys)
        if not key.usable:
            life.begin(case, key)
        step(case, key, "use" if not number else rng.choices(list(STEPS), list(STEPS.values()))[0])
    for key in keys:
        if not key.usable or rng.random() < 0.5:
            life.use(case, key)
    life.end(case)
    if rng.random() < 0.12:
        refusals.refuse_alone(case)


def _key(case: Case) -> Key:
    kind = case.rng.choices(list(KINDS), list(KINDS.values()))[0]
    return case.key(signature=kind in ("signature", "both"), crypto=kind in ("crypto", "both"))


def step(case: Case, key: Key, name: str) -> None:
    """What is called `name` in STEPS happens to a key that can be used. Raises Open."""
    match name:
        case "use":
            life.use(case, key)
        case "change":
            life.change(case, key)
        case "whole":
            life.begin(case, key)
        case "invalidate":
            life.invalidate(case, key)
        case "retag":
            life.retag(case, key)
        case "request":
            requests.request(case, key)
        case "refuse":
            refusals.refuse(case, key)
