"""Files of expectations: who departs, by patterns and ranges of versions, and what is said of a bad file."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.device.protocol import Info
from mkeyspec.run.departures import ExpectationError, Expectations

TEXT = """
title = "rdma-core"
[[shows]]
device = "mlx5_*"
versions = { rdma-core = ">=35, <38" }
ids = { X-DIFF-08 = "compares 64 bits", X-DIFF-12 = "ignores the flag" }
[[shows]]
firmware = "20.*"
ids = { X-DIFF-07 = "16 bits" }
"""


def load(tmp_path: Path, text: str, info: Info) -> Expectations:
    path = tmp_path / "vendor.toml"
    path.write_text(text, encoding="utf-8")
    return Expectations.load([path], info)


@pytest.mark.parametrize(
    ("info", "ids"),
    [
        (Info("mlx5_0", "20.1", {"rdma-core": "36.0"}), {"X-DIFF-08", "X-DIFF-12", "X-DIFF-07"}),
        (Info("mlx5_0", "28.1", {"rdma-core": "37.99.1"}), {"X-DIFF-08", "X-DIFF-12"}),
        (Info("mlx5_0", "28.1", {"rdma-core": "38"}), set()),
        (Info("mlx5_0", "28.1", {"rdma-core": "9.0"}), set()),
        (Info("mlx5_0", "28.1", {}), set()),
        (Info("model"), set()),
    ],
)
def test_who_departs(tmp_path: Path, info: Info, ids: set[str]) -> None:
    found = load(tmp_path, TEXT, info)
    assert set(found.departures) == ids
    assert found.lists("X-DIFF-12") == ("X-DIFF-12" in ids)


def test_the_file_and_its_words_are_kept(tmp_path: Path) -> None:
    found = load(tmp_path, TEXT, Info("x", "20.30"))
    assert found.departures == {"X-DIFF-07": ("vendor.toml", "16 bits")}


def test_what_may_be_seen_is_not_demanded(tmp_path: Path) -> None:
    found = load(tmp_path, TEXT + "[[may_show]]\nids = { X-DIFF-23 = 'the last' }\n", Info("x", "20.30"))
    assert found.lists("X-DIFF-07")
    assert found.demands("X-DIFF-07")
    assert found.lists("X-DIFF-23")
    assert not found.demands("X-DIFF-23")
    both = TEXT + "[[may_show]]\nids = { X-DIFF-07 = '16 bits, or 32' }\n"
    assert load(tmp_path, both, Info("x", "20.30")).demands("X-DIFF-07")  # of two files the stricter one counts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("shows = [", "vendor.toml: "),
        ("[[may_show]]\ndevice = 'x'\n", "a [[may_show]] table needs ids"),
        ("may_show = 3\n", "may_show is a list of tables"),
        ("[[show]]\n", "unknown key `show`"),
        ("[[shows]]\ndevice = 'x'\n", "needs ids"),
        ("[[shows]]\nids = {}\nversion = '1'\n", "unknown key `version`"),
        ("[[shows]]\nids = {}\nversions = { a = 'new' }\n", "`new` is not a range of versions"),
        ("[[shows]]\nids = {}\nversions = '1'\n", "versions is a table"),
        ("shows = [1]\n", "needs ids"),
        ("shows = 3\n", "shows is a list of tables"),
        ("[[shows]]\nids = {}\ndevice = ['x']\n", "device is one pattern"),
        ("[[shows]]\nids = {}\nfirmware = 20\n", "firmware is one pattern"),
        ("[[shows]]\nids = { X-DIFF-80 = 'x' }\n", "`X-DIFF-80` is not a known departure; did you mean X-DIFF-"),
        (
            "[[shows]]\ndevice = 'other'\nids = { X-DIF-08 = 'x' }\n",
            "`X-DIF-08` is not a known departure; did you mean X",
        ),
        ("[[shows]]\nids = { CRC-06 = 'x' }\n", "`CRC-06` is a requirement; a departure is an X-DIFF or an X-BUG"),
        ("[[shows]]\nids = { X-OPEN-07 = 'x' }\n", "`X-OPEN-07` is an open point"),
        ("[[shows]]\nids = {}\nversions = { rdmacore = '>=35' }\n", "`rdmacore` is not a version that a device tells"),
        ("[[shows]]\nids = { X-DIFF-08 = 3 }\n", "what is seen of X-DIFF-08 is a text"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ExpectationError) as raised:
        load(tmp_path, text, Info("x"))
    assert said in str(raised.value)
    assert str(raised.value).startswith("vendor.toml: ")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ExpectationError):
        Expectations.load([tmp_path / "none.toml"], Info("x"))


def test_the_model_is_listed_for_nothing() -> None:
    path = Path(__file__).parents[2] / "expectations" / "model.toml"
    assert not Expectations.load([path], Info("model")).departures
