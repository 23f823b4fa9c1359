"""Every entry of the ledger is well formed, and every departure is either shown by a case or explained."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from mkeyspec import plan
from mkeyspec.requirements.ledger import Requirement, departure_ids, departures, requirements
from tests.shipped import compiled

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
FINDINGS = ROOT / "docs" / "findings"
LEVELS = {"must", "caller", "limit", "permission", "information"}
OBSERVED = {
    "wire bytes", "memory bytes", "completion status", "completion opcode", "number of completions", "async event",
    "ibv_wr_complete", "mlx5dv_mkey_check", "QP creation", "return value", "send queue bytes", "destruction",
}  # fmt: skip
FIELDS = {
    "title", "statement", "page", "section", "level", "observe", "positive", "negative", "negative_judged",
    "negative_reason", "treatment", "reason", "note", "sentences",
}  # fmt: skip
NUMBERS = {
    "ACC": 7, "CFG": 25, "CRC": 8, "CRY": 4, "DIF": 15, "INT": 11, "LAY": 5, "LST": 6, "MKY": 11, "MSK": 19, "SIG": 28,
    "WRP": 35, "XCAN": 7, "XCHK": 9, "XCRY": 28,
}  # fmt: skip
"""How many entries each group has: ids are kept, and none is used twice."""

ALGORITHMS = {"CRC-16", "CRC-32", "CRC-64"}
"""Names that look like ids."""

ENTRIES = [pytest.param(one, id=one.id) for one in requirements().values()]


def test_every_id_is_there_once() -> None:
    assert set(requirements()) == {f"{group}-{n:02}" for group, most in NUMBERS.items() for n in range(1, most + 1)}


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("mlx5dv_*.toml")), ids=lambda path: str(path.stem))
def test_a_file_is_of_its_page_and_says_which_version(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    table = tomllib.loads(text)
    assert table.pop("page") == f"{path.stem}(3)"
    assert re.search(r"^# Checked against the page (of|as of|at) .*20\d\d-\d\d-\d\d", text, re.M)
    for key, entry in table.items():
        assert set(entry) <= FIELDS, key


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_well_formed(entry: Requirement) -> None:
    assert re.fullmatch(r"[A-Z]+-\d\d", entry.id)
    assert entry.page.startswith("mlx5dv_")
    assert entry.page.endswith("(3)")
    assert 3 <= len(entry.title) <= 60, "a title is short"
    assert entry.statement.endswith(".")
    assert entry.statement.rstrip(".") != entry.title
    assert entry.section, "where in the page"
    assert entry.level in LEVELS
    assert entry.observe
    assert set(entry.observe) <= OBSERVED
    assert entry.positive or entry.negative
    assert entry.treatment in {"strict", "implementation", "untestable"}
    assert (entry.treatment == "untestable") == bool(entry.reason)
    assert entry.sentences, "an anchor for drift"
    for sentence in entry.sentences:
        assert re.fullmatch(r"[1-9]\d*:[0-9a-f]{12}", sentence)
    assert len(set(entry.sentences)) == len(entry.sentences)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_negative_half_says_how_it_is_judged(entry: Requirement) -> None:
    if entry.treatment == "untestable":
        return
    assert bool(entry.negative) == bool(entry.negative_judged)
    assert entry.negative_judged in {"", "claim", "exactness", "not"}
    assert (entry.negative_judged == "not") == bool(entry.negative_reason)
    if entry.negative_judged == "exactness":
        assert entry.positive, "what every positive case proves needs a positive case"


@pytest.mark.parametrize("entry", ENTRIES)
def test_notes_name_ids_that_exist(entry: Requirement) -> None:
    text = " ".join((entry.statement, entry.positive, entry.negative, entry.negative_reason, entry.reason, entry.note))
    named = re.findall(r"\b(?:X-[A-Z]+|[A-Z]{3,4})-\d\d\b", text)
    assert {one for one in named if one not in departures() and one not in requirements()} <= ALGORITHMS


# Departures ------------------------------------------------------------------------------------


def known_ids(suite: plan.Suite) -> dict[str, set[str]]:
    """Id to the cases of a suite whose statements carry it after `known`."""
    found: dict[str, set[str]] = defaultdict(set)
    for case in suite.cases:
        for row in case.rows:
            for step in row.steps:
                known: plan.Known | None = getattr(step, "known", None)
                if known is not None:
                    found[known.id].add(case.name)
    return found


@pytest.fixture(scope="module")
def suites() -> dict[str, plan.Suite]:
    """The shipped suites by path from the root."""
    paths = sorted((ROOT / "cases").rglob("*.mks"))
    return {path.relative_to(ROOT).as_posix(): compiled(path) for path in paths}


@pytest.fixture(scope="module")
def shown(suites: dict[str, plan.Suite]) -> set[str]:
    return {one for suite in suites.values() for one in known_ids(suite)}


def listed() -> set[str]:
    found: set[str] = set()
    for path in sorted((ROOT / "expectations").glob("*.toml")):
        for table in tomllib.loads(path.read_text(encoding="utf-8")).get("shows", []):
            found |= set(table["ids"])
    return found


def test_what_is_expected_has_a_page_and_a_case(shown: set[str]) -> None:
    for one in sorted(listed()):
        assert one in departure_ids()
        assert (FINDINGS / f"{one}.md").is_file(), f"{one} is expected of a device, and has no finding"
        assert one in shown, f"{one} is expected of a device, and no case says `known {one}`"


def test_what_a_case_calls_known_has_a_page(shown: set[str]) -> None:
    for one in sorted(shown):
        assert (FINDINGS / f"{one}.md").is_file(), f"a case says `known {one}`, and there is no finding"


def test_every_departure_is_shown_or_explained() -> None:
    readme = (FINDINGS / "README.md").read_text(encoding="utf-8")
    pages = {path.stem for path in FINDINGS.glob("X-*.md")}
    linked = set(re.findall(r"^\| \[(X-[A-Z]+-\d\d)\]", readme, re.M))
    explained = set(re.findall(r"^\| (X-[A-Z]+-\d\d) \|", readme, re.M))
    assert linked == pages
    assert not pages & explained
    assert departure_ids() <= pages | explained
    assert pages | explained <= set(departures())


@pytest.mark.parametrize("path", sorted(FINDINGS.glob("X-*.md")), ids=lambda path: str(path.stem))
def test_a_finding_says_how_to_see_it(path: Path, suites: dict[str, plan.Suite]) -> None:
    text = path.read_text(encoding="utf-8")
    for part in ("**The page.**", "**The driver.**", "**To see it:**", "**Since**", "**What could be done.**"):
        assert part in text
    assert text.startswith(f"# {path.stem}: ")
    target = re.search(r"^mkeyspec run '(cases/[^:]+)::(\w+)(?:\[(.*)\])?' --device soft", text, re.M)
    if target is None:
        assert "mkeyspec requirements drift" in text
        return
    file, name, row = target.groups()
    case = next((one for one in suites[file].cases if one.name == name), None)
    assert case is not None, f"{file} has no case {name}"
    assert row is None or row in {one.id for one in case.rows}, f"{name} has no row [{row}]"
    if f"`known {path.stem}`" in text:
        assert name in known_ids(suites[file])[path.stem]


ELSEWHERE = {
    "X-OPEN-01": "lengths are wire bytes in every case",
    "X-OPEN-13": "settled by published values",
    "X-OPEN-16": "the rig polls all of the owner's CQs in every check",
    "X-OPEN-21": "X-DIFF-10 is the same question",
}


def test_every_open_point_is_in_a_case_or_a_point_of_the_profile() -> None:
    """X-OPEN: one of several, recorded, or chosen by the profile; never a guess that isn't called one."""
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "cases").rglob("*.mks"))
    text += (ROOT / "mkeyspec" / "device" / "profile" / "profile.py").read_text(encoding="utf-8")
    missing = {one for one in departures() if one.startswith("X-OPEN") and one not in text}
    assert missing == set(ELSEWHERE)
