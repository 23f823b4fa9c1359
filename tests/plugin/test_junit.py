"""Properties in pytest's own JUnit report, with and without xdist."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from mkeyspec import __version__
from mkeyspec.emit.header import read_header
from tests.plugin.project import Project, properties


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_properties_of_cases_and_suite(suite: Project, workers: list[str], family: str) -> None:
    suite.pytest("--junitxml=j.xml", "-o", f"junit_family={family}", *workers)
    found = properties(suite.path / "j.xml")
    header = read_header(suite.module().read_text())
    assert header is not None
    for name, line in (("passes[n=1]", "4"), ("fails[n=2]", "13"), ("lacks", "22"), ("setup_module", "32")):
        case = found[name]
        assert case["case"] == f"cases/a.mks::{name}"
        assert (case["source"], case["line"]) == ("cases/a.mks", line)
        assert case["suite_sha256"] == header.inputs
        assert case["device"] == "model"
        assert {"firmware", "seed"} <= case.keys()
    assert found["passes[n=1]"]["requirements"] == "CRC-02 LAY-05"
    assert found["setup_module"]["record:granted"] == "4"
    assert found[""]["device"] == "model"
    assert found[""]["mkeyspec"] == __version__


def test_no_property_is_written_twice(suite: Project) -> None:
    suite.pytest("--junitxml=j.xml")
    for case in ElementTree.parse(suite.path / "j.xml").iter("testcase"):
        names = [one.attrib["name"] for one in case.iter("property")]
        assert len(names) == len(set(names))


def test_the_failure_says_it_all(suite: Project) -> None:
    suite.pytest("--junitxml=j.xml", "-o", "junit_family=xunit1")
    root = ElementTree.parse(suite.path / "j.xml")
    failure = next(root.iter("failure"))
    assert failure.attrib["message"].startswith("MKS2101 ")
    assert "cases/a.mks:20:5: error[MKS2101]" in (failure.text or "")
    assert "SIG-07" in (failure.text or "")
    case = next(case for case in root.iter("testcase") if case.find("failure") is not None)
    assert case.attrib["file"] == "cases/a.mks"
    assert case.attrib["classname"] == "cases.a.mks"
