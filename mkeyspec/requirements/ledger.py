"""The ledger of requirements: what each man page promises and demands, by id.

Read from `requirements/*.toml`, one file a page; `departures.toml` holds the ids a case may name
with `known`, and the open points.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mkeyspec.files import resource

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True, slots=True)
class Requirement:
    """One testable statement. `page` e.g. "mlx5dv_wr_mkey_configure(3)"; `section` "" where the page has none."""

    id: str
    title: str
    statement: str
    page: str
    section: str
    level: str
    observe: tuple[str, ...]
    positive: str
    negative: str
    negative_judged: str
    """How the negative half is seen: `claim` (a case claims it), `exactness` (each positive case does), `not`, ""."""
    negative_reason: str
    treatment: str
    """`strict`, `implementation` (the profile says which of several), or `untestable`."""
    reason: str
    note: str
    sentences: tuple[str, ...]
    """The page's sentences as `drift` stores them: number of words and hash, e.g. "18:f4cd64f70f2f"."""

    @property
    def wants_positive(self) -> bool:
        """Whether a case must show that it holds."""
        return self.treatment != "untestable" and bool(self.positive)

    @property
    def wants_negative(self) -> bool:
        """Whether a case must claim a refusal or a reported error."""
        return self.treatment != "untestable" and self.negative_judged == "claim"


@dataclass(frozen=True, slots=True)
class Departure:
    """A known difference (X-DIFF), suspected defect (X-BUG), open point (X-OPEN) or limit (X-LIM)."""

    id: str
    statement: str


def _load(name: str) -> dict[str, Any]:
    with (resource.directory("requirements") / name).open("rb") as file:
        return tomllib.load(file)


@lru_cache(maxsize=1)
def requirements() -> dict[str, Requirement]:
    """All entries of the ledger by id, in the order of the pages."""
    found: dict[str, Requirement] = {}
    for path in sorted(resource.directory("requirements").glob("*.toml")):
        if path.name == "departures.toml":
            continue
        table = _load(path.name)
        page = table.pop("page")
        for key, entry in table.items():
            found[key] = Requirement(
                id=key,
                title=entry["title"],
                statement=entry["statement"],
                page=entry.get("page", page),
                section=entry.get("section", ""),
                level=entry["level"],
                observe=tuple(entry["observe"]),
                positive=entry.get("positive", ""),
                negative=entry.get("negative", ""),
                negative_judged=entry.get("negative_judged", ""),
                negative_reason=entry.get("negative_reason", ""),
                treatment=entry["treatment"],
                reason=entry.get("reason", ""),
                note=entry.get("note", ""),
                sentences=tuple(entry.get("sentences", ())),
            )
    return found


@lru_cache(maxsize=1)
def departures() -> dict[str, Departure]:
    """All X- ids."""
    found: dict[str, Departure] = {}
    for key, entry in _load("departures.toml").items():
        if "page" in entry:
            text = f"the page: {entry['page']}; the driver: {entry['driver']}"
        elif "question" in entry:
            text = f"{entry['question']} ({entry['treatment']})"
        else:
            text = entry["finding"]
        found[key] = Departure(key, text)
    return found


@lru_cache(maxsize=1)
def ids() -> frozenset[str]:
    """What `verifies` may name."""
    return frozenset(requirements())


@lru_cache(maxsize=1)
def departure_ids() -> frozenset[str]:
    """What `known` may name: X-DIFF and X-BUG."""
    return frozenset(key for key in departures() if key.startswith(("X-DIFF", "X-BUG")))


def statement(requirement: str) -> str | None:
    """The sentence of an id, for messages; None if there is no such id."""
    if requirement in requirements():
        return requirements()[requirement].statement
    if requirement in departures():
        return departures()[requirement].statement
    return None
