"""Two compilations at the same time know nothing of one another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mkeyspec.compiler.compile import compile_file
from mkeyspec.diagnostics import render

GOOD = """\
mks 1

case fine
    verifies LAY-05
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""
BAD = """\
mks 1

case wrong
    verifies LAY-05
    memory m = hex"0"
    mkey k { block_signature, entries 4 }
"""


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads that give way after a few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("impatient")
def test_diagnostics_are_of_their_own_file(tmp_path: Path) -> None:
    texts = {f"{name}{i}.mks": text for i in range(8) for name, text in (("good", GOOD), ("bad", BAD))}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    names = list(texts) * 6

    def compiled(name: str) -> tuple[str, str]:
        return name, render.text(list(compile_file(tmp_path / name, root=tmp_path).diagnostics))

    alone = dict(map(compiled, texts))
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(compiled, names)) == [(name, alone[name]) for name in names]
