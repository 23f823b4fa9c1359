"""Diagnostics as text, JSON, GitHub commands and SARIF."""

from __future__ import annotations

import json

import pytest

from mkeyspec.diagnostics import render
from mkeyspec.diagnostics.diagnostic import Diagnostic, Note
from mkeyspec.diagnostics.source import Source, Span

TEXT = "mks 1\ncase c\n\tmemory m = 日本 % 3\n    configure k {\n        access 0\n    }\n"
SOURCE = Source("cases/a b,c:1.mks", TEXT)


def at(text: str, source: Source = SOURCE) -> Span:
    start = source.text.index(text)
    return Span(source, start, start + len(text))


FULL = Diagnostic(
    "MKS0102",
    "100% wrong, says %0A",
    at("日本"),
    "error",
    "here",
    (Note("declared here", at("c", Source("b.mks", "abc"))), Note("a remark\nof two lines")),
    "write it\nanother way",
    "sig_block(3) seed, CRC-07",
)


def test_text() -> None:
    assert render.text([FULL]) == (
        "error[MKS0102]: 100% wrong, says %0A\n"
        " --> cases/a b,c:1.mks:3:13\n"
        "  |\n"
        "3 |     memory m = 日本 % 3\n"
        "  |                ^^^^ here\n"
        "note: declared here\n"
        " --> b.mks:1:3\n"
        "  |\n"
        "1 | abc\n"
        "  |   ^\n"
        "  = note: a remark\n"
        "          of two lines\n"
        "  = help: write it\n"
        "          another way\n"
        "  = page: sig_block(3) seed, CRC-07\n"
    )


def test_span_of_several_lines() -> None:
    shown = render.text([Diagnostic("MKS0102", "m", at("configure k {\n        access 0\n    }"), "warning", "all")])
    assert shown == (
        "warning[MKS0102]: m\n"
        " --> cases/a b,c:1.mks:4:5\n"
        "  |\n"
        "4 |     configure k {\n"
        "  |     ^^^^^^^^^^^^^\n"
        "...\n"
        "6 |     }\n"
        "  |     ^ all\n"
    )


def test_what_reorders_or_obeys_is_spelled_out() -> None:
    source = Source("e\u202evil.mks", "let a = \x1b[31m\u202e\u200b\n")
    shown = render.text([Diagnostic("MKS0102", "m \u202e", Span(source, 4, 5), help="\x1b[0m")])
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "let a = <U+001B>[31m<U+202E><U+200B>" in shown
    assert "e<U+202E>vil.mks" in shown


def test_colour_only_when_asked() -> None:
    assert "\x1b" not in render.text([FULL])
    coloured = render.text([FULL], colour=True)
    assert "\x1b[1;31merror[MKS0102]\x1b[0m" in coloured


@pytest.mark.parametrize(("start", "end"), [(len(TEXT), len(TEXT)), (0, len(TEXT)), (5, 6), (6, 6)])
def test_any_span_can_be_shown(start: int, end: int) -> None:
    assert "^" in render.text([Diagnostic("MKS0102", "m", Span(SOURCE, start, end))])


def test_a_place_without_text_is_the_file() -> None:
    nowhere = Diagnostic("MKS0801", "there is no such file", Span(Source("x.mks", ""), 0, 0))
    assert render.text([nowhere]) == "error[MKS0801]: there is no such file\n --> x.mks\n"
    assert "line" not in json.loads(render.json_document([nowhere]))["diagnostics"][0]
    assert render.github([nowhere]) == "::error file=x.mks,title=MKS0801::there is no such file\n"
    assert render.one_line(nowhere) == "x.mks: error[MKS0801]: there is no such file"


def test_json() -> None:
    document = json.loads(render.json_document([FULL, Diagnostic("MKS0608", "w", at("case"), "warning")]))
    assert (document["schema"], document["errors"], document["warnings"]) == (1, 1, 1)
    assert document["diagnostics"][0] == {
        "code": "MKS0102",
        "severity": "error",
        "message": "100% wrong, says %0A",
        "file": "cases/a b,c:1.mks",
        "line": 3,
        "column": 13,
        "end_line": 3,
        "end_column": 15,
        "label": "here",
        "notes": [
            {"message": "declared here", "file": "b.mks", "line": 1, "column": 3, "end_line": 1, "end_column": 4},
            {"message": "a remark\nof two lines"},
        ],
        "help": "write it\nanother way",
        "page": "sig_block(3) seed, CRC-07",
        "fix": [],
    }


def test_github_escapes() -> None:
    [line] = render.github([FULL]).splitlines()
    properties, _, message = line.removeprefix("::error ").partition("::")
    assert properties == "file=cases/a b%2Cc%3A1.mks,title=MKS0102,line=3,endLine=3,col=13,endColumn=15"
    assert message.startswith("100%25 wrong, says %250A%0Anote: declared here (b.mks:1:3)%0Anote: a remark%0Aof")
    assert "%0Ahelp: write it%0Aanother way%0Apage: sig_block(3)" in message


def test_github_of_several_lines_has_no_columns() -> None:
    line = render.github([Diagnostic("MKS0102", "m", at("configure k {\n        access 0\n    }"))])
    assert line == "::error file=cases/a b%2Cc%3A1.mks,title=MKS0102,line=4,endLine=6::m\n"


def test_sarif() -> None:
    log = json.loads(render.sarif([FULL, Diagnostic("MKS0608", "w", at("case"), "warning")], "1.2"))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("mkeyspec", "1.2")
    assert [rule["id"] for rule in driver["rules"]] == ["MKS0102", "MKS0608"]
    assert driver["rules"][0]["shortDescription"]["text"] == "reserved word used as a name"
    error, warning = run["results"]
    for result in (error, warning):
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
    assert (error["level"], warning["level"]) == ("error", "warning")
    [location] = error["locations"]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "cases/a%20b%2Cc%3A1.mks", "uriBaseId": "SRCROOT"}
    assert physical["region"] == {"startLine": 3, "startColumn": 13, "endLine": 3, "endColumn": 15}
    assert run["columnKind"] == "unicodeCodePoints"
    [related] = error["relatedLocations"]
    assert related["message"]["text"] == "declared here"
    assert "relatedLocations" not in warning


def test_render_names_its_formats() -> None:
    for format in render.FORMATS:
        assert isinstance(render.render([FULL], format), str)
    with pytest.raises(ValueError, match="no format"):
        render.render([FULL], "xml")
    assert render.render([]) == ""
