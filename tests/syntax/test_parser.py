"""The parser: the tree it builds, what it never does, and the grammar it is made from."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import GrammarError

from mkeyspec.diagnostics import limits
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source
from mkeyspec.syntax import ast, terminators
from mkeyspec.syntax.lexer import STARTS, TEXT, Words
from mkeyspec.syntax.parser import parse, reserved_words
from tests.shipped import some

ROOT = Path(__file__).parents[2]
CASES = sorted((ROOT / "cases").rglob("*.mks"))


def parsed(text: str) -> tuple[ast.File | None, list[str]]:
    """The file, and the codes of its errors, in order."""
    diagnostics = Diagnostics()
    file = parse(Source("x.mks", text), diagnostics)
    return file, [d.code for d in diagnostics if d.severity == "error"]


def good(text: str) -> ast.File:
    file, codes = parsed(text)
    assert file is not None
    assert codes == []
    return file


def in_case(lines: str) -> tuple[ast.Statement, ...]:
    return good(f"mks 1\ncase c\n{lines}\n").cases[0].body


def shown(node: object) -> object:
    """A value without its places, to compare."""
    if isinstance(node, ast.Name):
        return node.text
    if isinstance(node, ast.Ref | ast.Errno):
        return node.name
    if isinstance(node, ast.Int | ast.Text | ast.Bytes):
        return node.value
    if isinstance(node, ast.Binary):
        return (shown(node.left), node.operator, shown(node.right))
    if isinstance(node, ast.Unary):
        return (node.operator, shown(node.operand))
    if isinstance(node, ast.But):
        return (shown(node.value), "but", node.member.text, shown(node.override))
    if isinstance(node, ast.Range):
        ends = (shown(node.end),) if node.length is None else ("+:", shown(node.length))
        return (shown(node.start), "..", *ends)
    if isinstance(node, ast.Index):
        return (shown(node.of), "[]", shown(node.index))
    if isinstance(node, ast.Attribute):
        return (shown(node.of), ".", node.name.text)
    if isinstance(node, ast.Tuple):
        return [shown(item) for item in node.items]
    if isinstance(node, ast.Call):
        return (shown(node.function), "()", *[shown(a) for a in node.arguments])
    if isinstance(node, ast.List):
        return ("[]", *[shown(a) for a in node.items])
    if isinstance(node, ast.Comprehension):
        return ("for", shown(node.item), node.name.text, shown(node.over))
    if isinstance(node, ast.Argument):
        keyword = () if node.keyword is None else (node.keyword.text, "=")
        return (*keyword, shown(node.value), *[(p.name.text, shown(p.value)) for p in node.pairs])
    return node


def value(text: str) -> object:
    [let] = in_case(f"let x = {text}")
    assert isinstance(let, ast.Let)
    return shown(let.value)


# The grammar ---------------------------------------------------------------------------------


def strict(grammar: str) -> Lark:
    return Lark(grammar, start=list(STARTS), parser="lalr", lexer="basic", keep_all_tokens=True, strict=True)


def test_grammar_has_no_conflict() -> None:
    strict(TEXT)


def test_a_conflict_would_be_noticed() -> None:
    """Modifiers without commas, as an earlier draft had them."""
    loose = TEXT.replace("modified COMMA modifier", "modified modifier")
    assert loose != TEXT
    with pytest.raises(GrammarError, match="conflict"):
        strict(loose)


def test_reserved_words_are_the_28() -> None:
    words = """accepted and but case completes else every expect for if in known let needs not or peer rejected
        verifies when where by into to from on as is"""
    assert reserved_words() == frozenset(words.split())
    assert len(reserved_words()) == 28


class LineEnds:
    """The filter as Lark's own `postlex`."""

    always_accept = ("NEWLINE", "SEMI", "BADQUOTE", "BADSTRING", "BADINT", "BADNAME", "BADSIGN")

    def process(self, stream: Iterator[lark.Token]) -> Iterator[Any]:
        tokens: list[Any] = list(stream)
        words: list[Any] = terminators.arrange(Source("x", ""), tokens, Diagnostics()).tokens
        return (word if isinstance(word, lark.Token) else lark.Token(word.type, word.value) for word in words)


def test_lark_alone_takes_the_cases() -> None:
    """What the benchmark compares with: the same grammar, Lark's own lexer and trees."""
    alone = Lark(TEXT, start="file", parser="lalr", lexer="basic", postlex=LineEnds())
    for path in some(CASES, 4):
        assert alone.parse(path.read_text("utf-8")).data == "file"


def test_our_lexer_finds_what_larks_finds() -> None:
    parser = strict(TEXT)
    words = Words(parser.terminals)
    for path in some(CASES, 4):
        text = path.read_text("utf-8")
        ours, _ = words.scan(text)
        theirs = list(parser.lex(text, dont_ignore=False))
        assert [(t.type, t.value, t.start_pos, t.end_pos) for t in ours] == [
            (t.type, str(t), t.start_pos, t.end_pos) for t in theirs
        ]


# The tree ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_shipped_cases_parse(path: Path) -> None:
    _, codes = parsed(path.read_text("utf-8"))
    assert codes == []


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1 + 2 * 3", (1, "+", (2, "*", 3))),
        ("1 - 2 - 3", ((1, "-", 2), "-", 3)),
        ("(1 - 2) - 3", ((1, "-", 2), "-", 3)),
        ("a | b ^ c & d", ("a", "|", ("b", "^", ("c", "&", "d")))),
        ("a << 1 + 2", ("a", "<<", (1, "+", 2))),
        ("a ++ b * 3", ("a", "++", ("b", "*", 3))),
        ("mask & 0xf0 == 0xf0", (("mask", "&", 0xF0), "==", 0xF0)),
        ("a == b and not c or d", ((("a", "==", "b"), "and", ("not", "c")), "or", "d")),
        ("a not in b", ("a", "not in", "b")),
        ("sig every 512", ("sig", "every", 512)),
        ("crc32(ones) every n * 2", (((("crc32", "()", ("ones",)), "every", "n")), "*", 2)),
        ("a but flags 1 << 3", ("a", "but", "flags", (1, "<<", 3))),
        ("a but x 1 but y 2", (("a", "but", "x", 1), "but", "y", 2)),
        ("-a.b[1](2)", ("-", ((("a", ".", "b"), "[]", 1), "()", (2,)))),
        ("m[16 +: 512]", ("m", "[]", (16, "..", "+:", 512))),
        ("m[a..b + 1]", ("m", "[]", ("a", "..", ("b", "+", 1)))),
        ("m[1000..]", ("m", "[]", (1000, "..", None))),
        ("[m[i +: 1] for i in 0..n]", ("for", (("m", "[]", ("i", "..", "+:", 1)),), "i", (0, "..", "n"))),
        ("f(2, a count 512 skip 4, seed=7)", ("f", "()", (2,), ("a", ("count", 512), ("skip", 4)), ("seed", "=", 7))),
        ("[]", ("[]",)),
        ("(1, (2, 3),)", [1, [2, 3]]),
        ("n-1", ("n", "-", 1)),
        ('hex"15d2 86f7"', bytes.fromhex("15d286f7")),
        ('ascii"a\\"b"', b'a"b'),
        ('"a \\\\ b"', "a \\ b"),
        ("4K + 0x1f + 0b101 + 1_000 + 2M + 1G", (((((4096, "+", 31), "+", 5), "+", 1000), "+", 2 << 20), "+", 1 << 30)),
        ("[1,\n  2,\n  3]", ("[]", (1,), (2,), (3,))),
        ("1 +\n 2", (1, "+", 2)),
        ("1\n + 2", (1, "+", 2)),
    ],
)
def test_values(text: str, tree: object) -> None:
    assert value(text) == tree


def test_a_line_that_starts_with_minus_is_a_statement() -> None:
    _, codes = parsed("mks 1\ncase c\nlet x = 1\n- 2\n")
    assert codes == ["MKS0100"]


def test_a_sentence_with_all_its_parts() -> None:
    [step] = in_case(
        "peer post k[0 +: 4] by a into b as c = 3, signaled, id 5, but num_setters 3 { x 1; y } "
        "rejected at complete with EINVAL or accepted when n > 4 known X-DIFF-10 framed(a, m)"
    )
    assert isinstance(step, ast.Step)
    assert step.peer
    assert step.verb.text == "post"
    assert [(p.preposition.text, shown(p.value)) for p in step.phrases] == [("by", "a"), ("into", "b"), ("as", "c")]
    assert shown(step.value) == 3
    assert [(m.name.text, shown(m.value), m.but) for m in step.modifiers] == [
        ("signaled", None, False), ("id", 5, False), ("num_setters", 3, True)
    ]  # fmt: skip
    assert step.block is not None
    assert [line.verb.text for line in step.block.lines if isinstance(line, ast.Step)] == ["x", "y"]
    assert step.claim is not None
    rejected, accepted = step.claim.outcomes
    assert isinstance(rejected, ast.Rejected)
    assert (rejected.phase.text, shown(rejected.reason)) == ("complete", "EINVAL")
    assert isinstance(accepted, ast.Accepted)
    assert shown(step.claim.when) == ("n", ">", 4)
    assert step.known is not None
    assert step.known.requirement.text == "X-DIFF-10"
    assert step.known.value is not None


def test_claims_and_knowns_on_lines_of_their_own() -> None:
    body = in_case(
        """
        configure k, signaled, id 41
            completes { driver1, id 41 }
        send k
            rejected at completion
            or accepted
            when n > 4
            known X-BUG-01 accepted
        check k is bad_guard, block 1,
            found field(a, b)
            known X-DIFF-10, block 2
        expect wire == a
            known X-DIFF-07"""
    )
    configure, send, check, expect = body
    assert isinstance(configure, ast.Step)
    assert configure.claim is not None
    assert isinstance(configure.claim.outcomes[0], ast.Completes)
    assert isinstance(send, ast.Step)
    assert send.known is not None
    assert isinstance(send.known.outcome, ast.Accepted)
    assert isinstance(check, ast.Step)
    assert [m.name.text for m in check.modifiers] == ["block", "found"]
    assert check.known is not None
    assert [m.name.text for m in check.known.modifiers] == ["block"]
    assert isinstance(expect, ast.Expect)
    assert expect.known is not None
    assert expect.known.value is None


def test_for_if_and_heads() -> None:
    file = good(
        """mks 1
suite "s"
use "a.mks"
let f(x, y) = x + y
case one
    "The title."
    verifies CFG-07, X-DIFF-08,
        XCHK-03, CFG-04b
    needs qp.dc, device.x > 3
    isolated
    for bad in first: 0, last: n - 1
    for op, right in
        (recv, local_write),
        (read, remote_read)
    where op != recv or bad == 0
    if a == 1 { send a } else if a == 2 { send b } else { send c }
case two "its title"
    peer memory w[512]
"""
    )
    assert file.suite is not None
    assert file.suite.value == "s"
    assert [u.value for u in file.uses] == ["a.mks"]
    [let] = file.lets
    assert let.parameters is not None
    assert [p.text for p in let.parameters] == ["x", "y"]
    one, two = file.cases
    assert one.title is not None
    assert one.title.value == "The title."
    assert [n.text for n in one.verifies] == ["CFG-07", "X-DIFF-08", "XCHK-03", "CFG-04b"]
    assert len(one.needs) == 2
    assert one.isolated
    bad, op, where, choice = one.body
    assert isinstance(bad, ast.For)
    assert [i.label.text if i.label else None for i in bad.items] == ["first", "last"]
    assert isinstance(op, ast.For)
    assert [n.text for n in op.names] == ["op", "right"]
    assert isinstance(where, ast.Where)
    assert isinstance(choice, ast.If)
    assert choice.orelse is not None
    assert isinstance(choice.orelse.lines[0], ast.If)
    assert two.title is not None
    assert two.title.value == "its title"


def test_spans_are_exact() -> None:
    text = "mks 1\ncase c\n    transmit (k)[0 +: 4] by op as t, but tag 0   # comment\n"
    file = good(text)
    [step] = file.cases[0].body
    assert isinstance(step, ast.Step)
    assert text[step.span.start : step.span.end] == "transmit (k)[0 +: 4] by op as t, but tag 0"
    assert step.operand is not None
    assert text[step.operand.span.start : step.operand.span.end] == "(k)[0 +: 4]"
    modifier = step.modifiers[0]
    assert text[modifier.span.start : modifier.span.end] == "but tag 0"
    assert [text[c.start : c.end] for c in file.comments] == ["# comment"]
    assert text[file.cases[0].span.start : file.cases[0].span.end] == text[6:].partition("   #")[0]


def test_line_ends_of_windows() -> None:
    text = "mks 1\ncase c\n    let a = 1\n    send a,\n      signaled\n"
    assert [c.name.text for c in good(text.replace("\n", "\r\n")).cases] == ["c"]


def test_words_of_the_language_that_are_not_reserved_may_be_names() -> None:
    in_case("let use = 1\nlet suite = 2\nlet at = 3\nlet with = 4\nlet mks = 5\nlet crc = at + with")


# Recovery ------------------------------------------------------------------------------------


def test_good_cases_survive_bad_ones() -> None:
    file, codes = parsed("mks 1\nlet a = 1\ncase bad\n  let b =\ncase good\n  let c = 1\ncase bad2\n  x (\n")
    assert file is not None
    assert [c.name.text for c in file.cases] == ["good"]
    assert codes == ["MKS0100", "MKS0104"]


def test_after_an_error_before_the_cases_none_is_judged() -> None:
    file, codes = parsed("mks 1\nlet a =\ncase good\n  let c = a\n")
    assert file is not None
    assert file.cases == ()
    assert codes == ["MKS0100"]


def test_every_bad_line_of_a_block_is_reported() -> None:
    _, codes = parsed("mks 1\ncase c\n  post {\n a b c d\n send k\n if x { 4 }\n send k, as k\n }\n  let q =\n")
    assert len(codes) == 4


def test_too_many_errors_end_the_reading() -> None:
    _, codes = parsed("mks 1\ncase c\n" + "let a =\n" * 500)
    assert codes.count("MKS0100") == limits.ERRORS.most
    assert codes.count("MKS0714") == 1
    _, codes = parsed("mks 1\ncase c\n" + "let a = $\n" * 500)
    assert codes.count("MKS0110") == limits.ERRORS.most
    assert codes.count("MKS0714") == 1


# Limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("let x = " + "(" * 100_000, "MKS0703"),
        ("let x = " + "[" * 65 + "]" * 65, "MKS0703"),
        ("post {" * 100_000, "MKS0703"),
        ("let x = " + "- " * 100_000 + "1", "MKS0713"),
        ("where " + "not " * 100_000 + "a", "MKS0713"),
        ("let x = 1" + " + 1" * 50_000, "MKS0713"),
        ("let x = a" + ".b" * 50_000, "MKS0713"),
        ("let x = a" + "[1].b" * 30_000, "MKS0713"),
        ("let x = a" + " but x 1" * 50_000, "MKS0713"),
        ("if a { }" + " else if a { }" * 30_000, "MKS0713"),
        ("let x = f" + "(1)" * 50_000, "MKS0713"),
        ("a\n" * 130_000, "MKS0702"),
        ("let x = [" + "1, " * 30_000 + "3 4]", "MKS0715"),
        ("post { " + "send m; " * 30_000 + "}", "MKS0715"),
        (")\n" * 5_000, "MKS0714"),
        ("let x = " + "9" * 100_000, "MKS0709"),
        ("let x = 0x" + "f" * 33, "MKS0709"),
    ],
    ids=lambda v: v[:24] if isinstance(v, str) else None,
)
def test_limits(text: str, code: str) -> None:
    start = time.process_time()
    _, codes = parsed(f"mks 1\ncase c\n{text}\n")
    assert codes[-1] == code
    assert len(codes) == 1 or code == "MKS0714"
    assert time.process_time() - start < 5  # processor seconds: what hangs, or grows with the square, takes more


def test_what_is_just_within_the_limits() -> None:
    depth = limits.NESTING.most
    in_case(f"let x = {'(' * depth}1{')' * depth}")
    in_case("let x = 1" + " + 1" * (limits.OPERATORS.most - 2))
    in_case("let x = [" + ", ".join(["1 + 1"] * 10_000) + "]")
    in_case(f"let x = {(1 << limits.INT_BITS.most) - 1}")


# What it never does --------------------------------------------------------------------------

SOUP = [
    *sorted(reserved_words()), "mks", "1", "suite", "use", "a", "send", "k", "X-DIFF-01", "EINVAL", "IBV_X", "0x", "4K",
    '"t"', '"', 'hex"01"', 'hex"0', "(", ")", "[", "]", "{", "}", ",", ";", "\n", "=", "==", "<", "<<", "+", "++", "+:",
    "-", "*", "..", ".", ":", "|", "&", "~", "#", "at", "with", "complete", "'", "\0", "é", "\u202e", "\r",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(SOUP), max_size=60))
def test_word_soup_never_raises(words: list[str]) -> None:
    file, codes = parsed("mks 1\ncase c\n" + " ".join(words))
    assert file is not None or codes


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_never_raises(text: str) -> None:
    parsed(text)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_mutated_cases_never_raise(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(CASES)).read_text("utf-8")
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 12)))
    piece = data.draw(st.sampled_from(["", *SOUP]))
    start = time.process_time()
    file, codes = parsed(text[:begin] + piece + text[end:])
    assert file is not None or codes
    assert time.process_time() - start < 5  # processor seconds: what hangs, or grows with the square, takes more


def test_needs_of_a_file_are_of_each_case() -> None:
    found = good("mks 1\nneeds memcpy, not crypto\nlet n = 4\nneeds qp.dci\ncase a\n    needs qp.ud\ncase b\n")
    texts = [[need.span.source.text[need.span.start : need.span.end] for need in case.needs] for case in found.cases]
    assert texts == [["memcpy", "not crypto", "qp.dci", "qp.ud"], ["memcpy", "not crypto", "qp.dci"]]
