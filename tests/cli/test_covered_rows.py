"""`mkeyspec list` of a case with `covering`: what each row is there for, counted here from the ids of the rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from mkeyspec.cli import main

CASE = """mks 1

case few
    verifies LAY-05
    covering {strength}
    for n, m in (1, 2), (3, 4), (5, 6)
    for op in send, write, peer_read
    for how in plain: 1, twice: 2
    for late in no, yes
    where n != 3 or op == send
    memory a = counter(n + m + how)
    mkey k
    configure k {{ access remote_read; layout list(a) }}
    if late {{ transmit k by op }}
    transmit k by op
    expect wire == a
"""


def listed(tmp_path: Path, capsys: pytest.CaptureFixture[str], strength: int, *options: str) -> str:
    file = tmp_path / "a.mks"
    file.write_text(CASE.format(strength=strength))
    assert main(["list", str(file), *options]) == 0
    return capsys.readouterr().out


def values_of(row_id: str) -> tuple[str, ...]:
    """The values of the four `for`s, the first of which has two names."""
    n, m, *others = row_id.split(",")
    return (f"{n},{m}", *others)


def alone(ids: list[str], strength: int) -> tuple[int, list[list[list[str]]]]:
    times = Counter(one for row in ids for one in combinations(values_of(row), strength))
    return len(times), [[list(one) for one in combinations(values_of(row), strength) if times[one] == 1] for row in ids]


@pytest.mark.parametrize("strength", [1, 2, 3, 4])
def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str], strength: int) -> None:
    (suite,) = json.loads(listed(tmp_path, capsys, strength, "--format", "json"))
    (case,) = suite["cases"]
    tuples, wanted = alone([row["id"] for row in case["rows"]], strength)
    assert case["covering"] == {"strength": strength, "combinations": 28, "tuples": tuples}
    assert [row["alone"] for row in case["rows"]] == wanted


def test_without_covering_nothing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.mks"
    file.write_text(CASE.replace("    covering {strength}\n", "").format())
    main(["list", str(file), "--rows"])
    assert "alone" not in capsys.readouterr().out
    main(["list", str(file), "--format", "json"])
    (suite,) = json.loads(capsys.readouterr().out)
    assert "covering" not in suite["cases"][0]
    assert set(suite["cases"][0]["rows"][0]) == {"id", "needs"}


@pytest.mark.parametrize(("strength", "word"), [(1, "values"), (2, "pairs"), (3, "triples"), (4, "tuples of 4 values")])
def test_text(tmp_path: Path, capsys: pytest.CaptureFixture[str], strength: int, word: str) -> None:
    out = listed(tmp_path, capsys, strength, "--rows")
    rows = re.findall(r"^ +\[(.*?)\]  (.*)$", out, re.M)
    tuples, wanted = alone([row for row, _ in rows], strength)
    assert f"    covering {strength}: {len(rows)} of 28 combinations have all {tuples} {word}\n" in out
    assert f"few  ({len(rows)} rows)" in out
    for (_, said), its in zip(rows, wanted, strict=True):
        if not its:
            assert said == "stays from the first values; other rows have its values, too"
        elif len(its) <= 2:
            assert said == "alone has " + " and ".join(" with ".join(one) for one in its)
        else:
            assert said == f"alone has {len(its)} {word}"
