"""The HTML report: nothing of a run becomes part of the page, and the page does what it should in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html

from mkeyspec.report.compare import compare
from mkeyspec.report.html import html_of
from mkeyspec.report.record import Begin, Case, Difference, Result, Suite
from tests.plugin.project import CASES, Project
from tests.report.results import ABOUT, BEGIN, FILE, failed, row, run_of

_CODE = "document.title='attacked'"
ATTACK = f'</script><script>{_CODE}</script><img src=x onerror="{_CODE}">{{{{ 7 * 7 }}}}<!--'


def page_of(document: bytes) -> Any:
    return lxml_html.document_fromstring(document.decode())


def data_in(page: Any) -> Any:
    return json.loads(page.get_element_by_id("data").text)


def safe(document: bytes) -> Any:
    """The page; fails if it has an element that its template has not, or its policy does not hold its script."""
    page = page_of(document)
    scripts = page.findall(".//script")
    assert [one.get("type") for one in scripts] == ["application/json", None]
    policy = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert policy.startswith("default-src 'none'; ")
    for kind, text in (("style", page.find(".//style").text), ("script", scripts[1].text)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not page.xpath("//img | //iframe | //link | //object | //embed | //base | //*[@src] | //*[@onerror]")
    assert {one.get("href") for one in page.iter("a")} == {"#rows"}
    return page


def test_what_is_in_it(tmp_path: Path) -> None:
    wrong = [failed(n, f"{n} bytes differ", seconds=0.25) for n in (1, 2)]
    results = [*wrong, row(3, records={"granted": "4"}), row(4, "skipped")]
    page = safe(html_of([run_of(tmp_path / "r", *results)]))
    assert page.findtext(".//title") == "2 wrong of 4 · mkeyspec"
    assert page.find(".//h1").text_content() == "2 wrong of 4 rows"
    counts = [one.text_content() for one in page.xpath("//ul[@class='counts']/li")]
    assert counts == ["1 passed", "2 failed", "1 skipped"]
    (cause,) = page.xpath("//section[@id='causes']/details")
    assert cause.find("summary").text_content().strip() == "2 CRC-02: MKS2101 N bytes differ; only with n ≤ 2"
    assert cause.findtext("pre").startswith(f"{FILE}:9:5: error[MKS2101]: 1 bytes differ")
    values = {line.findtext("th"): line.findtext("td") for line in page.xpath("//section[@id='provenance']//tr")}
    assert values["firmware"] == "28.43.1014"
    assert values["git_commit"] == "c0ffee"
    lines = {}
    for line in page.xpath("//section[@id='requirements']//tr"):
        lines[line.findtext(".//code")] = [cell.text_content() for cell in line][2:]
    assert lines["CRC-02"] == ["1", "2", "1"]
    assert lines["CRC-03"] == ["0", "0", "0"]
    (case,) = data_in(page)["cases"]
    assert (case["id"], case["columns"], case["requirements"]) == (f"{FILE}::c", ["n"], ["CRC-02"])
    assert [one[2] for one in case["rows"]] == [["1"], ["2"], ["3"], ["4"]]
    assert case["rows"][0][1] == 0.25
    assert case["rows"][2][3]["r"] == {"granted": "4"}


def test_the_way_of_the_bytes_is_drawn(tmp_path: Path) -> None:
    """Three rows of boxes; the one that differs is marked in the row that was compared. No text becomes markup."""
    cells = [["src[0 +: 4]", "entry 0 + 0", "[0 +: 4]", ""], [ATTACK, "computed", "crc32 [4 +: 4]", "differs"]]
    facts = Difference("wire[4]", 4, 8, 4, "00", "01", key=ATTACK, side="wire", cells=cells, after=True)
    page = safe(html_of([run_of(tmp_path / "r", replace(failed(1, "4 bytes differ"), difference=facts))]))
    (drawing,) = page.xpath("//*[local-name()='svg']")
    assert drawing.get("role") == "img"
    assert drawing.findtext("title") == "4 of 8 bytes differ, first at wire[4]"
    looks = [box.get("class") for box in drawing.iter("rect")]
    assert looks == ["cell"] * 5 + ["differs"]
    assert [text.text for text in drawing.iter("text")].count("…") == 3
    assert float(drawing.get("width")) >= max(
        float(box.get("x")) + float(box.get("width")) for box in drawing.iter("rect")
    )
    odd = replace(facts, cells=[["of a later version"]])
    page = safe(html_of([run_of(tmp_path / "s", replace(failed(1, "4 bytes differ"), difference=odd))]))
    assert not page.xpath("//*[local-name()='svg']")


def test_what_changed(tmp_path: Path) -> None:
    older = run_of(tmp_path / "a", row(1), row(2), row(3))
    begin = replace(BEGIN, run="later", git_commit="beef00")
    newest = run_of(tmp_path / "b", failed(1), failed(2), row(4), begin=begin)
    page = safe(html_of([newest], compare([older, newest])))
    kinds = [one.find("summary").text_content().strip() for one in page.xpath("//section[@id='changed']/details")]
    assert kinds == ["2 REGRESSED", "1 LOST", "1 NEW", "Changed provenance"]
    assert "and 1 more" in page.xpath("//section[@id='changed']")[0].text_content()


def test_an_empty_and_a_killed_run(tmp_path: Path) -> None:
    assert page_of(html_of([run_of(tmp_path / "a")])).find(".//h1").text_content() == "no results"
    page = page_of(html_of([run_of(tmp_path / "b", row(1), end=False)]))
    assert "The run did not end by itself." in page.find(".//header").text_content()


def test_the_text_of_failures_is_bounded(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", *(replace(failed(n), text="x" * 60_000) for n in range(300)))
    assert len(html_of([run])) < 8_000_000


_TEXTS = [ATTACK, "</script", "\x00\x1b", "\ud800", "\u2028", "]]>", "&lt;", '" onload="']
HOSTILE = st.one_of(st.text(max_size=20), st.sampled_from(_TEXTS))
_SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


@settings(suppress_health_check=_SLOW, deadline=None, max_examples=50)
@given(
    texts=st.lists(HOSTILE, min_size=8, max_size=8),
    verdict=st.sampled_from(["passed", "failed", "lost", "skipped"]),
)
def test_any_text_stays_text(tmp_path: Path, texts: list[str], verdict: Any) -> None:
    id, message, text, title, name, value, option, case = texts
    result = Result(id, verdict, 1.0, message=message, text=text, records={name: value}, known=[name], culprit=id)
    begin = Begin(1, name, value, title, options=[option], host=option)
    about = (Suite(id.split("::")[0], title), Case(case, 1, title, [name], [value]))
    run = run_of(tmp_path / "r", result, begin=begin, about=about)
    older = run_of(tmp_path / "s", replace(result, verdict="passed"), begin=begin, about=about)
    page = safe(html_of([run], compare([older, run])))
    assert len(data_in(page)["cases"]) == 1


def test_the_command(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES)
    project.mkeyspec("run", "cases", "--results", "a.ndjson")
    assert project.mkeyspec("report", "html", "a.ndjson", "-o", "out.html").code == 0
    assert len(data_in(safe((tmp_path / "out.html").read_bytes()))["cases"]) == 4
    done = project.mkeyspec("report", "html", "a.ndjson", "--against", "nowhere", "-o", "out.html")
    assert done.code == 2
    assert done.err.startswith("mkeyspec: error[MKS0903]: ")
    assert project.mkeyspec("report", "html", "a.ndjson", "-o", "cases").code == 2


# In a browser ----------------------------------------------------------------------------------

_NAMES = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")
BROWSER = next(filter(None, map(shutil.which, _NAMES)), None)
Load = Callable[[bytes, str], Any]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """The page after its script has run; fails if the browser's console has a word of it."""
    if BROWSER is None:
        pytest.skip("no Chromium: apt-get install chromium-headless-shell")

    def loaded(document: bytes, hash: str = "") -> Any:
        assert BROWSER is not None
        path = tmp_path / "page.html"
        path.write_bytes(document)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
        options.append("--virtual-time-budget=30000")
        done = subprocess.run(
            [BROWSER, *options, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", f"file://{path}{hash}"],
            capture_output=True, timeout=120, check=True,
        )  # fmt: skip
        assert b"CONSOLE" not in done.stderr, done.stderr.decode()
        return page_of(done.stdout)

    return loaded


def shown(page: Any) -> str:
    text: str = page.get_element_by_id("shown").text
    return text


def test_a_browser_shows_ten_thousand_rows(tmp_path: Path, load: Load) -> None:
    about = [Case(f"cases/f{n}.mks::c{n}", 1, "a case", ["CRC-02"]) for n in range(200)]
    ids = [f"{about[n // 50].case}[crc=crc32c,n={n % 50}]" for n in range(10_000)]
    results = [
        Result(id, "passed", 0.001) if n % 7 else Result(id, "skipped", message="needs memcpy")
        for n, id in enumerate(ids)
    ]
    results[5_000] = Result(ids[5_000], "failed", code="MKS2101", message="4 bytes differ", text="the whole text")
    document = html_of([run_of(tmp_path / "r", *results, about=(*ABOUT, *about))])
    page = load(document, "")
    assert page.get("data-ready").isdigit()
    assert shown(page) == "10000 rows of 200 cases"
    first, *_ = cases = page.xpath("//div[@id='list']/details")
    assert len(cases) == 60
    assert "1 of 50 wrong" in first.find("summary").text_content()  # what went wrong comes first
    assert page.get_element_by_id("more").get("hidden") is None
    page = load(document, "#q=c100+n%3D0&without=skipped")
    assert shown(page) == "1 row of 1 case"
    (table,) = page.xpath("//div[@id='list']//table")
    assert [cell.text_content() for cell in table.findall("tr")[0]] == ["verdict", "crc", "n", "seconds", ""]
    cells = [cell.text_content() for cell in table.findall("tr")[1]]
    assert cells[:4] == ["failed", "crc32c", "0", "0.000"]
    assert "MKS2101 4 bytes differ" in cells[4]
    assert "the whole text" in cells[4]
    assert shown(load(document, "#q=bytes+differ")) == "1 row of 1 case"
    assert shown(load(document, "#q=no+such+words")) == "0 rows of 0 cases"
    assert shown(load(document, "#without=passed+failed")) == "1429 rows of 200 cases"


def test_a_browser_runs_nothing_of_a_run(tmp_path: Path, load: Load) -> None:
    results = [Result(f"cases/{ATTACK}::{ATTACK}[{ATTACK}={ATTACK}]", "failed", message=ATTACK, text=ATTACK)]
    page = load(html_of([run_of(tmp_path / "r", *results, begin=replace(BEGIN, host=ATTACK))]), "")
    assert page.findtext(".//title") == "1 wrong of 1 · mkeyspec"
    assert not page.findall(".//img")
    assert re.search(r"onerror=", page.get_element_by_id("list").text_content())
