"""Which rows of a suite come to which conditional faults of the software NIC: it runs once on the observed NIC.

Until a fault acts, the NIC with it and the NIC without it are one. So only rows in which it would have acted can kill
it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import Blocked, CaseFailed
from mkeyspec.sabotage.conditions import soft
from mkeyspec.sabotage.conditions.catalogue import ConditionalFault
from mkeyspec.sabotage.suite import Item, outcome

_Row = tuple[int, str, dict[str, int]]


@dataclass(slots=True)
class SoftReached:
    """`rows`: by id of a conditional fault, the places in the suite of the rows that come to it."""

    rows: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    failing: dict[int, str] = field(default_factory=dict)
    skipped: list[int] = field(default_factory=list)

    def of(self, fault: ConditionalFault) -> set[int]:
        """The rows that can kill a fault."""
        return set(self.rows.get(fault.id, ()))


def reach(
    items: Sequence[Item], faults: Mapping[str, ConditionalFault], make: Callable[[str], Rig], workers: int
) -> SoftReached:
    """What the rows come to, of these faults. `make`: a rig on a new NIC with a fault of this name."""
    place = {text: number for number, text in enumerate(soft.conditions())}
    wanted = [(one.id, one.base.name, place[str(one.condition)]) for one in faults.values()]
    found = SoftReached()
    for row, how, taken in sorted(_watched(items, make, workers)):
        if how == "skip":
            found.skipped.append(row)
        elif how != "pass":
            found.failing[row] = how
        else:
            for key, name, number in wanted:
                if taken.get(name, 0) >> number & 1:
                    found.rows[key].append(row)
    return found


def _watched(items: Sequence[Item], make: Callable[[str], Rig], workers: int) -> list[_Row]:
    """In processes of their own: which NIC a process has is settled when it opens it."""
    context = multiprocessing.get_context("fork")
    pipes = []
    for first in range(workers):
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=_tell, args=(there, items, range(first, len(items), workers), make))
        child.start()
        there.close()
        pipes.append((here, child))
    found: list[_Row] = []
    for here, child in pipes:
        found += here.recv()
        child.join()
    return found


def _tell(pipe: Any, items: Sequence[Item], rows: Sequence[int], make: Callable[[str], Rig]) -> None:
    soft.Observed.choose()
    rig = make(soft.OBSERVED)
    observed = soft.Observed()
    found: list[_Row] = []
    for row in rows:
        try:
            how = outcome(items[row], rig)
        except CaseFailed as failed:
            how = failed.failures[0].code
        except Blocked:
            how = "blocked"
        except Exception as error:
            how = f"error: {type(error).__name__}"
        found.append((row, how, observed.taken()))
        if how not in ("pass", "skip"):
            with contextlib.suppress(Exception):
                rig.device.close()
            rig = make(soft.OBSERVED)
    pipe.send(found)
    pipe.close()
