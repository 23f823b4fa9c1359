"""Every diagnostic, as an author sees it.

A test is a `.mks` file in a directory below this one. It says itself what is wrong with it, in a
comment on the line where the diagnostic starts, and its whole output is in the `.out` file beside it:

    for by in send, write       #~ MKS0102 `by` is a reserved word
    expect wire == f(           #~ MKS0104 never closed  #~ MKS0201 no `f`
    #~^ MKS0310 compared with           (of the line above; `^^`: two lines above)

The words after a code are a part of its message. A diagnostic that is not expected fails, and so
does an expected one that is missing; both halves are kept because blessed output is easily
accepted unread. `BLESS=1 pytest tests/ui` writes the `.out` files again. Files whose names begin
with `_` are used by others and are not tests.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mkeyspec.compiler.compile import compile_file
from mkeyspec.diagnostics import render
from mkeyspec.diagnostics.diagnostic import Diagnostic

HERE = Path(__file__).parent
FILES = sorted(p for p in HERE.glob("*/**/*.mks") if not p.name.startswith("_"))
MARK = re.compile(r"#~(\^*) (MKS\d{4}) ?((?:(?!#~).)*)")


def expected(path: Path) -> list[tuple[int, str, str]]:
    """(line, code, part of the message) of every mark in the file."""
    found = []
    for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").split("\n"), 1):
        for mark in MARK.finditer(line):
            found.append((number - len(mark[1]), mark[2], mark[3].strip()))
    return found


def line_of(diagnostic: Diagnostic) -> int:
    source = diagnostic.span.source
    return source.location(diagnostic.span.start).line if source.text else 1


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(HERE).as_posix())
def test_ui(path: Path) -> None:
    diagnostics = list(compile_file(path, root=path.parent).diagnostics)
    text = render.text(diagnostics)
    blessed = path.with_suffix(".out")
    wanted: list[tuple[str, int, str, str]] = []
    for file in {path.name, *(d.span.source.name for d in diagnostics)}:
        if (path.parent / file).is_file():
            wanted += [(file, *mark) for mark in expected(path.parent / file)]
    unexpected = []
    for diagnostic in diagnostics:
        place = (diagnostic.span.source.name, line_of(diagnostic))
        fits = [w for w in wanted if w[:2] == place and w[2] == diagnostic.code and w[3] in diagnostic.message]
        if fits:
            wanted.remove(fits[0])
        else:
            unexpected.append(render.one_line(diagnostic))
    assert not unexpected, "not expected:\n" + "\n".join(unexpected)
    assert not wanted, "expected, and not found:\n" + "\n".join(map(str, wanted)) + f"\n\n{text}"
    if os.environ.get("BLESS") == "1":
        if text:
            blessed.write_text(text, encoding="utf-8")
        else:
            blessed.unlink(missing_ok=True)
    assert blessed.exists() or not text, f"{blessed.name} is not there yet; BLESS=1 writes it. Read it then."
    before = blessed.read_text(encoding="utf-8") if blessed.exists() else ""
    assert text == before, f"{blessed.name} differs; BLESS=1 writes it again"


def test_every_output_has_its_test() -> None:
    outputs = set(HERE.glob("*/**/*.out"))
    assert outputs <= {p.with_suffix(".out") for p in FILES}, "left over from a test that is gone"
