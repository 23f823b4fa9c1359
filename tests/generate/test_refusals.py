"""Refusals: which rules of the pages are broken on purpose, and that each is the only one."""

from __future__ import annotations

from pathlib import Path

from mkeyspec.compiler.check.rules import RULES as OF_THE_COMPILER
from mkeyspec.compiler.compile import compile_file
from mkeyspec.generate import refusals
from mkeyspec.generate.case import Case
from mkeyspec.generate.life import begin
from mkeyspec.generate.seed import Seed
from mkeyspec.generate.suite import text_of

ELSEWHERE = {"access_right", "invalidated_key"}
"""Broken by the life of a key."""
NOT_DRAWN = {
    "layout_too_short": "an open point: X-OPEN-04",
    "interleaved_room": "as list_room",
    "strided_entry": "who refuses it is open",
    "mkey_entries": "how far max_entries is rounded up is the device's",
    "setter_outside": "a departure: X-BUG-01",
    "too_few_setters": "an open point: X-DIFF-03",
    "bad_lkey": "what stands at the buffer's address under another key is not the case's to know",
    "update_tag": "to come",
    "destroyed_key": "the generator destroys no key",
    "destroyed_dek": "the generator destroys no DEK",
    "dek_in_use": "whether it is destroyed is open: the page is silent",
    "dek_key_size": "the generator sets no attribute of a DEK wrong",
    "dek_purpose": "as dek_key_size",
    "dek_comp_mask": "as dek_key_size",
    "dek_login": "as dek_key_size",
    "dek_wrapped": "the generator draws no login",
    "dek_import": "as dek_wrapped",
    "dek_query_login": "as dek_wrapped",
    "login_twice": "as dek_wrapped",
    "logout_without_login": "as dek_wrapped",
    "login_comp_mask": "as dek_wrapped",
    "login_credential": "as dek_wrapped",
    "login_objects": "as dek_wrapped",
    "inline_room": "the generator draws no inline",
    "check_without_signature": "the page is silent",
    "remote_invalidate_flag": "who sees it is open: X-OPEN-27",
    "memcpy_length": "to come",
    "receive_room": "to come",
    "dc_stream": "to come",
}


def test_every_rule_with_an_outcome_is_broken_or_has_its_reason() -> None:
    with_outcome = {rule.name for rule in OF_THE_COMPILER.values() if rule.phases}
    assert refusals.RULES | ELSEWHERE | set(NOT_DRAWN) == with_outcome
    assert not (refusals.RULES | ELSEWHERE) & set(NOT_DRAWN)


def test_each_breaks_one_rule(tmp_path: Path) -> None:
    """A claim without a reason is an error unless exactly one rule is broken (MKS0501, MKS0502)."""
    for number, name in enumerate(sorted(refusals.RULES)):
        case = Case(Seed(number).of_case(0), f"breaks_{name}")
        if name in refusals._ALONE:
            refusals._ALONE[name](case)
        else:
            fits, broken = refusals._CONFIGURATIONS[name]
            key = case.key(signature=name != "mkey_without_signature", crypto=name.startswith("crypto"))
            begin(case, key)
            assert fits(case, key)
            broken(case, key)
        path = tmp_path / f"{name}.mks"
        path.write_text(f'mks 1\nsuite "one rule"\n\n{text_of(case)}', encoding="utf-8")
        told = [one for one in compile_file(path, root=tmp_path).diagnostics if one.code not in ("MKS0602", "MKS0610")]
        assert not told, f"{name}: {told[0].code} {told[0].message}"
