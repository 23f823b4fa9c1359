"""A failure in a `repeat` names its turn in the text, the stream of results, and JUnit's report."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from tests.plugin.project import Project

SUITE = """mks 1
case a
    verifies LAY-05
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    repeat 40 as i {
        transmit k by send
        expect wire == pick(i == 37, fill(0, 64), m)
    }
"""


def test_the_turn_is_in_each_report(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.put("cases/a.mks", SUITE)
    done = project.mkeyspec("run")
    assert done.code == 1
    said = "(in turn 37 of 40)"
    [first] = [line for line in done.out.splitlines() if line.startswith("cases/a.mks:9:9: error[MKS2101]")]
    assert first.endswith(said)
    [stream] = tmp_path.glob("reports/*/results.ndjson")
    results = [json.loads(line) for line in stream.read_text("utf-8").splitlines()]
    [result] = [one for one in results if one["kind"] == "result"]
    assert (result["line"], result["column"]) == (9, 9)
    assert result["message"].endswith(said)
    [failure] = ElementTree.parse(tmp_path / "reports" / "junit.xml").iter("failure")
    assert said in failure.attrib["message"]
