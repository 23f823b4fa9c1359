"""What a failure tells of the values at a statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.compiler.row_values import RowValues, values_at
from mkeyspec.plan import At, Turn

SOURCE = """mks 1
suite "a"
let blocks = [512, 4096]
let twice(n) = n * 2

case a
    verifies LAY-01
    for n in 1, 3
    for name, how in first: (remote_read | local_write, send), b_x: (local_write, write)
    for text in "p, q", "p"
    let size = blocks[n / 2]
    let d = t10dif(app_tag=n, ref_tag=7, flags=ref_remap) every 512
    let short = counter(n * 4)
    let data = pick(n > 1, framed(counter(1024),
                                  d), counter(8))
    let many = [0, 1, 2, 3, 4, 5, n]
    let long = [data, data]
    memory m = fill(n, n * 512)
    peer memory w[n * 512]
    mkey k
    configure k { access name; layout list(m[0 +: size / 8]) }
    post {
        write k[0 +: twice(n)] to w[n * 8 +: twice(n)], signaled
        write k[0 +: 8] to w[0 +: 8], signaled
    }
    repeat 3 as turn {
        write k[0 +: 8] to w[turn * 8 +: 8]
    }
    expect w[0 +: 8] == fill(n, 8)
    expect w[40 +: 4] in [short[0 +: n] ++ be16(n + 1), counter(n * 9), be32(n * 2), be16(n + 7), be16(n + 8)]
    if n == 3 { expect w[blocks[0] +: 1] == fill(1, 1) }
"""
LINES = SOURCE.split("\n")
ROW = "n=3,name=first,text=p,_q"

NAMES = {
    "n": ("3", True),
    "name": ("remote_read | local_write (0x5)", True),
    "how": ("send", True),
    "text": ('"p, q"', True),
    "size": ("4096 (0x1000)", True),
    "d": ("t10dif(app_tag=0x3, ref_tag=0x7, flags=ref_remap) every 512", True),
    "short": ('hex"000102030405060708090a0b"', True),
    "data": ("1040 bytes", False),
    "many": ("[0, 1, 2, 3, 4, 5, … 7 items]", True),
}
LETS = {
    "size": "blocks[n / 2]",
    "d": "t10dif(app_tag=n, ref_tag=7, flags=ref_remap) every 512",
    "short": "counter(n * 4)",
    "data": "framed(counter(1024), d)",
    "many": "[0, 1, 2, 3, 4, 5, n]",
    "long": "[data, data]",
}
EXPRESSIONS: dict[str, dict[str, str]] = {
    "configure k": {"m[0 +: size / 8]": "m[0 +: 512]"},
    "write k[0 +: twice(n)]": {"k[0 +: twice(n)]": "k[0 +: 6]", "w[n * 8 +: twice(n)]": "w[24 +: 6]"},
    "write k[0 +: 8] to w[0 +: 8]": {},
    "post {": {"k[0 +: twice(n)]": "k[0 +: 6]", "w[n * 8 +: twice(n)]": "w[24 +: 6]"},
    "expect w[0": {"fill(n, 8)": 'hex"0303030303030303"'},
    "expect w[40": {  # the fifth one is too much
        "short[0 +: n]": 'hex"000102"', "be16(n + 1)": 'hex"0004"', "n * 9": "27 (0x1b)",
        "be32(n * 2)": 'hex"00000006"',
    },
    "if n": {},
}  # fmt: skip


def at(text: str, turn: int | None = None) -> At:
    """Where the first line with this text begins."""
    number, line = next((n, line) for n, line in enumerate(LINES, 1) if text in line)
    return At(number, len(line) - len(line.lstrip()) + 1, None if turn is None else Turn(turn, 3, 1, 1))


def found(tmp_path: Path, where: At, row: str = ROW, case: str = "a") -> RowValues:
    path = tmp_path / "a.mks"
    path.write_text(SOURCE, encoding="utf-8")
    return values_at(path, case, row, where)


def test_names(tmp_path: Path) -> None:
    """Of a `pick`, what is taken; a list of long byte strings has no value that a line can tell."""
    values = found(tmp_path, at("configure k"))
    assert values.names == NAMES
    assert values.lets == LETS


@pytest.mark.parametrize("line", EXPRESSIONS)
def test_expressions(tmp_path: Path, line: str) -> None:
    """Those of the statement itself, and of a block those of its lines; a value that the text shows is not told."""
    assert found(tmp_path, at(line)).expressions == EXPRESSIONS[line]


def test_the_row_that_is_asked_for(tmp_path: Path) -> None:
    values = found(tmp_path, at("configure k"), "n=1,name=b_x,text=p")
    assert [values.names[name][0] for name in ("n", "name", "text", "data")] == [
        "1", "local_write (0x1)", '"p"', 'hex"0001020304050607"',
    ]  # fmt: skip
    assert values.lets["data"] == "counter(8)"


@pytest.mark.parametrize("turn", [1, 3])
def test_a_turn(tmp_path: Path, turn: int) -> None:
    assert found(tmp_path, at("turn * 8", turn)).expressions == {"w[turn * 8 +: 8]": f"w[{turn * 8} +: 8]"}


NOTHING: dict[str, tuple[At, str, str]] = {
    "no such row": (at("configure k"), "n=4,name=first,text=p", "a"),
    "no such case": (at("configure k"), ROW, "b"),
    "no such line": (At(99, 5), ROW, "a"),
    "not in the case": (At(3, 1), ROW, "a"),
    "not reached in this row": (At(31, 17), "n=1,name=first,text=p", "a"),
}


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_is_known(tmp_path: Path, name: str) -> None:
    where, row, case = NOTHING[name]
    values = found(tmp_path, where, row, case)
    assert (values.names, values.expressions) == ({}, {})


def test_a_statement_in_a_branch(tmp_path: Path) -> None:
    assert found(tmp_path, At(31, 17)).expressions == {"w[blocks[0] +: 1]": "w[512 +: 1]"}


@pytest.mark.parametrize("text", [None, "", "mks 1\ncase", "\0"])
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "b.mks"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert values_at(path, "a", "", At(1, 1)) == RowValues()
