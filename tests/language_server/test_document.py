"""A document after changes is the one that is opened with the same text; and it says what `mkeyspec check` says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from mkeyspec.language_server.document import Document, changed, opened, read_again, with_whole
from mkeyspec.language_server.place import place_of
from mkeyspec.language_server.reading import OF_THE_WHOLE_FILE
from mkeyspec.language_server.text import Text
from mkeyspec.language_server.whole import compiled
from mkeyspec.project.source import compile_source
from tests.language_server.marked import HEAD, ROOT, document

FILES = sorted((ROOT / "cases" / "signature").glob("*.mks"))[::4]


def quick(found: Document) -> list[tuple[str, int, int]]:
    """What reading has found, but for what only the whole file can tell."""
    all_of_it = [
        (one.code, one.start + piece.start, one.end + piece.start) for piece in found.pieces for one in piece.quick
    ]
    return sorted(one for one in all_of_it if one[0] not in OF_THE_WHOLE_FILE)


def names(found: Document) -> list[tuple[int, int, str, str]]:
    """The names of the cases; those of a setup in the head are known by the cases that use it."""
    return sorted(
        (one.start + piece.start, one.end + piece.start, one.name, one.level)
        for piece in found.pieces[1:]
        for one in piece.occurrences
    )


def mangled(text: str, chance: random.Random) -> tuple[int, int, str]:
    """A change as a keystroke makes it, or one that takes lines away or brings them twice."""
    start = chance.randrange(len(text) + 1)
    match chance.randrange(6):
        case 0:
            return start, min(len(text), start + chance.randrange(1, 80)), ""
        case 1:
            begin = text.rfind("\n", 0, start) + 1
            end = text.find("\n", start) + 1 or len(text)
            return begin, begin, text[begin:end]
        case 2:
            return start, start, chance.choice(["case x\n", "\ncase x\n", "{", "}", "(", ")", '"', "#", ";", "\n", " "])
        case _:
            return start, start, chance.choice(["x", "1", "mem", " every ", ",", ".", "\t", "é", "😀", "\ud800"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_changes_are_as_opening(path: Path) -> None:
    chance = random.Random(path.stem)
    place = place_of(path)
    text = path.read_text("utf-8")
    after = opened("", 0, text, place)
    for number in range(1, 9):
        start, end, new = mangled(after.text.value, chance)
        places = after.text.position(start), after.text.position(end)
        after = changed(after, number, [(*places, new)])
        again = opened("", 0, after.text.value, place)
        now = after if after.is_read else read_again(after)
        assert now.text.value == again.text.value
        assert quick(now) == quick(again)
        assert names(now) == names(again)


@pytest.mark.parametrize("folder", ["names", "rules", "syntax", "values"])
def test_what_check_says(folder: str) -> None:
    """The files of tests/ui: each diagnostic, once, at its place."""
    paths = sorted((ROOT / "tests" / "ui" / folder).glob("*.mks"))[::9]
    assert paths
    for path in paths:
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        place = place_of(path)
        found = opened("", 0, text, place)
        found = with_whole(found, compiled(place, found.compiled_text))
        said = compile_source(path, place.project).diagnostics
        here = [(one.code, one.span.start) for one in said if one.span.source.path == path]
        assert [(one.code, one.start) for one in found.findings() if one.start or here] == sorted(
            here, key=lambda one: (one[1], one[0])
        ), path


def test_a_change_of_one_case_reads_that_case() -> None:
    before = document(HEAD + "\ncase second\n    memory m = counter(4)\n")
    after = changed(before, 2, [(before.text.position(len(HEAD) + 14), before.text.position(len(HEAD) + 14), "x")])
    assert [now is then for now, then in zip(after.pieces, before.pieces, strict=True)] == [True, False, False]
    assert after.pieces[1].reading is before.pieces[1].reading
    assert after.pieces[2].reading is not before.pieces[2].reading


@pytest.mark.parametrize(
    ("name", "code"),
    [("first", "MKS0202"), ("pytestmark", "MKS0224")],
    ids=["a mistake in the case", "a mistake in its name"],
)
def test_a_name_that_two_cases_have_hides_nothing_else(name: str, code: str) -> None:
    """A change reads one case alone, which does not show that there is another one of its name."""
    text = f"mks 1\ncase {name}\ncase {name}\n    let b = unknown\n"
    before = document(text)
    assert {"MKS0119", code} <= {one.code for one in before.pieces[2].quick}
    end = before.text.position(len(text))
    after = changed(before, 2, [(end, end, "    # a comment\n")])
    assert quick(after) == quick(document(after.text.value))


def test_what_compiling_said_moves_with_its_case() -> None:
    """`expect m == counter(64)` right below the declaration can't fail (MKS0612): only compiling finds that."""
    wrong = "\ncase second\n    memory m = counter(64)\n    expect m == counter(64)\n"
    before = document(HEAD + wrong, whole=True)
    [told] = [one for one in before.findings() if one.code == "MKS0612"]
    assert before.text.value[told.start : told.end] == "expect m == counter(64)"
    line = before.text.position(HEAD.index("    transmit"))
    after = changed(before, 2, [(line, line, "    # a comment\n    x\n")])
    [told] = [one for one in after.findings() if one.code == "MKS0612"]
    assert after.text.value[told.start : told.end] == "expect m == counter(64)"
    assert "MKS0210" in {one.code for one in after.findings()}


def test_what_compiling_said_of_another_text_is_not_taken() -> None:
    found = document(HEAD)
    other = compiled(found.place, found.compiled_text + "\ncase second\n")
    assert with_whole(found, other) is found


def test_a_large_text_is_not_read() -> None:
    large = document("#" * (10 << 20))
    assert large.too_large
    assert not large.pieces
    assert changed(large, 2, ["mks 1\n"]).pieces
    assert Text("").lines == 1


def test_files_open_in_the_editor_are_used_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "mkeyspec.toml").write_text("", "utf-8")
    (tmp_path / "lib.mks").write_text("mks 1\nlet size = 4\n", "utf-8")
    text = 'mks 1\nuse "lib.mks"\ncase a\n    memory m = counter(sizes)\n'
    path = tmp_path / "a.mks"
    assert "MKS0202" in {one.code for one in opened("", 1, text, place_of(path)).findings()}
    unsaved = place_of(path, {tmp_path / "lib.mks": b"mks 1\nlet sizes = 4\n"})
    assert opened("", 1, text, unsaved).findings() == []
    assert "MKS0202" not in {one.code for piece in compiled(unsaved, text).found for one in piece}
