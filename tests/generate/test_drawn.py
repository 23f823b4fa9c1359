"""Every feature is drawn, and every case that is drawn is one of the language, without a warning."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from mkeyspec.compiler.compile import compile_file
from mkeyspec.generate.draw import draw
from mkeyspec.generate.seed import Seed
from mkeyspec.generate.suite import files

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FEATURES = Path(__file__).with_name("features.toml")
CASES = 1200


@pytest.fixture(scope="module")
def drawn() -> Counter[str]:
    found: Counter[str] = Counter()
    for number in range(CASES):
        found.update(list(draw(Seed(1), number).script.drawn))
    return found


def expected() -> list[str]:
    with FEATURES.open("rb") as file:
        table = tomllib.load(file)
    return [f"{group}: {one}" if group != "alone" else one for group, some in table.items() for one in some]


@pytest.mark.parametrize("feature", expected())
def test_a_feature_is_drawn(drawn: Counter[str], feature: str) -> None:
    assert drawn[feature], f"{feature} is in none of {CASES} cases"


def test_the_table_has_every_feature(drawn: Counter[str]) -> None:
    assert set(drawn) <= set(expected())


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_drawn_compiles_without_a_warning(tmp_path: Path, seed: int) -> None:
    for file in files(Seed(seed), 50):
        path = tmp_path / file.name
        path.write_text(file.text, encoding="utf-8")
        told = [f"{one.code} {one.message}" for one in compile_file(path, root=tmp_path).diagnostics]
        assert not told
        assert all(len(line) <= 400 for line in file.text.split("\n") if "hex" not in line)
