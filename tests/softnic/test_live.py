"""How many objects the software NIC has: what a look for leaks reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from mkeyspec.device.soft import live, preload

PROGRAM = """\
import json
from mkeyspec.device.soft.live import counts
from mkeyspec.device.verbs import names

found = [counts()]
names.load()
from pyverbs.device import Context
from pyverbs.pd import PD
context = Context(name="mlx5_0")
pds = [PD(context) for _ in range(3)]
found.append(counts())
pds.pop().close()
found.append(counts())
context.close()
found.append(counts())
print(json.dumps(found))
"""


def test_what_is_made_and_destroyed_is_counted() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=preload.environment(None),
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert all(tuple(one) == live.KINDS for one in found)
    assert [one["contexts"] for one in found] == [0, 1, 1, 0]
    assert [one["PDs"] for one in found] == [0, 3, 2, 0]
    assert set(found[0].values()) == set(found[3].values()) == {0}


def test_elsewhere_there_is_nothing() -> None:
    assert live.counts() == {}
