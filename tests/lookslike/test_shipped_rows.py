"""No expectation of a shipped case makes the search raise, whatever was got; and its work is bounded by a count."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import SignatureError
from mkeyspec.files import selection
from mkeyspec.lookslike import evaluation
from mkeyspec.run import expectations, mkey_check
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed
from mkeyspec.sabotage.suite import load, outcome
from mkeyspec.store import Store
from tests.shipped import ROOT, suites

LARGEST_STEP = 40 << 20
"""More than the bytes that any one step of a computation takes at once."""

ROWS = 12
"""Every so many rows of the quick profile."""


def test_any_bytes_and_any_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(12)
    chosen = selection.read("quick", ROOT)
    items = load(suites(), Store(ROOT, tmp_path), chosen)[::ROWS]
    budgets: list[evaluation.Budget] = []
    started = evaluation.Budget.__init__

    def start(self: evaluation.Budget, limit: int) -> None:
        started(self, limit)
        budgets.append(self)

    look, call = expectations.look, mkey_check.call

    def another(*args: Any) -> Any:
        seen = look(*args)
        kind = rng.randrange(4)
        data = seen.data.copy()
        if kind == 0:
            data = np.frombuffer(rng.randbytes(len(data)), np.uint8)
        elif kind == 1 and len(data):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif kind == 2:
            data = np.zeros_like(data)
        else:
            data = np.roll(data, rng.choice((1, 4, 8, 512)))
        return replace(seen, data=data)

    def another_record(*args: Any) -> Any:
        attempt, record = call(*args)
        numbers = [rng.choice((0, 1, 519, rng.getrandbits(32), rng.getrandbits(64))) for _ in range(3)]
        return attempt, rng.choice((None, record, SignatureError(rng.randrange(5), *numbers)))

    monkeypatch.setattr(evaluation.Budget, "__init__", start)
    monkeypatch.setattr(expectations, "look", another)
    monkeypatch.setattr(mkey_check, "call", another_record)
    failed = 0
    for item in items:
        model = Model()
        try:
            outcome(item, Rig(model, Profile(), Expectations.load([], model.info()), deadline=0.01))
        except CaseFailed as failure:  # anything else is an error of the search
            failed += any(one.looks_like or "looks like:" in dict(one.details) for one in failure.failures)
    assert failed > 10
    assert len(budgets) > 1000
    assert min(one.left for one in budgets) > -LARGEST_STEP
