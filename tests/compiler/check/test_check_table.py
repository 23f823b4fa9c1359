"""The table of rules against everything that refers to it: pages, ledger, errnos, ui tests."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from mkeyspec.compiler.check import RULES, Rule
from mkeyspec.compiler.compile import compile_file
from mkeyspec.device.profile.errno import ERRNO, UNDETECTED
from mkeyspec.diagnostics.codes import CODES, explanation
from mkeyspec.requirements.ledger import departure_ids, ids

UI = Path(__file__).parents[2] / "ui" / "rules"
PHASES = {"create", "complete", "completion", "mkey_check", "cancel", "destroy", "query", "login", "logout"}
ON_CLAIMS = {"MKS0501", "MKS0502", "MKS0503"}
OF_NAMES = {"MKS0608", "MKS0609", "MKS0610"}
"""Warnings that no step earns: tests/ui/names has them."""
WARNINGS = {code for code in CODES if code.startswith("MKS06")} - OF_NAMES


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_is_complete(rule: Rule) -> None:
    assert rule.requirement in ids()
    assert rule.code in CODES
    assert set(rule.phases) <= PHASES
    text = explanation(rule.code)
    assert text is not None
    assert rule.requirement in text.split("## Page")[1]
    # What is refused by a call has an errno, what shows in a completion has a status.
    assert (rule.name in ERRNO) == any(phase != "completion" for phase in rule.phases)


def test_codes_are_not_shared() -> None:
    assert len({rule.code for rule in RULES.values()}) == len(RULES)


def test_errnos_exist_and_belong_to_a_rule() -> None:
    assert set(ERRNO) <= set(RULES)
    assert set(UNDETECTED) <= set(ERRNO)
    assert all(hasattr(errno, name) for name in ERRNO.values())
    assert {departure for departure in UNDETECTED.values() if departure} <= departure_ids()


def test_every_code_has_a_ui_test_or_is_only_written_on_purpose() -> None:
    marked = {code for path in UI.glob("*.mks") for code in re.findall(r"#~\^* (MKS\d{4})", path.read_text())}
    on_purpose = {RULES[name].code for name in purposes()}
    assert not marked & on_purpose
    wanted = {rule.code for rule in RULES.values()} | ON_CLAIMS | WARNINGS
    assert wanted - marked - on_purpose == set(), "without a `#~ CODE` in tests/ui/rules"
    assert marked | on_purpose == wanted


def purposes() -> dict[str, set[str | None]]:
    """Case names of on_purpose.mks, which are rules, and what their claims are pinned to."""
    compiled = compile_file(UI / "on_purpose.mks", root=UI)
    assert compiled.suite is not None
    assert all(case.title == RULES[case.name].code for case in compiled.suite.cases)
    return {
        case.name: {
            getattr(outcome, "rule", None)
            for row in case.rows
            for step in row.steps
            for outcome in getattr(step, "claim", ())
        }
        for case in compiled.suite.cases
    }


def test_what_is_wrong_on_purpose_is_pinned() -> None:
    for name, pinned in purposes().items():
        assert pinned == {name}
