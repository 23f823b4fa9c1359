"""The life of a key as the rows of a suite have it: which event comes after which, and what no row has.

Read from `requirements/space/life.toml`: the events, and what can't come after what. The events of a row are those of
its plan, key by key: no list is kept by hand. A *transition* is two events in a row; a *pair* of transitions is three,
told apart by their groups.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, product

from mkeyspec import plan
from mkeyspec.files import resource
from mkeyspec.plan.claim import is_rejected, rejected_at
from mkeyspec.plan.request import Atomic, Configure, Invalidate, Memcpy, MrInterleaved, MrList, Send
from mkeyspec.value.layout import Layout
from mkeyspec.value.signature import Domain

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Chain = tuple[str, ...]
"""Events in a row, or their groups."""

EMPTY = frozenset({"create", "local_inv", "remote_inv", "abort", "refused"})
"""Events after which a key has no configuration, or one that is unknown."""
PARTIAL = frozenset(
    [
        "configure_access",
        "configure_layout",
        "configure_signature",
        "same_type",
        "other_type",
        "other_domains",
        "configure_crypto",
        "reset",
        "configure_none",
    ]
)
"""Configurations that do not name both access and layout: such a key can't be used if it had none."""


IDLE = frozenset({"retag", "qp_error", "refused_use", "cancel", "told_ok", "configure_none"})
"""Events that leave a key's configuration as it was."""


@dataclass(frozen=True, slots=True)
class Event:
    """`use`: a successful use, for which a key must be configured. `not_after`: events that it can't follow."""

    name: str
    what: str
    group: str
    use: bool
    not_after: frozenset[str]
    why: str


@lru_cache(maxsize=1)
def events() -> dict[str, Event]:
    """Every event by name, in the order of the file."""
    with (resource.directory("requirements") / "space" / "life.toml").open("rb") as file:
        table = tomllib.load(file)
    return {
        name: Event(
            name,
            entry["what"],
            entry.get("group", name),
            entry.get("use", False),
            frozenset(entry.get("not_after", ())),
            entry.get("why", ""),
        )
        for name, entry in table.items()
    }


def can_follow(first: str, second: str) -> bool:
    """Whether an event can come right after another one."""
    event = events()[second]
    if first == "destroy" or "*" in event.not_after or first in event.not_after:
        return False
    return not (event.use and first in EMPTY | {"retag"})


def _can_be(chain: Chain) -> bool:
    if not all(can_follow(first, second) for first, second in pairwise(chain)):
        return False
    if len(chain) < 3:
        return True
    first, second, third = chain
    if first in EMPTY and third == "bad_block":
        return second not in PARTIAL | {"mr_list", "mr_interleaved"}
    if first in EMPTY and events()[third].use:
        return second not in PARTIAL
    # What stands between may leave the key as it was.
    if second in IDLE and not can_follow(first, third) and first != third:
        return False
    return not (second == "told_ok" and third == "told_error")


@lru_cache(maxsize=1)
def transitions() -> tuple[Chain, ...]:
    """Every two events that can be in a row."""
    return tuple(chain for chain in product(events(), repeat=2) if _can_be(chain))


@lru_cache(maxsize=1)
def pairs() -> tuple[Chain, ...]:
    """Every three groups of events that can be in a row."""
    return tuple(dict.fromkeys(_groups(chain) for chain in product(events(), repeat=3) if _can_be(chain)))


def _groups(chain: Chain) -> Chain:
    return tuple(events()[name].group for name in chain)


@dataclass(slots=True)
class LifeCoverage:
    """Filled row by row."""

    seen: set[Chain] = field(default_factory=set)
    seen_pairs: set[Chain] = field(default_factory=set)

    def add(self, row: plan.Row) -> None:
        """The lives of the keys of one row."""
        for life in lives(row):
            for first, second in pairwise(life):
                self.seen.update(product(first, second))
            grouped = [{events()[name].group for name in names} for names in life]
            for three in zip(grouped, grouped[1:], grouped[2:], strict=False):
                self.seen_pairs.update(product(*three))

    def missing(self) -> list[Chain]:
        """The transitions that can be and that no row has."""
        return [chain for chain in transitions() if chain not in self.seen]

    def missing_pairs(self) -> list[Chain]:
        """The pairs of transitions that can be and that no row has."""
        return [chain for chain in pairs() if chain not in self.seen_pairs]


def lives(row: plan.Row) -> list[list[frozenset[str]]]:
    """The events of each mkey of a row, in order; one thing that happens may be several events."""
    found = {step.name: _Life() for step in row.steps if isinstance(step, plan.Mkey) and not is_rejected(step.claim)}
    over: list[_Life] = []
    for step in row.steps:
        if isinstance(step, plan.Mkey) and step.name in found and found[step.name].created:
            over.append(found[step.name])  # of the turn before: this one is another key
            found[step.name] = _Life()
        _step(found, step)
    return [[*one.events, frozenset({"destroy"})] for one in (*over, *found.values())]


class _Life:
    """One key's events, and the domains that it was given last."""

    __slots__ = ("created", "domains", "events", "used")

    def __init__(self) -> None:
        self.events: list[frozenset[str]] = [frozenset({"create"})]
        self.domains: tuple[Domain | None, Domain | None] | None = None
        self.created = False
        self.used: int | None = None
        """Where the last use is among the events."""

    def add(self, *names: str) -> None:
        self.events.append(frozenset(names))


def _step(keys: dict[str, _Life], step: plan.Step) -> None:
    if isinstance(step, plan.Mkey):
        if step.name in keys:
            keys[step.name].created = True
    elif isinstance(step, plan.Post):
        _post(keys, step)
    elif isinstance(step, (plan.Transmit, plan.Receive)):
        failed = is_rejected(step.claim)
        _use(keys, step.ends(), failed=failed)
        if failed:
            _qp_error(keys, {step.part.name})
    elif isinstance(step, plan.Recv):
        for name in {part.name for part in step.into if part.name in keys}:
            _used(keys[name], "received")
    elif isinstance(step, plan.Check):
        _check(keys[step.mkey], step)
    elif isinstance(step, plan.Retag):
        keys[step.mkey].add("retag")
    elif isinstance(step, plan.Cancel):
        for one in _created(keys):
            one.add("cancel")


def _created(keys: dict[str, _Life]) -> Iterator[_Life]:
    return (one for one in keys.values() if one.created)


def _post(keys: dict[str, _Life], step: plan.Post) -> None:
    refused = rejected_at(step.claim, "complete") and is_rejected(step.claim)
    failed = rejected_at(step.claim, "completion") and is_rejected(step.claim)
    if step.abort or refused:
        for name in {name for request in step.requests for name in request.changes() if name in keys}:
            keys[name].add("abort" if step.abort else "refused")
        return
    involved: set[str] = set()
    for request in step.requests:
        involved.update(end.part.name for end in request.ends())
        involved.update(request.changes())
        if isinstance(request, (Configure, MrList, MrInterleaved)) and request.mkey in keys:
            _configure(keys, request)
        elif isinstance(request, Invalidate) and request.mkey in keys:
            keys[request.mkey].add("refused_use" if failed else "local_inv")
        elif isinstance(request, Send) and request.invalidate in keys and not failed:
            keys[request.invalidate].add("remote_inv")
        if isinstance(request, (Atomic, Memcpy)):
            way = "memcpy" if isinstance(request, Memcpy) else "atomic"
            for name in {end.part.name for end in request.ends() if end.part.name in keys}:
                _used(keys[name], "refused_use" if failed else way)
        else:
            _use(keys, request.ends(), failed=failed)
    if failed:
        _qp_error(keys, involved)


def _qp_error(keys: dict[str, _Life], involved: set[str]) -> None:
    for name, one in keys.items():
        if one.created and name not in involved:
            one.add("qp_error")


def _configure(keys: dict[str, _Life], request: Configure | MrList | MrInterleaved) -> None:
    one = keys[request.mkey]
    layout = request.layout_given()
    if layout is not None:
        for name in _named(layout):
            if name in keys and name != request.mkey:
                keys[name].add("entry")
    if not isinstance(request, Configure):
        one.add(request.word)
        return
    words = {setter.word for setter in request.setters}
    names = set()
    if request.reset_signature:
        names.add("reset")
    if {"access", "layout"} <= words:
        names.add("configure_all")
    elif "access" in words:
        names.add("configure_access")
    elif "layout" in words:
        names.add("configure_layout")
    if "crypto" in words:
        names.add("configure_crypto")
    given = request.domains_left()
    if given is not None and "signature" in words:
        names.update(_signature(one.domains, given))
    one.domains = given if given is not None else one.domains
    one.add(*(names or {"configure_none"}))


def _signature(
    before: tuple[Domain | None, Domain | None] | None, after: tuple[Domain | None, Domain | None]
) -> Iterator[str]:
    if before is None or before == (None, None):
        yield "configure_signature"
        return
    if [one is None for one in before] != [one is None for one in after]:
        yield "other_domains"
    first = next(one.signature for one in before if one is not None)
    second = next((one.signature for one in after if one is not None), first)
    yield "same_type" if first.kind == second.kind else "other_type"


def _named(layout: Layout) -> set[str]:
    return {part.name for part in layout.targets()}


def _use(keys: dict[str, _Life], ends: Iterable[plan.End], *, failed: bool) -> None:
    done: set[tuple[str, str]] = set()
    for end in ends:
        if end.part.name not in keys:
            continue
        way = {
            (False, False): "sent",
            (False, True): "received",
            (True, False): "read_remotely",
            (True, True): "written_remotely",
        }[end.use.remote, end.use.writes]
        way = "refused_use" if failed else way
        if (end.part.name, way) not in done:
            done.add((end.part.name, way))
            _used(keys[end.part.name], way)


def _used(one: _Life, way: str) -> None:
    one.add(way)
    if way != "refused_use":
        one.used = len(one.events) - 1


def _check(one: _Life, step: plan.Check) -> None:
    if "ok" in step.kind:
        if len(step.kind) == 1 and not is_rejected(step.claim):
            one.add("told_ok")
        return
    if one.used is not None:
        one.events[one.used] |= {"bad_block"}
    one.add("told_error")
