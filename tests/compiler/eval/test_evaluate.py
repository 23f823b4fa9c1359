"""What expressions mean, as a table: `expressions.toml`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.functions.table import FUNCTIONS, language
from mkeyspec.compiler.eval.scope import NoLedger, Scope
from mkeyspec.compiler.eval.values import Handle, Reference, Value
from mkeyspec.compiler.expand.expand import bind
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.syntax import ast
from mkeyspec.syntax.parser import parse
from mkeyspec.value.bytestring import ByteString, Counter, Fill, slice_of
from mkeyspec.value.layout import Part

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROWS: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "expressions.toml").read_text("utf-8"))["row"]


class Said(NoLedger):
    """A ledger in which every buffer holds what it was declared with."""

    held: Mapping[str, ByteString] = MappingProxyType(
        {"m": Fill(0x11, 512), "src": Counter(1032), "k": Counter(1024), "w": Fill(0, 64)}
    )

    def content(self, of: Reference, span: Span) -> ByteString:
        if isinstance(of, Handle):
            return self.held[of.name]
        if isinstance(of, Part):
            assert isinstance(of.start, int)
            assert isinstance(of.length, int)
            return slice_of(self.held[of.name], of.start, of.length)
        return Counter(8)

    def length(self, of: Reference) -> int | None:
        if isinstance(of, Handle):
            held = self.held.get(of.name)
            return None if held is None else held.length
        return 8


def scope() -> Scope:
    outer = language().inner(Said())
    outer.names["n"] = 3
    outer.names["length_hidden"] = 4
    for name in ("d", "sig"):
        source = "crc32(ones) every 512" if name == "d" else "crc32(ones)"
        outer.names[name] = evaluate(expression(source), outer)
    for kind, name, length in (("memory", "m", 512), ("memory", "src", 1032), ("memory", "w", 64), ("mkey", "k", None),
                               ("mkey", "bare", None), ("qp", "q", None)):  # fmt: skip
        outer.names[name] = Handle(kind, name, length)
    outer.names["t"] = Handle("label", "t", step="transmit", shows=("errno", "status", "byte_len"))
    return outer


def expression(text: str) -> ast.Expr:
    """The tree of one expression."""
    diagnostics = Diagnostics()
    file = parse(Source("expression.mks", f"mks 1\nlet value = {text}\n"), diagnostics)
    if file is None or diagnostics.errors or not file.lets:
        raise AssertionError([found.message for found in diagnostics])
    return file.lets[0].value


def meaning(text: str) -> Value:
    return evaluate(expression(text), scope())


@pytest.mark.parametrize("row", ROWS, ids=[row["source"] for row in ROWS])
def test_expression(row: dict[str, Any]) -> None:
    if "code" in row:
        with pytest.raises(Fault) as raised:
            meaning(row["source"])
        found = raised.value.diagnostic
        assert found.code == row["code"], found.message
        assert row.get("says", "") in found.message
    elif "bytes" in row:
        value = meaning(row["source"])
        assert isinstance(value, ByteString)
        assert value.data.hex() == row["bytes"]
    else:
        assert repr(meaning(row["source"])) == row["is"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_stands_in_the_table_right_and_wrong(name: str) -> None:
    right = [row["source"] for row in ROWS if f"{name}(" in row["source"] and "code" not in row]
    wrong = [row["source"] for row in ROWS if f"{name}(" in row["source"] and "code" in row]
    assert right, f"{name} is never called"
    assert wrong or name in {"block_at", "guard_at", "ref_at", "mask_at", "strip", "le16", "le32", "le64", "be64",
                             "int_le", "crc32c", "crc64_xp10", "xts_decrypt"}  # fmt: skip


def test_random_ints_stay_the_same_for_all_time() -> None:
    """A suite's rows must not change with a release; these were drawn when the language was new."""
    assert meaning("random_ints(6, 0..1000, seed=1)") == meaning("random_ints(6, 0..1000, seed=1)")
    assert meaning("random_ints(6, 0..1000, seed=1)") != meaning("random_ints(6, 0..1000, seed=2)")


def test_a_hidden_word_is_named_with_its_place() -> None:
    inner = scope()
    call = expression("length(m)")
    assert isinstance(call, ast.Call)
    inner.bind("length", 512, call.span)
    with pytest.raises(Fault) as raised:
        evaluate(call, inner)
    found = raised.value.diagnostic
    assert found.code == "MKS0204"
    assert found.message == "`length` is an int here, not a function"
    assert found.notes[0].span == call.span


def test_functions_of_the_case() -> None:
    outer = scope()
    diagnostics = Diagnostics()
    file = parse(
        Source("f.mks", "mks 1\nlet blocks(x, size) = length(x) / size\nlet a = blocks(m, 128)\nlet b = blocks(m)\n"),
        diagnostics,
    )
    assert file is not None
    for let in file.lets:
        bind(let, outer, diagnostics)
    assert outer.find("a") == 4
    assert [found.code for found in diagnostics] == ["MKS0303"]
