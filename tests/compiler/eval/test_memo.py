"""Values that rows share: the same as if each row evaluated them, and evaluated once."""

from __future__ import annotations

from typing import Any

import pytest

from mkeyspec import plan
from mkeyspec.compiler.eval import evaluate as evaluation
from mkeyspec.compiler.eval.functions import table
from mkeyspec.value.bytestring import Counter
from tests.compiler.statements.lower_text import rows


def stored(body: str) -> list[Any]:
    """The bytes that the `store` of each row writes."""
    return [step.data for row in rows(body) for step in row.steps if isinstance(step, plan.Store)]


def test_what_depends_on_the_same_values_is_one_value() -> None:
    first, second, third, fourth = stored(
        """
        for n in 8, 16
        for again in 1, 2
        let data = counter(n)
        memory m[16]
        store m[0 +: n] = data ++ fill(1, 0)
        """
    )
    assert (first, third) == (Counter(8), Counter(16))
    assert first is second
    assert third is fourth


def test_equal_numbers_are_one_meaning() -> None:
    found = stored(
        """
        for how in 1, 2
        for v in 1000, 1001
        let n = v + 0
        memory m[4]
        store m = be32(n)
        """
    )
    assert found[0] is found[2]


BUFFER = """
    let of_wire(byte) = wire ++ fill(byte, 1)
    for n in 1, 2
    memory m = fill(n, 4)
    memory w[5]
    mkey k
    configure k { access remote_read; layout list(m) }
    transmit k by peer_read
    expect wire == m
    """


@pytest.mark.parametrize(
    "lines",
    [
        "    store w = m ++ fill(9, 1)\n",
        "    store w = wire ++ fill(9, 1)\n",
        "    let more(byte) = m ++ fill(byte, 1)\n    store w = more(9)\n",
        "    store w = of_wire(9)\n",
    ],
)
def test_a_buffer_and_the_wire_mean_other_bytes_in_each_row(lines: str) -> None:
    assert [one.data for one in stored(BUFFER + lines)] == [bytes([n] * 4 + [9]) for n in (1, 2)]


def test_an_expression_is_evaluated_once_for_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    invoke = table.invoke

    def counted(function: object, *rest: object) -> object:
        calls.append(str(function).partition("(")[0])
        return invoke(function, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(evaluation, "invoke", counted)
    body = "for a in 1, 2\nfor b in 1, 2, 3\nmemory m = counter(a + 7)\n"
    assert len(rows(body)) == 6
    assert calls.count("counter") == 2
