"""Each correction of each wrong input, as `mkeyspec check --fix` applies it: the finding is gone, and no new kind of
unreadable text has come."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.cli import fixes
from mkeyspec.compiler.compile import compile_file
from mkeyspec.diagnostics.diagnostic import Diagnostic, edits_of
from tests.ui.wrong.corpus import Wrong, answers, corpus

TWICE = {"fourth_ro_label_equals", "for_with_blanks", "for_label_with_equals"}
"""The same mistake is twice in the line and the correction is of the first alone, so the message stays."""

GUESSES = {"await_a_typo", "expect_len", "second_atomic_add"}
"""The word that is meant, where it brings another error into its line: nothing is applied."""


def _errors(found: list[Diagnostic]) -> list[Diagnostic]:
    return [one for one in found if one.severity == "error"]


def _applied(wrong: Wrong, directory: Path) -> tuple[list[Diagnostic], fixes.Corrected]:
    first = _errors(answers(wrong.text, directory, wrong.encoding))
    path = directory / "wrong.mks"

    def check(raw: bytes) -> list[Diagnostic]:
        return list(compile_file(path, root=directory, instead=raw).diagnostics)

    return first, fixes.correct(path, path.read_bytes(), check)


@pytest.mark.parametrize("wrong", corpus(), ids=lambda wrong: wrong.name)
def test_fix(wrong: Wrong, tmp_path: Path) -> None:
    first, done = _applied(wrong, tmp_path)
    with_fix = [one for one in first if edits_of(one)]
    if wrong.name in TWICE | GUESSES:
        assert not done.count
        return
    if not with_fix:
        return
    assert done.count, with_fix
    left = _errors(done.left)
    assert not {(one.code, one.message) for one in with_fix} & {(one.code, one.message) for one in left}
    unread = {one.code for one in left if one.code.startswith("MKS01")} - {one.code for one in first}
    assert not unread, left


def test_most_files_are_right_afterwards(tmp_path: Path) -> None:
    """The inputs have one mistake each. Where the corrected text has another error, it is one of its meaning."""
    corrected = right = 0
    for wrong in corpus():
        _, done = _applied(wrong, tmp_path)
        corrected += bool(done.count)
        right += bool(done.count) and not _errors(done.left)
    assert corrected >= 430
    assert right >= corrected - 20
