"""Where the device differs from the defaults, in each form of a report: point, value, default, and how it was seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mkeyspec.device.profile.difference import Difference, differences
from mkeyspec.report.compare import compare
from mkeyspec.report.html import html_of
from mkeyspec.report.junit import junit_of
from mkeyspec.report.text import text_of
from tests.report.results import BEGIN, row, run_of
from tests.report.test_html import ATTACK, safe

PROFILE = """
name = "lab"
without = ["crypto"]
err_actual = "computed"
recv_byte_len = "wire"
max_message = 4096
[errno]
crc_seed = "EPERM"
dif_bg = "EINVAL"
[measured]
device = "mlx5_0"
[evidence]
err_actual = { value = "computed", confidence = "sure", sides = ["crc32, sent: the second", "t10dif: the second"] }
recv_byte_len = { value = "wire", confidence = "single", sides = ["a SEND: 1024"] }
[evidence.errno]
crc_seed = { value = "EPERM", confidence = "single", sides = ["seed 1: EPERM"] }
"""
POINTS = [["err_actual", '"computed"', '"field"', "sure, 2 sides", "crc32: the second", "t10dif: the second"]]


def test_what_is_not_the_default(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(PROFILE)
    assert differences(tmp_path / "p.toml") == [
        Difference("without", '["crypto"]', "[]", "told"),
        Difference(
            "err_actual", '"computed"', '"field"', "sure, 2 sides", ("crc32, sent: the second", "t10dif: the second")
        ),
        Difference("max_message", "4096", "67108864", "not measured"),
        Difference("errno.crc_seed", '"EPERM"', '"EINVAL"', "single, 1 side", ("seed 1: EPERM",)),
    ]


def test_each_report_has_them(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", row(1), begin=replace(BEGIN, device_profile="p.toml", device_points=POINTS))
    lines = text_of([run]).splitlines()
    assert "the device differs from the defaults in 1 point (p.toml)" in lines
    assert '       err_actual = "computed"  default "field"; sure, 2 sides' in lines
    (section,) = safe(html_of([run])).xpath("//section[@id='device-points']")
    assert [cell.text_content().split("\n")[0] for cell in section.findall(".//td")] == [
        "err_actual", '"computed"', '"field"', "sure, 2 sides",
    ]  # fmt: skip
    assert [one.text_content() for one in section.iter("li")] == ["crc32: the second", "t10dif: the second"]
    properties = {one.get("name"): one.get("value") for one in ElementTree.fromstring(junit_of([run])).iter("property")}
    assert properties["profile:err_actual"] == '"computed" (default "field"; sure, 2 sides)'
    before = run_of(tmp_path / "b", row(1))
    assert ("profile:err_actual", "", '"computed" (default "field"; sure, 2 sides)') in compare(
        [before, run]
    ).provenance


def test_a_device_without_differences(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", row(1), begin=replace(BEGIN, device_profile="p.toml"))
    assert "differs" not in text_of([run])
    assert not safe(html_of([run])).xpath("//section[@id='device-points']")


@pytest.mark.parametrize("points", [[[]], [["p"]], [[ATTACK, "\x1b[31m", ATTACK, ATTACK, ATTACK]]])
def test_points_of_anybody(points: list[list[str]], tmp_path: Path) -> None:
    """A stream may come from elsewhere: a short line, a page's end, a terminal's controls."""
    run = run_of(tmp_path / "r", row(1), begin=replace(BEGIN, device_points=points))
    assert "\x1b" not in text_of([run])
    safe(html_of([run]))
    ElementTree.fromstring(junit_of([run]))
