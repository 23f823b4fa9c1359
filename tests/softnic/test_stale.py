"""X-DIFF-30: how many requests a cancel counts, or that it is refused, depends on what libmlx5's memory held before.

libmlx5 (providers/mlx5/qp.c, mlx5_qp_sq_next_idx) searches an array from malloc that it has written only in part.
stale.c fills it: what happened now and then, after other cases in the same process, happens each time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mkeyspec.device.soft import softnic
from tests.plugin.project import properties

HERE = Path(__file__).parent
CASE = "cases/signature/pipelining.mks::a_cancelled_configuration_is_one_request"


@pytest.fixture(scope="module")
def stale(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if softnic.library() is None:
        pytest.skip(softnic.missing() or "no library")
    made = tmp_path_factory.mktemp("stale") / "stale.so"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o", made, HERE / "stale.c", "-ldl"], check=True)
    return made


@pytest.mark.parametrize(("head", "wr_id", "refused"), [(0, 0, False), (4, 77, False), (4, 2, True)])
def test_a_cancel_that_walks_stale_memory_is_known(
    stale: Path, tmp_path: Path, head: int, wr_id: int, refused: bool
) -> None:
    """The queue of these rows has 256 blocks; the configuration's first WQE is number 3, so that the next one is 4."""
    memory = {"STALE_ENTRIES": "256", "STALE_HEAD": str(head), "STALE_ID": str(wr_id)}
    report = tmp_path / "report.xml"
    done = subprocess.run(
        [sys.executable, "-m", "mkeyspec", "run", CASE, "--device", "soft", "-q", "-n", "0", "--junit", str(report)],
        cwd=HERE.parents[1], capture_output=True, text=True, timeout=120,
        env={**os.environ, "LD_PRELOAD": str(stale), **memory},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {name: told for name, told in properties(report).items() if name}
    assert len(rows) == 2
    for told in rows.values():
        assert told.get("known") == "X-DIFF-30" or wr_id == 77
        assert ("not_run" in told) == refused
