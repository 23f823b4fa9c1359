"""Chooses the walks of cases/mkey/sequences.mks: events of a key's life in a row, so that few rows have many pairs.

`python -m tests.quality.walks ROWS LENGTH` prints them. Greedy, with a fixed seed: the next event is one that the key
can have then, and that makes the most transitions and pairs of transitions that the other cases do not have.
"""

from __future__ import annotations

import itertools
import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from mkeyspec.project.source import compile_source
from mkeyspec.requirements.life import EMPTY, Chain, LifeCoverage, events

ROOT = Path(__file__).resolve().parents[2]
USES = ("sent", "received", "read_remotely", "written_remotely")
BARE = ("atomic", "memcpy", "entry")
SIGNATURES = ("configure_signature", "same_type", "other_type", "other_domains")


@dataclass(frozen=True)
class State:
    """`known`: the signature is; `signed`: there is one. `wrong`: an error waits. `tagged`: since the last
    configuration. `live`: configured since it was made invalid.
    `unknown`: since an abort or a refusal; `dirty`: not configured whole since then.
    `armed`: configured since an error was told (X-DIFF-23)."""

    access: bool = False
    layout: bool = False
    known: bool = True
    signed: bool = False
    wrong: bool = False
    tagged: bool = False
    live: bool = False
    unknown: bool = False
    dirty: bool = False
    armed: bool = True


def can(state: State, event: str, done: Chain) -> bool:
    """Whether the event can come in this state, after these events, and the references say what follows."""
    usable = state.access and state.layout and state.known and not state.tagged
    if event in USES:
        return usable
    if event in BARE:
        return usable and not state.signed and not state.wrong
    if event == "bad_block":
        return usable and state.signed and not state.wrong and not state.dirty and state.armed
    if event == "told_error":
        return state.wrong and done[-1] != "create"
    if state.wrong and done[-1] in EMPTY:
        return event == "told_error"
    if event == "told_ok":
        return not state.wrong and not state.unknown and done[-1] != "create"
    if event == "reset" and state.wrong:
        return False
    if event in ("local_inv", "remote_inv"):
        return state.live and not state.tagged and not (event == "remote_inv" and state.unknown)
    if event == "configure_signature":
        return not state.signed
    if event in SIGNATURES:
        return state.signed and not state.wrong
    if event == "refused_use":
        return not state.unknown
    if event == "cancel":
        return "cancel" not in done
    return event not in ("create", "destroy", "configure_crypto")


def after(state: State, event: str) -> State:
    """The state after an event."""
    if event in EMPTY:
        unknown = state.unknown or event in ("abort", "refused")
        return replace(
            state, access=False, layout=False, known=False, live=False, unknown=unknown, dirty=unknown or state.dirty
        )
    if event == "retag":
        return replace(state, tagged=True)
    if event == "bad_block":
        return replace(state, wrong=True)
    if event == "told_error":
        return replace(state, wrong=False, armed=False)
    changes: dict[str, bool] = {}
    if event.startswith(("configure", "mr_", "reset")) or event in SIGNATURES:
        changes = {"tagged": False, "live": True, "armed": True}
    if event in ("configure_all", "mr_list", "mr_interleaved"):
        changes |= {"access": True, "layout": True}
        if event == "configure_all" and not state.known:
            changes |= {"known": True, "signed": False, "dirty": False}
    if event == "configure_access":
        changes["access"] = True
    if event == "configure_layout":
        changes["layout"] = True
    if event in SIGNATURES:
        changes |= {"known": True, "signed": True}
    if event == "reset":
        changes |= {"known": True, "signed": False}
    found = replace(state, **changes)
    return replace(found, unknown=found.unknown and not (found.access and found.layout and found.known))


def others() -> LifeCoverage:
    """What the other shipped cases have."""
    found = LifeCoverage()
    for path in sorted((ROOT / "cases").rglob("*.mks")):
        suite = compile_source(path, ROOT).suite
        if suite is None or path.name == "sequences.mks":
            continue
        for case in suite.cases:
            for row in case.rows:
                found.add(row)
    return found


def walks(rows: int, length: int) -> list[Chain]:
    """So many walks of so many events after the creation; fewer if nothing is left."""
    rng = random.Random(1)
    covered = others()
    left = set(covered.missing()) | set(covered.missing_pairs())
    found = []
    for _ in range(rows):
        _, walk = max((_walk(rng, length, left) for _ in range(60)), key=lambda one: one[0])
        if not walk:
            break
        left -= _chains(walk)
        found.append(walk[1:])
    print(f"{len(left)} transitions and pairs are left", file=sys.stderr)
    return found


def _walk(rng: random.Random, length: int, left: set[Chain]) -> tuple[int, Chain]:
    """One walk from the creation on, and how much it makes; nothing if an error would not be told."""
    state = State()
    walk: Chain = ("create",)
    while len(walk) <= length:
        options = [name for name in events() if can(state, name, walk)]
        rng.shuffle(options)
        seen = _chains(walk)
        name = max(options, key=lambda one, walk=walk, seen=seen: _gain((*walk, one), left - seen))  # type: ignore[misc]
        state, walk = after(state, name), (*walk, name)
    return (0, ()) if state.wrong else (_gain(walk, left), walk)


def _gain(walk: Chain, left: set[Chain]) -> int:
    return sum(6 if len(chain) == 2 else 1 for chain in _chains(walk) & left)


def _chains(walk: Chain) -> set[Chain]:
    groups = [events()[name].group for name in walk]
    return {*itertools.pairwise(walk), *zip(groups, groups[1:], groups[2:], strict=False)}


if __name__ == "__main__":
    for walk in walks(int(sys.argv[1]), int(sys.argv[2])):
        print("        (" + ", ".join(f'"{name}"' for name in walk) + "),")
