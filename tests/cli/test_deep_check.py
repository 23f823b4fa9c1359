"""`mkeyspec doctor --deep`: its rows exist, and each thing that cases take for granted is a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mkeyspec import cli
from mkeyspec.cli import deep_check
from mkeyspec.cli.deep_check import ASSUMPTIONS, Tried, text
from mkeyspec.report.record import Result


def test_each_holds_on_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """No row of the table is missing, so that none is silently left out."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["doctor", "--device", "model", "--deep", "--format", "json"]) == 0
    deep = json.loads(capfd.readouterr().out)["deep"]
    assert {one["name"]: one["verdict"] for one in deep} == {one.name: "ok" for one in ASSUMPTIONS}
    assert not list(tmp_path.iterdir())


def tried(**verdicts: Any) -> Tried:
    results = {id: Result(id, **one) for id, one in verdicts.items()}
    return deep_check._tried(next(one for one in ASSUMPTIONS if one.name == "odd_entries"), results)


ODD = "cases/signature/matrix.mks::transmit_everything[kind=0,size=0,count=2,place=mem,walk="


def test_one_that_fails_says_what_it_means_and_shows_a_row() -> None:
    one = tried(
        **{
            f"{ODD}list]": {"verdict": "failed", "code": "MKS2005"},
            f"{ODD}interleaved]": {"verdict": "lost"},
            "cases/signature/matrix.mks::transmit_everything[kind=1]": {"verdict": "failed", "code": "MKS2101"},
        }
    )
    assert (one.verdict, one.reason, len(one.failing)) == ("fails", "MKS2005, lost", 2)
    said = text("mlx5_0", [one]).splitlines()
    assert said[1].startswith("  fails    odd_entries  an entry below a signature may have an odd length")
    assert said[2].strip().startswith("otherwise: rows of layout/cuts.mks")
    assert said[3].strip() == f"see: mkeyspec run 'pkg:mkeyspec/{ODD[6:]}list]' --device mlx5_0"


def test_what_a_device_lacks_is_not_tried() -> None:
    one = tried(**{f"{ODD}list]": {"verdict": "skipped", "message": "needs block_signature"}})
    assert (one.verdict, one.reason, one.failing) == ("untried", "needs block_signature", [])
    assert tried().reason == "the rows were not run"


def test_it_wants_a_device(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--deep"]) == 2
    assert "error[MKS0905]: --deep tries a device: name it, --device mlx5_0" in capfd.readouterr().err
