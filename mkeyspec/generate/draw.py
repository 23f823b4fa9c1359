"""Draws one case from a seed and its number."""

from __future__ import annotations

from mkeyspec.generate import life
from mkeyspec.generate.case import Case
from mkeyspec.generate.machine import Open
from mkeyspec.generate.seed import Seed

STEPS = (("use", 8), ("change", 4), ("whole", 1.5), ("invalidate", 1), ("retag", 1))


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
    kind = rng.choices(("plain", "signature", "crypto", "both"), (4, 8, 2, 2))[0]
    key = case.key(signature=kind in ("signature", "both"), crypto=kind in ("crypto", "both"))
    life.begin(case, key)
    for number in range(rng.choice((1, 2, 3, 4, 5, 6))):
        step = "use" if not number else rng.choices([one for one, _ in STEPS], [share for _, share in STEPS])[0]
        if step == "use":
            life.use(case, key)
        elif step == "change":
            life.change(case, key)
        elif step == "whole":
            life.begin(case, key)
        elif step == "invalidate":
            life.invalidate(case, key)
        else:
            life.retag(case, key)
    if step != "use":
        life.use(case, key)
    life.end(case)
