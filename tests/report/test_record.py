"""The lines of a stream: the published schema and the reader agree on what is a line, whatever the line is."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mkeyspec.report import record
from mkeyspec.report.reader import Unusable, read
from mkeyspec.report.record import WrongRecord, line_of, record_of
from tests.report.results import failed, row, run_of

SCHEMA = json.loads(
    (Path(record.__file__).parent / "schema" / f"results-{record.SCHEMA}.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

HEAD: dict[str, Any] = {"kind": "run", "schema": 1, "run": "r", "started": "2026-11-22T17:45:01Z", "mkeyspec": "0.1"}
DIFFERENCE: dict[str, Any] = {
    "first": "wire[1]", "differing": 1, "total": 2, "start": 1, "expected": "00", "got": "01",
    "cells": [["src[0 +: 2]", "entry 0 + 0", "[0 +: 2]", "differs"]], "after": True,
}  # fmt: skip
LINES: list[dict[str, Any]] = [
    HEAD,
    {"kind": "device", "device": "mlx5_0", "versions": {"rdma-core": "44.0"}, "offers": ["crypto"], "values": {"a": 1}},
    {"kind": "suite", "file": "cases/a.mks", "title": 'a "title" <b>', "sha256": "00"},
    {"kind": "case", "case": "cases/a.mks::c", "line": 3, "requirements": ["CRC-02"], "needs": ["crypto"]},
    {"kind": "items", "selected": 3},
    {"kind": "start", "id": "cases/a.mks::c[n=1]"},
    {"kind": "result", "id": "cases/a.mks::c[n=1]", "verdict": "passed", "seconds": 0.5, "records": {"a": "1"}},
    {"kind": "calls", "row": "cases/a.mks::c[n=1]", "calls": ["0.001  poll(1) -> ok"]},
    {"kind": "machine", "at": "failure", "row": "cases/a.mks::c[n=1]", "before": {"a": 0}, "after": {"a": 1}},
    {"kind": "end", "seconds": 1.5, "exit": 0},
]
DIFFERS: dict[str, Any] = {
    "kind": "result", "id": "cases/a.mks::c", "verdict": "failed", "looks_like": ["seed"], "difference": DIFFERENCE,
}  # fmt: skip


def readable(data: Any) -> bool:
    try:
        record_of(json.dumps(data).encode())
    except WrongRecord:
        return False
    return True


@pytest.mark.parametrize("data", [*LINES, DIFFERS], ids=[*(line["kind"] for line in LINES), "difference"])
def test_a_line_is_read_and_written_as_it_is(data: dict[str, Any]) -> None:
    VALIDATOR.validate(data)
    found = record_of(json.dumps(data).encode())
    assert found is not None
    assert json.loads(line_of(found)) == data


def wrong() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each field of each line with each value of another type, and left out."""
    others: list[Any] = [None, True, "text", -1, 1.5, [1], {"a": None}, ["a", 2]]
    for line in LINES:
        for name in SCHEMA["$defs"][line["kind"]]["properties"]:
            if name == "kind":
                continue
            yield f"{line['kind']} without {name}", {key: value for key, value in line.items() if key != name}
            for other in others:
                yield f"{line['kind']} {name}={other}", {**line, name: other}
    for name in SCHEMA["$defs"]["difference"]["properties"]:
        rest = {key: value for key, value in DIFFERENCE.items() if key != name}
        for facts in (rest, *({**rest, name: other} for other in (*others, [["a"], [1]]))):
            yield f"difference {name} in {facts}", {**DIFFERS, "difference": facts}


def test_the_schema_and_the_reader_agree() -> None:
    judged = {name: (VALIDATOR.is_valid(data), readable(data)) for name, data in wrong()}
    differ = [name for name, (schema, reader) in judged.items() if schema != reader]
    # The version of the schema is looked at before anything else of a stream.
    assert [name for name in differ if not name.startswith("run schema=")] == []
    assert len({verdict for verdict, _ in judged.values()}) == 2


PLAIN = st.none() | st.booleans() | st.integers() | st.just(0.5) | st.just(-0.5) | st.text(max_size=5)
JSON = PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(st.text(max_size=3), PLAIN, max_size=3)
"""Without 1.0, which is an integer to a schema and a number with a point to Python."""


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from(LINES), st.dictionaries(st.sampled_from(["id", "verdict", "seconds", "records", "x"]), JSON))
def test_any_line(line: dict[str, Any], more: dict[str, Any]) -> None:
    data = {**line, **more}
    assert readable(data) == VALIDATOR.is_valid(data)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.binary())
def test_any_file(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    for head in (b"", json.dumps(HEAD).encode() + b"\n"):
        path = tmp_path_factory.getbasetemp() / "any.ndjson"
        path.write_bytes(head + data)
        with contextlib.suppress(Unusable):
            read(path)


# Bad input -----------------------------------------------------------------------------------


def stream(path: Path, *lines: dict[str, Any] | str) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


@pytest.mark.parametrize(
    ("lines", "code", "text"),
    [
        ([], "MKS0930", "its first line is not of kind `run`"),
        (["mks 1"], "MKS0930", "its first line is not of kind `run`"),
        (['{"kind":"end","seconds":1,"exit":0}'], "MKS0930", "its first line is not of kind `run`"),
        (["[" * 100_000], "MKS0930", "its first line is not of kind `run`"),
        ([{**HEAD, "schema": 2}], "MKS0931", "version 2 of the schema, and this mkeyspec reads 1"),
        ([HEAD, "not JSON", LINES[7]], "MKS0930", "any.ndjson:2: it is not JSON"),
        ([HEAD, {"kind": "result", "id": "a", "verdict": "great"}], "MKS0930", "any.ndjson:2: `verdict` is not what"),
        ([HEAD, HEAD], "MKS0930", "any.ndjson:2: a second run begins in this stream"),
        ([HEAD, {"kind": "result", "verdict": "passed"}], "MKS0930", "a line of kind `result` lacks `id`"),
    ],
)
def test_what_is_no_stream(tmp_path: Path, lines: list[Any], code: str, text: str) -> None:
    with pytest.raises(Unusable, match=f"{code}") as caught:
        read(stream(tmp_path / "any.ndjson", *lines))
    assert text in str(caught.value)


def test_a_stream_that_is_cut_has_what_came_before(tmp_path: Path) -> None:
    path = stream(tmp_path / "any.ndjson", *LINES[:-1])
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind":"result","id":"cases/a.mks::c[n=2]","verd')
    run = read(path)
    assert run.cut
    assert run.end is None
    assert list(run.results) == ["cases/a.mks::c[n=1]"]
    assert run.in_flight == []
    assert run.not_run == 2


def test_what_a_later_version_adds_is_passed_by(tmp_path: Path) -> None:
    run = read(stream(tmp_path / "any.ndjson", {**HEAD, "colour": 3}, {"kind": "weather", "rain": 1}, LINES[-1]))
    assert run.end is not None


def test_an_item_that_runs_again_has_its_last_verdict(tmp_path: Path) -> None:
    first = {"kind": "result", "id": "a::b", "verdict": "failed", "rerun": True}
    run = read(stream(tmp_path / "a", HEAD, {"kind": "start", "id": "a::b"}, first))
    assert run.in_flight == ["a::b"]
    last = {"kind": "result", "id": "a::b", "verdict": "passed"}
    run = read(stream(tmp_path / "a", HEAD, {"kind": "start", "id": "a::b"}, first, last))
    assert run.in_flight == []
    assert run.results["a::b"].verdict == "passed"
    assert [one.verdict for one in run.earlier["a::b"]] == ["failed"]


def test_of_two_workers_that_run_a_row_the_wrong_result_counts(tmp_path: Path) -> None:
    """pytest-xdist, `--dist=each`. A row that is run again has its last result, wherever that is."""
    wrong = failed(1, worker="gw0")
    for order in ([wrong, row(1, worker="gw1")], [row(1, worker="gw1"), wrong]):
        assert [one.verdict for one in run_of(tmp_path / "a", *order).results.values()] == ["failed"]
    again = run_of(tmp_path / "b", failed(1, worker="gw0", rerun=True), row(1, worker="gw1"))
    assert [one.verdict for one in again.results.values()] == ["passed"]
