"""Seeds: what is one, what is not, and that a case follows from its seed and number alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mkeyspec.generate.draw import draw
from mkeyspec.generate.seed import VERSION, BadSeedError, Seed, parsed
from mkeyspec.generate.suite import file_of, files, text_of


@pytest.mark.parametrize("text", ["0", "42", f"{VERSION}.42", str((1 << 64) - 1)])
def test_a_seed(text: str) -> None:
    seed = parsed(text)
    assert str(seed) == f"{VERSION}.{text.rpartition('.')[2]}"
    assert parsed(str(seed)) == seed


@pytest.mark.parametrize("text", ["", "-1", "x", "1.2.3", "1.", ".1", " 1", "1e3", "٤", str(1 << 64), "9" * 5000])
def test_no_seed(text: str) -> None:
    with pytest.raises(BadSeedError) as caught:
        parsed(text)
    assert caught.value.code == "MKS0925"


@pytest.mark.parametrize("version", [0, VERSION + 1, 999])
def test_a_seed_of_another_version(version: int) -> None:
    with pytest.raises(BadSeedError) as caught:
        parsed(f"{version}.42")
    assert caught.value.code == "MKS0926"


def test_a_case_does_not_depend_on_how_many_are_drawn() -> None:
    alone = text_of(draw(Seed(5), 7))
    assert alone in file_of(Seed(5), 0, 9).text
    assert alone in next(files(Seed(5), 8)).text


def test_other_seeds_and_numbers_give_other_cases() -> None:
    texts = {text_of(draw(Seed(seed), number)).partition("\n")[2] for seed in (1, 2) for number in range(8)}
    assert len(texts) == 16


def test_the_same_in_another_process() -> None:
    code = "from mkeyspec.generate.suite import *; print(file_of(Seed(3), 0, 6).text, end='')"
    for hash_seed in ("0", "12345"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        found = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        assert found.stdout == file_of(Seed(3), 0, 6).text
