"""Every code has a page, every page an example that earns it, and every code a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mkeyspec.compiler.compile import compile_file
from mkeyspec.diagnostics.codes import CODES, explanation
from mkeyspec.files import resource

ROOT = Path(__file__).parents[2]
SECTIONS = ["What it means", "Example", "Fix", "Page"]
CODE = re.compile(r"MKS\d{4}")


def raised() -> set[str]:
    """The codes that the package names."""
    return {code for path in (ROOT / "mkeyspec").rglob("*.py") for code in CODE.findall(path.read_text("utf-8"))}


def codes_of_the_tests() -> set[str]:
    """The codes that tests name; this file and the blessed output do not count."""
    files = [p for p in (ROOT / "tests").rglob("*") if p.suffix in (".py", ".mks") and p != Path(__file__)]
    return {code for path in files for code in CODE.findall(path.read_bytes().decode("utf-8", "replace"))}


def test_every_code_that_is_raised_has_a_page() -> None:
    assert raised() - {"MKS0000"} <= set(CODES)


def test_every_page_is_of_a_code_that_is_raised() -> None:
    assert set(CODES) <= raised()


def test_every_code_is_tested() -> None:
    assert set(CODES) <= codes_of_the_tests()


def test_no_page_is_left_out_of_the_codes() -> None:
    pages = {p.stem for p in resource.directory("explanations").glob("*.md")}
    assert pages == set(CODES), "a page's first line is `# MKSnnnn: title`"


@pytest.mark.parametrize("code", CODES)
def test_page_has_its_sections(code: str) -> None:
    page = explanation(code)
    assert page is not None
    assert re.findall(r"^## (.*)$", page, re.M) == SECTIONS
    bodies = re.split(r"^## .*$", page, flags=re.M)[1:]
    assert all(body.strip() for body in bodies)
    assert not CODES[code].endswith(".")


def examples() -> list[tuple[str, str]]:
    found = []
    for code in CODES:
        page = explanation(code) or ""
        section = page.partition("## Example")[2].partition("## Fix")[0]
        found += [(code, text) for text in re.findall(r"^```mks\n(.*?)^```", section, re.M | re.S)]
    return found


@pytest.mark.parametrize(("code", "text"), examples(), ids=[code for code, _ in examples()])
def test_example_earns_its_code(code: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "example.mks"
    file.write_text(text, encoding="utf-8")
    assert code in {d.code for d in compile_file(file, root=tmp_path).diagnostics}


def test_explanation_takes_short_codes() -> None:
    assert explanation("102") == explanation("mks0102") == explanation("MKS0102")
    assert explanation("MKS0000") is None
    assert explanation("../MKS0102") is None
