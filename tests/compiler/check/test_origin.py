"""The place of a step and of its parts, as the step carries it."""

from __future__ import annotations

from dataclasses import replace

from mkeyspec import plan, runtime
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.value.layout import Part
from tests.compiler.statements.lower_text import rows

SOURCE = Source("a.mks", "x" * 100)
CASE = Span(SOURCE, 0, 1)


def at(start: int) -> Span:
    return Span(SOURCE, start, start + 1)


def test_equal_parts_are_told_apart() -> None:
    origin = Origin(at(10), CASE)
    first, second = Part("m", 0, 8), Part("m", 0, 8)
    origin.put(first, at(11))
    origin.put(second, at(12))
    origin.put_member(second, "lkey", at(13))
    assert [origin.get(first), origin.get(second)] == [at(11), at(12)]
    assert [origin.get(first, "lkey"), origin.get(second, "lkey")] == [at(11), at(13)]


def test_what_has_no_place_has_that_of_the_fallback_or_of_the_case() -> None:
    origin = Origin(at(10), CASE)
    step = plan.Recv(plan.At(1, 1), ())
    assert origin.get(Part("m", 0, 8)) == CASE
    assert origin.get(Part("m", 0, 8), "lkey", step) == at(10)


def test_a_request_has_an_origin_of_its_own() -> None:
    section = Origin(at(10), CASE)
    one = section.inner(at(20))
    part = Part("m", 0, 8)
    one.put(part, at(21))
    request = plan.Send(plan.At(1, 1), (part,), origin=one)
    one.put_member(request, "id", at(22))
    assert [section.get(request), section.get(request, "id"), section.get(part)] == [at(20), at(22), at(21)]
    assert section.get(plan.Post(plan.At(1, 1), (request,), origin=section)) == at(10)


def test_each_step_of_a_row_carries_its_origin_through_what_is_changed_of_it() -> None:
    body = """
        memory m = counter(64)
        mkey k
        configure k { access remote_read; layout list(m) }
        peer memory w[64]
        post { write m to w; read m from w, signaled }
        transmit k by peer_read
        let first = wire
        expect wire == m
        """
    (row,) = rows(body)
    steps = [step for step in row.steps if not isinstance(step, plan.Snapshot)]
    assert all(isinstance(step.origin, Origin) for step in steps)
    requests = [request for step in steps if isinstance(step, plan.Post) for request in step.requests]
    spans = [one.origin.span for one in (*steps, *requests) if isinstance(one.origin, Origin)]
    texts = [span.source.text[span.start : span.end] for span in spans]
    assert texts[1] == "mkey k"
    assert texts[-2:] == ["write m to w", "read m from w, signaled"]


def test_an_origin_is_no_part_of_the_value() -> None:
    step = plan.Pd(plan.At(1, 1), "p")
    located = replace(step, origin=Origin(at(1), CASE))
    assert located == step
    assert repr(located) == repr(step)
    assert "Origin" not in runtime.__all__
