"""JUnit XML of streams: valid by what both schemas allow, whatever is in a name or a message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from mkeyspec.report.junit import class_name, junit_of, surefire_of
from mkeyspec.report.reader import read
from mkeyspec.report.record import Begin, Case, Result, Start, Suite
from mkeyspec.report.rows import parameters_of
from mkeyspec.report.writer import Writer
from tests.plugin.project import CASES, Project
from tests.report.results import BEGIN, FILE, failed, row, run_of

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("junit.xsd")))


def valid(document: bytes) -> Any:
    root = etree.fromstring(document)
    SCHEMA.assertValid(root)
    for suite in root.iter("testsuite"):
        cases = list(suite.iter("testcase"))
        assert int(suite.get("tests")) == len(cases)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(name)) == sum(case.find(tag) is not None for case in cases)
    if root.tag == "testsuites":
        for name in ("tests", "failures", "errors"):
            assert int(root.get(name)) == sum(int(suite.get(name)) for suite in root)
    return root


def told(case: Any) -> dict[str, str]:
    lines = (case.findtext("system-out") or "").split("\n")
    return dict(line.removeprefix("[[PROPERTY|").removesuffix("]]").split("=", 1) for line in lines if line)


EVERY = (
    row(1, seconds=0.0123456, records={"granted": "4"}, needs=["memcpy"]),
    failed(2, seconds=1e-9),
    row(3, "error", code="MKS2007", message="the device failed", text="error[MKS2007]: the device failed"),
    row(4, "known", message="X-DIFF-08: compares 64 bits", known=["X-DIFF-08"]),
    row(5, "unseen", code="MKS2301", message="never seen", text="never seen"),
    row(6, "blocked", code="MKS2008", message="since c[n=3]", culprit=f"{FILE}::c[n=3]"),
    row(7, "lost", code="MKS2012", message="the process ended"),
    row(8, "skipped", message="needs crypto"),
)


def test_every_verdict(tmp_path: Path) -> None:
    root = valid(junit_of([run_of(tmp_path / "r", *EVERY)]))
    kinds = {
        case.get("name"): [child.tag for child in case if child.tag != "system-out"] for case in root.iter("testcase")
    }
    assert kinds == {
        "c[n=1]": [], "c[n=2]": ["failure"], "c[n=3]": ["error"], "c[n=4]": ["skipped"], "c[n=5]": ["failure"],
        "c[n=6]": ["error"], "c[n=7]": ["error"], "c[n=8]": ["skipped"],
    }  # fmt: skip
    (failure,) = root.xpath("//testcase[@name='c[n=2]']/failure")
    assert dict(failure.attrib) == {"type": "MKS2101", "message": "MKS2101 4 bytes differ"}
    assert failure.text.startswith(f"{FILE}:9:5: error[MKS2101]")
    assert root.xpath("//testcase[@name='c[n=4]']/skipped/@message") == ["known: X-DIFF-08: compares 64 bits"]
    assert {case.get("classname") for case in root.iter("testcase")} == {"cases.a.crc"}
    assert root.xpath("//testcase[@name='c[n=1]']/@time") == ["0.012"]
    assert told(root.xpath("//testcase[@name='c[n=1]']")[0]) == {
        "case": f"{FILE}::c[n=1]",
        "verdict": "passed", "title": "a case", "line": "3", "requirements": "CRC-02", "needs": "crypto, memcpy",
        "row:n": "1", "record:granted": "4",
    }  # fmt: skip


def test_properties_of_the_suite(tmp_path: Path) -> None:
    begin = replace(
        BEGIN, profile="quick", expectations=["a.toml", "b.toml"], git_changed=True, host="lab", kernel="Linux 6",
        personality="cx7", device_profile="p.toml",
    )  # fmt: skip
    root = valid(junit_of([run_of(tmp_path / "r", row(1), begin=begin)]))
    found = {one.get("name"): one.get("value") for one in root.iter("property")}
    expected = {
        "suite": "a suite", "suite_sha256": "1234", "device": "mlx5_0 (ConnectX-7)", "firmware": "28.43.1014",
        "pci": "0000:08:00.0", "version:rdma-core": "44.0", "profile": "quick", "expectations": "a.toml b.toml",
        "git_commit": "c0ffee (with changes)", "host": "lab", "kernel": "Linux 6", "personality": "cx7",
        "device_profile": "p.toml",
    }  # fmt: skip
    assert expected.items() <= found.items()


def test_several_runs_are_one_report(tmp_path: Path) -> None:
    """Shards and hosts: a suite of each run, and counts of all."""
    runs = [run_of(tmp_path / "a", row(1), failed(2)), run_of(tmp_path / "b", row(3), begin=replace(BEGIN, host="b"))]
    root = valid(junit_of(runs))
    assert [suite.get("tests") for suite in root] == ["2", "1"]
    assert root.get("tests") == "3"
    names = [name for name, _ in surefire_of(runs)]
    assert names == ["TEST-cases_a_crc.mks.xml", "TEST-cases_a_crc.mks-2.xml"]
    for _, document in surefire_of(runs):
        assert valid(document).tag == "testsuite"


def test_a_killed_run_has_the_row_in_flight(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "r")
    writer.write(BEGIN, row(1), Start(f"{FILE}::c[n=2]"))
    writer.close()
    root = valid(junit_of([read(tmp_path / "r")]))
    assert root.xpath("//testcase[@name='c[n=2]']/error/@type") == ["MKS2012"]
    assert root.xpath("//property[@name='ended']/@value") == ["not by itself"]


def test_properties_as_elements_where_they_are_asked_for(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", row(1))
    assert etree.fromstring(junit_of([run], case_properties=True)).xpath(
        "//testcase/properties/property[@name='row:n']"
    )
    assert not etree.fromstring(junit_of([run])).xpath("//testcase/properties")


@pytest.mark.parametrize(
    ("id", "values"),
    [
        ("a::c", []),
        ("a[x=1]::c", []),
        ("a::c[crc=crc32,n=3]", [("crc", "crc32"), ("n", "3")]),
        ("a::c[block=hex00++fill(0,504),guard=hex22]", [("block", "hex00++fill(0,504)"), ("guard", "hex22")]),
        ("a::c[x=a=b]", [("x", "a=b")]),
        ("a::c[plain]", []),
        ("a::c[]]]((,", []),
    ],
)
def test_values_of_a_row(id: str, values: list[tuple[str, str]]) -> None:
    assert parameters_of(id) == values


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("cases/signature/crc.mks", "cases.signature.crc"),
        ("a.b/c.d.mks", "a_b.c_d"),
        ("../x.mks", "x"),
        ("", "session"),
    ],
)
def test_class_names(file: str, name: str) -> None:
    """Jenkins splits at the last dot: package and class."""
    assert class_name(file) == name


# Anything --------------------------------------------------------------------------------------

HOSTILE = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["]]>", "<b>&amp;", "\x00\x1b[31m", "\ud800", "\ufffe", "a\r\nb", "]]]]", "::", "\"'", "[[PROPERTY|a=b]]"]
    ),
    st.text(alphabet=st.characters(), max_size=10),
)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], deadline=None)
@given(
    texts=st.lists(HOSTILE, min_size=8, max_size=8),
    verdict=st.sampled_from(["passed", "failed", "error", "known", "unseen", "blocked", "lost", "skipped"]),
    seconds=st.floats(0, 1e9),
)
def test_any_text_gives_a_valid_report(tmp_path: Path, texts: list[str], verdict: Any, seconds: float) -> None:
    id, message, text, title, name, value, option, case = texts
    result = Result(id, verdict, seconds, message=message, text=text, records={name: value}, known=[name], culprit=id)
    begin = Begin(1, name, value, title, options=[option], host=option)
    run = run_of(tmp_path / "r", result, begin=begin, about=(Suite(id.split("::")[0], title), Case(case, 1, title)))
    root = valid(junit_of([run]))
    assert len(list(root.iter("testcase"))) == 1
    for file, document in surefire_of([run]):
        valid(document)
        assert "/" not in file


# A run ---------------------------------------------------------------------------------------


def test_the_report_of_a_run_is_valid(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES)
    project.put("cases/b/test_c.py", "def test_c(): assert False\n")
    assert project.mkeyspec("run", "cases").code == 1
    root = valid((tmp_path / "reports" / "junit.xml").read_bytes())
    assert [suite.get("name") for suite in root] == ["cases/a.mks", "cases/b/test_c.py"]
    done = project.mkeyspec("report", "junit")
    assert done.code == 0
    assert done.out.encode() == (tmp_path / "reports" / "junit.xml").read_bytes()
    assert project.mkeyspec("report", "junit", "--surefire", "out").code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "TEST-cases_a.mks.xml",
        "TEST-cases_b_test_c.py.xml",
    ]
