"""The parser of tree-sitter takes what the compiler's takes, and makes the same tree: of every file that is here, and
of texts that are changed at random."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import tree_sitter
from lark import Lark, Tree, UnexpectedToken

from editors import lalr
from editors import tree_sitter as made
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source
from mkeyspec.syntax.lexer import STARTS, TEXT, Words
from mkeyspec.syntax.terminators import TooMuch, arrange

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(path for folder in ("cases", "examples", "tests") for path in (ROOT / folder).rglob("*.mks"))
NAMES = {
    "NAME": "name", "INT": "integer", "STRING": "string", "HEX": "hex", "ASCII": "ascii", "REQ": "requirement",
    "CODE": "code", "ERRNO": "error_number", "PREP": "preposition", "CMP": "cmp", "MUL": "mul", "SHIFT": "shift",
    "ALLOW": "allow",
}  # fmt: skip
WITHIN = {"lines", "block_lines", "names", "items", "tuple_items", "modifiers", "outcomes", "for_items"}
"""Rules whose parts are those of the node above; so are all whose name begins with `step_`."""
SELF = {"verifies", "needs", "allow"}
"""Rules that are their own first part."""


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> tree_sitter.Parser:
    library = tmp_path_factory.mktemp("tree-sitter") / "mks.so"
    command = ["cc", "-Wall", "-Wextra", "-Werror", "-std=c11", "-O1", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([*command, str(made.PARSER)], check=True, timeout=120)
    function = ctypes.CDLL(str(library)).tree_sitter_mks
    function.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return tree_sitter.Parser(tree_sitter.Language(capsule(function(), b"tree_sitter.Language", None)))


class Reference:
    """The compiler's lexer and filter of line ends, and Lark's parser with its own trees."""

    def __init__(self) -> None:
        self.lark = Lark(TEXT, start=list(STARTS), parser="lalr", lexer="basic", keep_all_tokens=True)
        self.words = Words(self.lark.terminals)

    def tree(self, text: str) -> Any:
        """None where something is wrong. Raises TooMuch."""
        tokens, _ = self.words.scan(text)
        diagnostics = Diagnostics()
        arranged = arrange(Source("x.mks", text), tokens, diagnostics).tokens
        if diagnostics.found or any(token.type.startswith("BAD") for token in tokens):
            return None
        session: Any = self.lark.parse_interactive(start="file")
        try:
            for token in arranged:
                session.feed_token(token)
            return session.feed_eof()
        except UnexpectedToken:
            return None


REFERENCE = Reference()


def expected(node: Any, at: list[int]) -> Iterator[Any]:
    """The nodes of a tree of Lark's, as `got` has them; `at`: the byte of each character."""
    if not isinstance(node, Tree):
        if node.type != "END":
            yield NAMES.get(node.type, node.value), at[node.start_pos], at[node.end_pos], []
        return
    name = str(node.data)
    parts = [one for child in spine(node) for one in expected(child, at)]
    if name in WITHIN or name.startswith("step_") or name in {"verb", "sentence"}:
        yield from parts
        return
    yield (name, parts[0][1] if parts else 0, parts[-1][2] if parts else 0, parts)


def spine(node: Tree[Any]) -> list[Any]:
    """The children; those of a first child of the same list in its place."""
    rest: list[list[Any]] = []
    while node.data in WITHIN | SELF and isinstance(node.children[0], Tree) and node.children[0].data == node.data:
        rest.append(node.children[1:])
        node = node.children[0]
    return [*node.children, *(child for each in reversed(rest) for child in each)]


def got(node: tree_sitter.Node) -> Any:
    parts = [got(child) for child in node.children if child.type != "comment"]
    if parts and node.type != "file":
        return node.type, node.start_byte, node.end_byte, parts
    ends = (parts[0][1], parts[-1][2]) if parts else (node.start_byte, node.end_byte)
    return node.type, *ends, parts


def compared(parser: tree_sitter.Parser, text: str) -> bool:
    """Whether both find it right; they agree, in the tree as well."""
    root = parser.parse(text.encode()).root_node
    tree = REFERENCE.tree(text)
    assert root.has_error == (tree is None), text
    if tree is None:
        return False
    places = [0]
    for character in text:
        places.append(places[-1] + len(character.encode()))
    (wanted,) = expected(tree, places)
    if wanted[3]:
        assert got(root) == wanted
    return True


def test_the_parser_is_fresh() -> None:
    assert made.main(["--check"]) == 0, "python editors/tree_sitter.py"


def test_a_grammar_that_is_not_lalr_is_seen() -> None:
    parts = (("e", ("e", "PLUS", "e")), ("e", ("INT",)))
    with pytest.raises(lalr.Conflict, match="before PLUS"):
        lalr.Automaton([lalr.Production(origin, right, None) for origin, right in parts], "e")


def test_every_file(parser: tree_sitter.Parser) -> None:
    right = wrong = 0
    for path in FILES:
        with suppress(OSError, UnicodeDecodeError, TooMuch):
            if compared(parser, path.read_text("utf-8").removeprefix("\ufeff")):
                right += 1
            else:
                wrong += 1
    assert right > 200
    assert wrong > 10


def test_changed_texts(parser: tree_sitter.Parser) -> None:
    """A piece of a file, with some characters of it gone, written twice, or of another file."""
    chance = random.Random(20261124)
    texts = [path.read_text("utf-8") for path in FILES[::9] if path.is_relative_to(ROOT / "cases")]
    right = 0
    for _ in range(1500):
        lines = chance.choice(texts).splitlines(keepends=True)
        start = chance.randrange(len(lines))
        text = "".join(lines[start : start + chance.randrange(1, 12)])
        for _ in range(chance.randrange(3)):
            place, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
            end = min(end, place + 4)
            other = chance.choice(texts)
            from_ = chance.randrange(len(other))
            new = chance.choice(("", text[place:end] * 2, other[from_ : from_ + 5], "\n", ";", "\n\n# x\n", " "))
            text = text[:place] + new + text[end:]
        with suppress(TooMuch):
            right += compared(parser, text)
    assert 300 < right < 1400


def test_a_change_is_as_reading_anew(parser: tree_sitter.Parser) -> None:
    """What tree-sitter keeps of the tree before a change is right in the tree after it."""
    chance = random.Random(20261124)
    texts = [path.read_bytes() for path in FILES if path.is_relative_to(ROOT / "cases")]
    texts = [text for text in texts if len(text) < 8_000]
    right = 0
    for _ in range(60):
        text = chance.choice(texts)
        tree = parser.parse(text)
        for _ in range(4):
            start = chance.randrange(len(text) + 1)
            end = min(len(text), start + chance.choice((0, 0, 1, 3, 40)))
            new = chance.choice(
                (b"", b"", b"x", b"(", b"}", b"{", b"\n", b";", b'"', b"#", b"\n\n", b"\xff", b"rejected")
            )
            after = text[:start] + new + text[end:]
            places = (point(text, start), point(text, end), point(after, start + len(new)))
            tree.edit(start, end, start + len(new), *places)
            text, tree = after, parser.parse(after, tree)
            anew = parser.parse(text).root_node
            assert str(tree.root_node) == str(anew)
            right += not anew.has_error
    assert right > 20


def point(text: bytes, place: int) -> tuple[int, int]:
    """The line, and the byte in it."""
    return text.count(b"\n", 0, place), place - (text.rfind(b"\n", 0, place) + 1)


CASE = """\
mks 1
case first
    verifies CRC-02
    let x = framed(m, n=3)  # note
    peer post k by send, signaled
    configure k { layout list(m) }
    expect status == success
"""


def test_colours(parser: tree_sitter.Parser) -> None:
    """Each word has the colour of its kind; of several patterns that fit, the last one counts."""
    language = parser.language
    assert language is not None
    query = tree_sitter.Query(language, (made.HERE / "queries" / "highlights.scm").read_text("utf-8"))
    matches = tree_sitter.QueryCursor(query).matches(parser.parse(CASE.encode()).root_node)
    found: dict[str, str] = {}
    for _, captures in sorted(matches, key=lambda one: one[0]):
        for name, nodes in captures.items():
            for node in nodes:
                found[f"{node.start_point.row + 1} {(node.text or b'').decode()}"] = name
    assert {
        "1 mks": "keyword", "2 case": "keyword", "2 first": "type", "3 CRC-02": "label", "4 framed": "function.call",
        "4 n": "variable.parameter", "4 # note": "comment", "5 peer": "keyword", "5 post": "function.builtin",
        "5 by": "keyword", "5 send": "constant.builtin", "5 signaled": "attribute", "6 layout": "function.builtin",
        "7 success": "constant.builtin", "7 ==": "operator",
    }.items() <= found.items()  # fmt: skip


def test_another_tree_is_seen(parser: tree_sitter.Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NAMES, "INT", "number")
    with pytest.raises(AssertionError):
        compared(parser, "mks 1\n")
