"""Wrong inputs get a good answer: one error, at the right place, with the cause and what to write.

`python tests/ui/wrong/test_wrong.py` prints the ratings of `rating.toml` as a table.
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path

import pytest

from mkeyspec.compiler.known_mistakes import LONGEST, check_table, mistakes
from mkeyspec.diagnostics import render
from mkeyspec.diagnostics.diagnostic import corrected, edits_of
from tests.ui.wrong.corpus import FRAMES, Wrong, answers, corpus, judged, place_of, told

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent

CORPUS = [wrong for wrong in corpus() if not wrong.still]
STILL_BAD = [wrong for wrong in corpus() if wrong.still]
RATING = tomllib.loads((HERE / "rating.toml").read_text(encoding="utf-8"))
each_input = pytest.mark.parametrize("wrong", CORPUS, ids=lambda wrong: f"{wrong.file}::{wrong.name}")


@each_input
def test_one_answer_at_the_place_with_advice(wrong: Wrong, tmp_path: Path) -> None:
    found = judged(wrong, answers(wrong.text, tmp_path, wrong.encoding))
    shown = render.text(found)
    assert len(found) == 1, f"one mistake, {len(found)} findings:\n{shown}"
    [one] = found
    assert place_of(one) == (wrong.line, wrong.column), shown
    assert one.code == wrong.code, shown
    assert wrong.says in one.message, shown
    assert wrong.advice.lower() in told(one).lower(), shown


@each_input
def test_correction(wrong: Wrong, tmp_path: Path) -> None:
    """The correction is the one that a user would make. After it nothing is wrong above, nor is the same wrong."""
    [one] = judged(wrong, answers(wrong.text, tmp_path, wrong.encoding))
    edits = edits_of(one)
    if wrong.fixed is not None:
        assert edits, f"no correction:\n{render.text([one])}"
    if not edits:
        return
    text = corrected(wrong.text, edits)
    if wrong.fixed is not None:
        assert text == wrong.fixed, render.text([one])
    left = [error for error in answers(text, tmp_path) if error.severity == "error"]
    before = [place_of(error) for error in left if place_of(error)[0] < wrong.line]
    same = [error for error in left if (place_of(error), error.message) == (place_of(one), one.message)]
    assert not before + same, f"{text}\n{render.text(left)}"


@pytest.mark.parametrize("wrong", STILL_BAD, ids=lambda wrong: wrong.name)
def test_still_bad(wrong: Wrong, tmp_path: Path) -> None:
    """An answer that has become good is no longer called bad: take `still` out of the file."""
    found = judged(wrong, answers(wrong.text, tmp_path, wrong.encoding))
    good = len(found) == 1 and place_of(found[0]) == (wrong.line, wrong.column)
    assert not (good and wrong.advice.lower() in told(found[0]).lower()), render.text(found)


@pytest.mark.parametrize("frame", ["strip", "lists", "reports", "posts", "crypto", "covered", "labels", "used"])
def test_frames_of_edits_are_right(frame: str, tmp_path: Path) -> None:
    """A file with one mistake is right without it."""
    assert not answers(FRAMES[frame].lstrip("\n"), tmp_path)


def test_corrections_for_programs(tmp_path: Path) -> None:
    """JSON has the edits with lines and columns, SARIF has them as `fixes`."""
    found = answers("mks 1\nconst n = 4\n\ncase c\n    verifies LAY-05\n    memory m[n]\n", tmp_path)
    [one] = json.loads(render.json_document(found))["diagnostics"]
    assert one["fix"] == [{"line": 2, "column": 1, "end_line": 2, "end_column": 6, "text": "let"}]
    [result] = json.loads(render.sarif(found))["runs"][0]["results"]
    [change] = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "wrong.mks"
    [replacement] = change["replacements"]
    assert replacement["insertedContent"] == {"text": "let"}
    assert replacement["deletedRegion"] == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 6}


def test_table_of_mistakes() -> None:
    check_table(mistakes())


def test_a_line_without_an_error_is_left_alone(tmp_path: Path) -> None:
    """Rows are of lines with errors: `count` and `rest` here look like mistakes, and are names."""
    text = FRAMES["bare"].replace(
        "HERE", "    let mem = 4 * 2\n    memory m = counter(mem)\n    expect m == any # range(4)"
    )
    assert not [one for one in answers(text, tmp_path) if one.severity == "error"]


def test_long_lines_are_left_alone(tmp_path: Path) -> None:
    """The time of a pattern may grow with the square of a line; nobody writes a mistake of so many characters."""
    for length, code in ((LONGEST, "MKS0122"), (LONGEST + 1, "MKS0118")):
        line = "const n = 4".ljust(length - 1) + "#"
        [one] = answers(f"mks 1\n{line}\ncase c\n    verifies LAY-05\n    memory m[8]\n", tmp_path)
        assert one.code == code


def test_mutated_inputs_raise_nothing(tmp_path: Path) -> None:
    """Words of the inputs put into other inputs: an answer of some kind, in each format, and no exception."""
    draw = random.Random(11)
    words = sorted({word for wrong in CORPUS for word in re.findall(r"\w+|[^\w\s]", wrong.text)})
    for _ in range(150):
        pieces = re.findall(r"\s+|\w+|[^\w\s]", draw.choice(CORPUS).text)
        pieces[draw.randrange(len(pieces))] = draw.choice(words)
        text = "".join(pieces)
        found = answers(text, tmp_path)
        for kind in render.FORMATS:
            render.render(found, kind)
        for one in found:
            corrected(text, edits_of(one))


def test_enough_inputs() -> None:
    assert len(CORPUS) >= 200
    assert {wrong.name for wrong in CORPUS} >= set(RATING["first"]["bad"])


if __name__ == "__main__":
    for title, rating in RATING.items():
        bad: dict[str, str] = rating["bad"]
        print(f"{title}, {rating['date']}: {rating['inputs'] - len(bad)} of {rating['inputs']} good")
        for what in ("place", "cause", "advice", "misleads", "cascade"):
            print(f"  {what:9}{sum(what in words.split() for words in bad.values()):4}")
