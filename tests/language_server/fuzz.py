"""Texts and places drawn at random, over all features: whatever an editor may have open, and wherever it may point.

    python -m tests.language_server.fuzz SECONDS [SEED]

A text is one of the test files, changed by a few keystrokes. What raises is written to `corpus/`, one text a file with
the mark at the place, and named; `test_fuzz` looks at the corpus at each run.
"""

from __future__ import annotations

import hashlib
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from mkeyspec.language_server import protocol_values
from mkeyspec.language_server.code_lens import code_lenses
from mkeyspec.language_server.completion import completions
from mkeyspec.language_server.document import Document, changed, opened, read_again, with_whole
from mkeyspec.language_server.formatting import formatting
from mkeyspec.language_server.hover import hover
from mkeyspec.language_server.inlay_hints import inlay_hints
from mkeyspec.language_server.navigation import definition, references
from mkeyspec.language_server.place import Place, place_of
from mkeyspec.language_server.quick_fixes import quick_fixes
from mkeyspec.language_server.rename import Refused, rename
from mkeyspec.language_server.semantic_tokens import semantic_tokens
from mkeyspec.language_server.signature_help import signature
from mkeyspec.language_server.symbols import Symbol, folds, symbols
from mkeyspec.language_server.whole import compiled
from tests.language_server.marked import MARK, ROOT

CORPUS = Path(__file__).parent / "corpus"
HOME = ROOT / "tests" / "ui" / "names" / "not_there.mks"
"""Where a text of the corpus is said to be."""

NEW = (
    *(
        "x",
        "1",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        '"',
        "#",
        ";",
        ",",
        ".",
        "..",
        "+:",
        " = ",
        " == ",
        " every ",
        " but ",
        " in ",
    ),
    *(" for ", "\n", "\r\n", "\r", "\t", "\x0c", "\0", "\ufeff", "\u2028", "\u202e", "é", "😀", "\ud800", "\udc00"),
    *(
        "\ncase x\n",
        "case ",
        "let ",
        "let f(x) = ",
        "expect ",
        "setup s {",
        'use "',
        "mks 2",
        "verifies CRC-",
        "known ",
    ),
    *("rejected at ", "completes {", "if ", "else ", "repeat 3 {", "memory m[4]", 'hex"', "0x", "9" * 40, "allow MKS"),
    *("peer ", "post {", "configure k {", "signature {"),
)


def texts() -> list[tuple[Path, str]]:
    """The test files and the shipped cases that are not long, where they are."""
    found = []
    for folder in ("tests", "cases", "examples"):
        for path in sorted((ROOT / folder).rglob("*.mks")):
            with suppress(OSError, UnicodeDecodeError):
                text = path.read_bytes().decode("utf-8")
                if len(text) < 12_000 and "corpus" not in path.parts:
                    found.append((path, text))
    return found


def mangled(text: str, chance: random.Random) -> tuple[int, int, str]:
    """What is replaced, and by what."""
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.choice((0, 0, 0, 1, 1, 3, 10, 40, 200)))
    kind = chance.randrange(4)
    if kind == 0:
        return start, end, ""
    if kind == 1:
        other = chance.randrange(len(text) + 1)
        return start, start, text[other : other + chance.randrange(60)]
    return start, start if kind == 2 else end, chance.choice(NEW)


def look(document: Document, offset: int) -> None:
    """Ask every feature, and turn what it says into the protocol's values; what is wrong raises."""
    size = len(document.text.value)
    for one in document.findings():
        inside(document, one.start, one.end)
        protocol_values.diagnostic_of(document, one)
    for fix in quick_fixes(document, 0, size):
        edits(document, fix.edits)
    edits(document, formatting(document))
    shown = hover(document, offset)
    if shown is not None:
        inside(document, shown.start, shown.end)
    for target in definition(document, offset):
        protocol_values.location_of(document, target)
    for start, end in references(document, offset):
        inside(document, start, end)
    with suppress(Refused):
        edits(document, rename(document, offset, "another_name").edits)
    items = completions(document, offset)
    for item in items:
        assert 0 <= item.start <= offset <= item.end <= size
    protocol_values.completion_of(document, items)
    signature(document, offset)
    for symbol in symbols(document):
        outline(document, symbol)
    for fold in folds(document):
        assert 0 <= fold.first < fold.last < document.text.lines
    last = 0
    for word in semantic_tokens(document):
        assert last <= word.start <= word.end <= size
        last = word.end
    assert all(number >= 0 for number in protocol_values.tokens_of(document, semantic_tokens(document)).data)
    for hint in inlay_hints(document, 0, size):
        inside(document, hint.at, hint.at)
    for lens in code_lenses(document):
        inside(document, lens.start, lens.end)


def outline(document: Document, symbol: Symbol) -> None:
    inside(document, symbol.start, symbol.end)
    assert symbol.start <= symbol.name_start <= symbol.name_end <= symbol.end
    for one in symbol.inside:
        outline(document, one)


def inside(document: Document, start: int, end: int) -> None:
    assert 0 <= start <= end <= len(document.text.value), (start, end)


def edits(document: Document, found: Any) -> None:
    before = 0
    for start, end, _ in sorted(found):
        assert before <= start
        inside(document, start, end)
        before = end


def session(path: Path, text: str, chance: random.Random, keep: Callable[[Document, int], None]) -> None:
    """A text, opened, changed a few times, looked at after each change."""
    place = place_of(path)
    document = opened("file:///x.mks", 1, text, place)
    for version in range(2, 2 + chance.randrange(1, 5)):
        start, end, new = mangled(document.text.value, chance)
        at = document.text.position(start), document.text.position(end)
        document = changed(document, version, [(*at, new)])
        offset = min(len(document.text.value), max(0, start + chance.randrange(-20, 20)))
        keep(document, offset)
        look(document, offset)
        if chance.randrange(4) == 0:
            document = with_whole(read_again(document), compiled(place, document.compiled_text))
            look(document, offset)


def of_the_corpus() -> Iterator[tuple[str, Document, int]]:
    """Each text of the corpus as it was found, opened whole."""
    place = place_of(HOME)
    for path in sorted(CORPUS.glob("*.txt")):
        text = path.read_bytes().decode("utf-8", "surrogatepass")
        before, _, after = text.partition(MARK)
        yield path.name, document_of(before + after, place), len(before)


def document_of(text: str, place: Place) -> Document:
    document = opened("file:///x.mks", 1, text, place)
    return with_whole(document, compiled(place, document.compiled_text))


def main(seconds: float, seed: int) -> int:
    all_texts = texts()
    chance = random.Random(seed)
    end = time.process_time() + seconds
    count, seen = 0, set()
    last: list[tuple[Document, int]] = []
    while time.process_time() < end:
        path, text = chance.choice(all_texts)
        last.clear()
        try:
            session(path, text, chance, lambda document, offset: last.append((document, offset)))
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} {type(error).__name__}"
            if where in seen:
                continue
            seen.add(where)
            traceback.print_exc()
            if last:
                document, offset = last[-1]
                value = document.text.value
                kept = (value[:offset] + MARK + value[offset:]).encode("utf-8", "surrogatepass")
                CORPUS.mkdir(exist_ok=True)
                (CORPUS / f"{hashlib.sha256(kept).hexdigest()[:12]}.txt").write_bytes(kept)
        count += 1
    print(f"{count} sessions of {len(all_texts)} texts in {seconds:.0f} s of processor time: {len(seen)} places raised")
    for where in sorted(seen):
        print(where)
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
