"""Steps that are followed once give what following them anew gives, after each step."""

from __future__ import annotations

import pytest

from mkeyspec import plan
from mkeyspec.run.culprits import moves
from mkeyspec.run.dependence import Walk
from mkeyspec.run.followed import Followed
from tests.quality.subject import ROOT, Row, rows

FILES = [
    ROOT / "cases" / name
    for name in ("mkey/sequences.mks", "signature/stopped.mks", "posting/dc.mks", "posting/receives.mks")
]
CHOSEN = rows([path for path in FILES if path.exists()], most=1)


def test_the_sample_has_a_cancel_behind_messages() -> None:
    """Of which the receives are open from then on."""
    kinds = {type(step) for row in CHOSEN for step in row.row.steps}
    assert {plan.Cancel, plan.Recv, plan.Post} <= kinds


@pytest.mark.parametrize("row", CHOSEN, ids=lambda row: row.id)
def test_as_anew(row: Row) -> None:
    taken: list[plan.Step] = []
    followed = Followed(taken)
    for step in row.row.steps:
        taken.append(step)
        walk = Walk(taken)
        assert list(followed.moves()) == list(moves(taken))
        assert list(followed.touched()) == [(n, one) for n, each in enumerate(taken) for one in walk.take(each)]
