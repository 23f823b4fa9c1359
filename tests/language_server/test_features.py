"""What each feature answers at a place, as tables. Texts have the mark ‸ where the pointer is."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from mkeyspec.diagnostics.diagnostic import edits_of
from mkeyspec.formatter.format import formatted
from mkeyspec.language_server.code_lens import code_lenses
from mkeyspec.language_server.completion import completions
from mkeyspec.language_server.document import opened
from mkeyspec.language_server.formatting import formatting
from mkeyspec.language_server.hover import hover
from mkeyspec.language_server.inlay_hints import inlay_hints
from mkeyspec.language_server.navigation import definition, references
from mkeyspec.language_server.place import place_of
from mkeyspec.language_server.quick_fixes import quick_fixes
from mkeyspec.language_server.rename import Refused, rename
from mkeyspec.language_server.semantic_tokens import TYPES, semantic_tokens
from mkeyspec.language_server.signature_help import signature
from mkeyspec.language_server.symbols import folds, symbols
from mkeyspec.project.source import compile_source
from tests.language_server.marked import HEAD, MARK, PATH, ROOT, document, unmarked

HOVERS = [
    # the text that is pointed at, within HEAD; what must be said
    ("signature { ‸mem d", ["mem crc32(ones) every 512", "a domain or none", "mlx5dv_wr_set_mkey_sig_block(3)"]),
    ("mkey k { ‸block_signature }", ["block_signature", "mlx5dv_create_mkey(3)"]),
    ("verifies ‸SIG-07", ["**SIG-07**", "mlx5dv_wr_set_mkey_sig_block(3)"]),
    ("= ‸framed(counter(512), d)", ["framed(data, domain", "516 bytes", "00 01 02 03 04 05 06 07"]),
    ("memory ‸src", ["memory src = framed(counter(512), d)", "the memory `src`, 516 bytes: `00 01 02 03"]),
    ("layout list(‸src)", ["the memory `src`, 516 bytes"]),
    ("peer memory ‸far", ["512 bytes"]),
    ("transmit ‸k by", ["mkey k { block_signature }", "the mkey `k`, 516 bytes"]),
    ("layout ‸list(src)", ["a layout of 516 bytes", "0  src[0 +: 516]"]),
    ("by ‸send as", ["`send`"]),
    ("‸transmit k", ["transmit k by send", "takes: an mkey", "rejected at"]),
    ("for ‸n in 1, 2", ["for n in 1, 2", "an int: `1`"]),
    ("let ‸d = crc32", ["let d = crc32(ones) every 512", "a domain"]),
    ("‸expect t.wire", ["expect wire == counter(512)"]),
    ("case ‸first", ["case first", "A title.", "2 rows"]),
    ("let twice(‸x)", ["a parameter"]),
    ("send as ‸t\n", ["transmit k by send as t"]),
]


@pytest.mark.parametrize(("where", "said"), HOVERS, ids=[where for where, _ in HOVERS])
def test_hover(where: str, said: list[str]) -> None:
    before = where.replace(MARK, "")
    assert HEAD.count(before) == 1
    text, offset = unmarked(HEAD.replace(before, where))
    found = hover(document(text, whole=True), offset)
    assert found is not None
    assert found.start <= offset <= found.end
    for part in said:
        assert part in found.text, found.text


@pytest.mark.parametrize("where", ['suite "‸a suite"', "= ‸x + x", "‸\n\ncase first"])
def test_hover_says_nothing(where: str) -> None:
    before = where.replace(MARK, "")
    text, offset = unmarked(HEAD.replace(before, where, 1))
    found = hover(document(text), offset)
    assert found is None or "a parameter" in found.text


def test_hover_of_an_interleaved_layout_draws_it() -> None:
    case = (
        "    memory m[64]\n    mkey l\n    configure l { layout ‸interleaved(2, m count 3 skip 5, m[8..] count 1) }\n"
    )
    text, offset = unmarked(HEAD + case)
    found = hover(document(text), offset)
    assert found is not None
    for line in ("0  m[0 +: 3], then 5 skipped", "3  m[8 +: 1]", "…  all of it 2 times"):
        assert line in found.text


COMPLETIONS = [
    # below HEAD; what is offered first, what is offered, what is not
    ("    ‸", ["memory", "mkey", "transmit", "expect", "let"], ["mem", "block_signature", "suite"]),
    ("    configure k { ‸ }", ["access", "layout", "signature", "crypto"], ["memory", "mem"]),
    ("    configure k { signature { ‸ } }", ["mem", "wire", "check_mask", "copy_mask"], ["access", "transmit"]),
    ("    configure k { layout list(src); ‸", ["access", "signature"], ["memory"]),
    ("    mkey l { ‸", ["block_signature", "crypto", "update_tag", "remote_invalidate", "entries"], ["access"]),
    ("    mkey l { block_signature; up‸", ["update_tag"], ["transmit"]),
    ("    post { ‸ }", ["configure", "send", "write"], ["memory", "transmit"]),
    ("    dek e { ‸ }", ["key", "keytag", "opaque"], ["tweak"]),
    ("    transmit k ‸", ["by", "on", "as", "rejected"], ["src", "framed"]),
    ("    transmit k by ‸", ["send", "peer_read", "write"], []),
    ("    transmit ‸", ["k", "src"], ["n_is_no_name"]),
    ("    verifies CRC-0‸", ["CRC-07", "SIG-07"], ["X-DIFF-01"]),
    ("    transmit k by send known ‸", ["X-DIFF-01"], ["CRC-07"]),
    ("    allow ‸", ["MKS0602"], ["MKS0101"]),
    ("    let y = ‸", ["src", "d", "twice", "counter", "framed", "t10", "zeros"], ["transmit", "every_one"]),
    ("    let y = fra‸", ["framed"], []),
    ("    let y = framed(‸", ["data=", "domain=", "src"], ["memory"]),
    ("    send src, ‸", ["signaled", "fence", "id", "but"], ["memory"]),
    ("    send src, but ‸", ["addr", "length", "lkey"], ["signaled"]),
    ("    send src rejected ‸", ["at complete", "at completion"], ["at create"]),
    ("    send src\n        rejected at ‸", ["complete", "completion"], ["create"]),
    ("    send src completes { ‸ }", ["send", "error"], ["memory", "access"]),
    ("    let y = device.‸", ["max_qp_wr"], ["src"]),
    ("    let y = k.‸", ["max_entries", "lkey"], ["src"]),
    ("    record x = t.‸", ["wire", "status"], ["lkey"]),
    ("    peer ‸", ["memory", "recv", "send"], ["check", "let"]),
    ("    level ‸", ["mandatory", "recommended", "optional"], ["memory"]),
    ("    if n == 1 { ‸ }", ["memory", "transmit"], ["mem"]),
    ("    repeat 3 { ‸ }", ["transmit"], ["memory"]),
    ("\ncase ‸", [], ["memory", "first"]),
    ("    let ‸", [], ["memory", "src"]),
    ("    # ‸", [], ["memory"]),
    ('    let y = "‸', [], ["memory"]),
]


@pytest.mark.parametrize(("line", "offered", "absent"), COMPLETIONS, ids=[line for line, _, _ in COMPLETIONS])
@pytest.mark.parametrize(
    "below", ["\n", "\n    transmit k by send\n\ncase last\n    memory z[4]\n"], ids=["end", "more"]
)
def test_completion(line: str, offered: list[str], absent: list[str], below: str) -> None:
    text, offset = unmarked(HEAD + line + below)
    found = completions(document(text), offset)
    labels = [one.label for one in found]
    assert [label for label in offered if label not in labels] == []
    assert [label for label in absent if label in labels] == []
    assert len(set(labels)) == len(labels)
    assert all(one.start <= offset <= one.end for one in found)


HEADS = [
    ("‸\n", ["mks", "suite", "use", "let", "setup", "case"]),
    ('mks 1\nuse "‸"\n', ["crc.mks", "t10dif.mks"]),
    ('mks 1\nuse "../‸"\n', ["../common.mks", "../keys.mks"]),
    ("mks 1\nlet x = ‸\n", ["counter", "crc32"]),
    ("mks 1\nsetup s { ‸ }\n", ["memory", "mkey"]),
]


@pytest.mark.parametrize(("text", "offered"), HEADS, ids=[text for text, _ in HEADS])
def test_completion_in_the_head(text: str, offered: list[str]) -> None:
    text, offset = unmarked(text)
    labels = [one.label for one in completions(document(text), offset)]
    assert [label for label in offered if label not in labels] == []


def test_completion_says_what_an_item_is() -> None:
    text, offset = unmarked(HEAD + "    verifies ‸\n")
    [one] = [item for item in completions(document(text), offset) if item.label == "SIG-07"]
    assert one.detail
    assert "mlx5dv_wr_set_mkey_sig_block(3)" in one.about
    text, offset = unmarked(HEAD + "    transmit k by ‸\n")
    first = [item.label for item in completions(document(text), offset) if item.first]
    assert set(first) == {"send", "send_imm", "write", "write_imm", "peer_read"}  # mlx5dv's ways to send from an mkey


def test_what_is_meant_comes_first() -> None:
    text, offset = unmarked(HEAD + "    check k is ‸\n")
    first = [item.label for item in completions(document(text), offset) if item.first]
    assert set(first) == {"ok", "bad_guard", "bad_reftag", "bad_apptag"}


SIGNATURES = [
    ("framed(‸", "framed(data, domain, app_tags=[]) -> bytes", 0),
    ("framed(counter(4), ‸", "framed(data, domain, app_tags=[]) -> bytes", 1),
    ("framed(counter(‸4), d)", "counter(n) -> bytes", 0),
    ("framed(counter(4)‸, d)", "framed(data, domain, app_tags=[]) -> bytes", 0),
    ("framed(domain=d, app_tags=‸", "framed(data, domain, app_tags=[]) -> bytes", 2),
    ("framed([1, 2, ‸", "framed(data, domain, app_tags=[]) -> bytes", 0),
    ("twice(‸", "twice(x)", 0),
]


@pytest.mark.parametrize(("call", "label", "active"), SIGNATURES, ids=[call for call, _, _ in SIGNATURES])
def test_signature_help(call: str, label: str, active: int) -> None:
    text, offset = unmarked(f"{HEAD}    let y = {call}\n")
    found = signature(document(text), offset)
    assert found is not None
    assert (found.label, found.active) == (label, active)
    assert all(name in found.label for name, _ in found.parameters)


PLACES = [
    # the name that is pointed at; the line of its declaration; how often the name is there
    ("transmit ‸k by", "    mkey k { block_signature }", 3),
    ("signature { mem ‸d }", "let d = crc32(ones) every 512", 3),
    ("list(‸src)", "    memory src = framed(counter(512), d)", 2),
    ("expect ‸t.wire", "    transmit k by send as t", 2),
    ("let twice(x) = x + ‸x", "let twice(x) = x + x", 3),
    ("case ‸first", "case first", 1),
]


@pytest.mark.parametrize(("where", "line", "count"), PLACES, ids=[where for where, _, _ in PLACES])
def test_definition_and_references(where: str, line: str, count: int) -> None:
    before = where.replace(MARK, "")
    text, offset = unmarked(HEAD.replace(before, where, 1))
    found = document(text)
    [target] = definition(found, offset)
    assert target.path is None
    assert found.text.line(found.text.line_of(target.start)) == line
    places = references(found, offset)
    assert len(places) == count
    assert len({text[start:end] for start, end in places}) == 1
    assert (target.start, target.end) in places


def test_definition_elsewhere() -> None:
    text, offset = unmarked(HEAD + "    let y = ‸t10\n")
    [target] = definition(document(text), offset)
    assert target.path is not None
    assert target.path.name == "common.mks"
    assert target.text[target.start : target.end] == "t10"
    text, offset = unmarked(HEAD.replace('use "', 'use "‸'))
    [target] = definition(document(text), offset)
    assert target.path is not None
    assert target.path.samefile(PATH.parent.parent / "common.mks")
    text, offset = unmarked(HEAD.replace("SIG-07", "SIG‸-07"))
    [target] = definition(document(text), offset)
    assert target.text[target.start : target.end] == "SIG-07"


def renamed(text: str, offset: int, new: str) -> str:
    for start, end, name in reversed(rename(document(text), offset, new).edits):
        text = text[:start] + name + text[end:]
    return text


def test_rename() -> None:
    text, offset = unmarked(HEAD.replace("mkey k ", "mkey ‸k "))
    after = renamed(text, offset, "key_of_it")
    assert after.count("key_of_it") == 3
    assert document(after, whole=True).findings() == []
    text, offset = unmarked(HEAD.replace("let d =", "let ‸d ="))
    assert renamed(text, offset, "dom").count("dom") == 3


REFUSED = [
    "case",
    "expect",
    "by",
    "into",
    "K",
    "a-b",
    "",
    "1a",
    "wire",
    "src",
    "t",
    "send",
    "crc32",
    "é",
    "a b",
    "x\ny",
]


@pytest.mark.parametrize("new", REFUSED)
def test_rename_onto_what_can_not_be_a_name(new: str) -> None:
    """Reserved words, words that mean something here, names that are there, and what is no name."""
    text, offset = unmarked(HEAD.replace("mkey k ", "mkey ‸k "))
    with pytest.raises(Refused):
        rename(document(text + "    let y = crc32(ones)\n"), offset, new)


@pytest.mark.parametrize("where", ["by ‸send", "verifies ‸SIG", "= ‸framed", "‸case", '"A ‸title'])
def test_what_can_not_be_renamed(where: str) -> None:
    text, offset = unmarked(HEAD.replace(where.replace(MARK, ""), where, 1))
    with pytest.raises(Refused):
        rename(document(text), offset, "other")


def test_rename_keeps_meanings() -> None:
    """`m` in a setup and in the cases that use it; a name of another case stays; a local name stays."""
    text = """\
mks 1
setup s { memory ‸m = counter(64) }
case a
    setup s
    expect m == counter(64)
case b
    memory m[4]
    let f(x) = [m for m in 0..x]
"""
    text, offset = unmarked(text)
    assert renamed(text, offset, "z") == text.replace("memory m =", "memory z =").replace("expect m", "expect z")


def test_rename_in_other_files(tmp_path: Path) -> None:
    (tmp_path / "mkeyspec.toml").write_text("", "utf-8")
    library = "mks 1\nlet size = 4\nlet more = size + 1\n"
    user = 'mks 1\nuse "lib.mks"\ncase a\n    memory m = counter(size)\n    let x = "size"  # size\n'
    other = "mks 1\ncase b\n    let size = 3\n    memory m = counter(size)\n"
    for name, text in (("lib.mks", library), ("user.mks", user), ("other.mks", other)):
        (tmp_path / name).write_text(text, "utf-8")
    for path, text in ((tmp_path / "lib.mks", library), (tmp_path / "user.mks", user)):
        found = opened("", 1, text, place_of(path))
        done = rename(found, text.index("size"), "bytes_")
        texts = {path: (text, done.edits), **done.others}
        assert {one.name for one in texts} == {"lib.mks", "user.mks"}
        after = {}
        for one, (old, edits) in texts.items():
            for start, end, new in reversed(edits):
                old = old[:start] + new + old[end:]
            after[one.name] = old
        assert after == {
            "lib.mks": library.replace("size", "bytes_"),
            "user.mks": user.replace("counter(size)", "counter(bytes_)"),
        }


def test_symbols() -> None:
    found = symbols(document(HEAD))
    assert [(one.name, one.kind) for one in found] == [("d", "value"), ("twice", "function"), ("first", "case")]
    inside = [(one.name, one.kind) for one in found[-1].inside]
    assert inside == [("n", "for"), ("src", "memory"), ("far", "memory"), ("k", "mkey"), ("t", "label")]
    assert all(one.start <= one.name_start < one.name_end <= one.end for one in (*found, *found[-1].inside))


def test_folding() -> None:
    text = HEAD + "    if n == 1 {\n        memory z[4]\n    }\n# one\n# two\n"
    found = [(one.first, one.last, one.kind) for one in folds(document(text))]
    assert (7, 19, "region") in found  # the case
    assert (17, 18, "region") in found  # the block, without its closing brace
    assert (20, 21, "comment") in found


COLOURS = [
    ("case", "keyword"), ("first", "class"), ('"A title."', "string"), ("SIG-07", "class"), ("512", "number"),
    ("memory", "method"), ("src", "type"), ("framed", "function"), ("twice", "function"), ("x", "parameter"),
    ("d", "variable"), ("n", "variable"), ("ones", "enumMember"), ("k", "type"), ("t", "label"), ("layout", "method"),
    (".wire", "property"),
]  # fmt: skip


@pytest.mark.parametrize(("word", "kind"), COLOURS)
def test_semantic_tokens(word: str, kind: str) -> None:
    found = semantic_tokens(document(HEAD))
    before, dot, member = word.rpartition(".") if word.startswith(".") else ("", "", word)
    places = [one for one in found if HEAD[one.start - len(dot) : one.end] == before + dot + member]
    assert {one.type for one in places} == {kind}


def test_every_word_has_a_kind_of_the_legend() -> None:
    tokens = semantic_tokens(document(HEAD + "    # a comment\n"))
    assert {one.type for one in tokens} <= set(TYPES)
    assert all(one.end <= other.start for one, other in pairwise(tokens))
    assert any(one.type == "comment" for one in tokens)


def test_inlay_hints() -> None:
    found = document(HEAD, whole=True)
    hints = [(HEAD[: one.at].rsplit(None, 1)[-1], one.text) for one in inlay_hints(found, 0, len(HEAD))]
    assert hints == [("first", "2 rows"), ("src", "516 bytes")]
    assert inlay_hints(document(HEAD), 0, len(HEAD)) == []  # not compiled yet
    assert inlay_hints(found, 0, 10) == []


SECOND = """
case second
    verifies SIG-07
    for n in 1, 2, 3
    memory other = counter(512 * n)
    peer memory away[512 * n]
    write other to away
    expect away == other
"""


@pytest.mark.parametrize(
    ("old", "new", "hints"),
    [
        ("", "", ["2 rows", "516 bytes", "3 rows"]),
        ("write other to away", "write other to nowhere", ["2 rows", "516 bytes"]),
        ("write other to away", "write other to (", ["2 rows", "516 bytes"]),
        ("write other to away", "write other to away, id n / (n - 2)", ["2 rows", "516 bytes"]),
        ("verifies SIG-07\n    for n in 1, 2, 3", "verifies SIG-99\n    for n in 1, 2, 3", ["2 rows", "516 bytes"]),
        ("case second", "case first", []),
        ("for n in 1, 2\n", "for n in 1, 2, [\n", ["3 rows"]),
        ("let d = crc32(ones) every 512", "let d = crc33(ones) every 512", ["3 rows"]),
        ("let d = crc32(ones) every 512", "let d = crc32(ones) every pick(yes, 513, 512)", ["3 rows"]),
        ("let twice(x) = x + x", "let twice(x) = x + nothing", ["2 rows", "516 bytes", "3 rows"]),
        ("counter(512 * n)", "counter(half(n))", ["2 rows", "516 bytes"]),
        ("counter(512 * n)", "counter(512 * half(n))", ["2 rows", "516 bytes"]),
    ],
)
def test_inlay_hints_of_the_cases_without_an_error(old: str, new: str, hints: list[str]) -> None:
    """A mistake in one case, or in a `let` that it uses, takes away the hints of that case alone."""
    head = HEAD.replace("let twice", "let half(x) = 2 / (x - 1)\nlet twice")
    text = (head + SECOND).replace(old, new, 1)
    found = document(text, whole=True)
    assert [one.text for one in inlay_hints(found, 0, len(text))] == hints
    assert bool([one for one in found.findings() if one.severity == "error"]) == bool(old)


def test_code_lenses() -> None:
    found = code_lenses(document(HEAD))
    assert [(one.title, one.arguments[1:]) for one in found] == [
        ("run on the model", ("first", "model")),
        ("run on the software NIC", ("first", "soft")),
    ]


def test_formatting() -> None:
    ugly = HEAD.replace("    peer memory", "  peer   memory").replace("\ncase", "\n\n\n\ncase")
    [(start, end, text)] = formatting(document(ugly))
    assert ugly[:start] + text + ugly[end:] == formatted(ugly) != ugly
    assert formatting(document(formatted(HEAD))) == []


@pytest.mark.parametrize("text", [HEAD + "    memory (\n", HEAD + "    # \ud800\n", "", "\ufeff" + HEAD])
def test_what_is_not_formatted(text: str) -> None:
    assert formatting(document(text)) == []


FIXES = [
    # below HEAD; what is fixed; what stands there afterwards
    ("    transmitt k by send\n", "transmitt", "transmit"),
    ("    let y = framed(src, dd)\n", "dd", "d"),
    ("    expect t.wire = counter(512)\n", "t.wire = counter", "t.wire == counter"),
]


@pytest.mark.parametrize(("line", "old", "new"), FIXES)
def test_quick_fixes(line: str, old: str, new: str) -> None:
    text = HEAD + line
    fixes = [one for one in quick_fixes(document(text, whole=True), len(HEAD), len(text)) if one.preferred]
    assert fixes
    after = text
    for start, end, what in reversed(fixes[0].edits):
        after = after[:start] + what + after[end:]
    assert after == HEAD + line.replace(old, new)


def test_every_correction_of_the_compiler_is_a_quick_fix() -> None:
    """Of the files of tests/ui: as `mkeyspec check --fix` knows them."""
    count = 0
    for path in sorted((ROOT / "tests" / "ui").rglob("*.mks"))[::3]:
        if "limits" in path.parts:
            continue
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        found = document(text, path, whole=True)
        known = [
            (one.code, tuple((edit.span.start, edit.span.end, edit.text) for edit in edits_of(one)))
            for one in compile_source(path, found.place.project).diagnostics
            if edits_of(one) and one.span.source.path == path
        ]
        fixes = [(one.finding.code, one.edits) for one in quick_fixes(found, 0, len(text)) if one.preferred]
        assert sorted(fixes) == sorted(known), path
        count += len(known)
    assert count > 10


def test_a_warning_can_be_allowed() -> None:
    text = HEAD + "\ncase second\n    memory m = counter(64)\n    expect m == counter(64)\n"
    found = document(text, whole=True)
    fixes = [one for one in quick_fixes(found, len(HEAD), len(text)) if one.title.startswith("allow MKS0612")]
    [(start, end, new)] = fixes[0].edits
    after = document(text[:start] + new + text[end:], whole=True)
    assert "MKS0612" in {one.code for one in found.findings()}
    assert "MKS0612" not in {one.code for one in after.findings()}
