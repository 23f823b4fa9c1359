"""Sections in C: from ibv_wr_start to ibv_wr_complete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mkeyspec import plan
from mkeyspec.device.protocol import LocalInv, RawWqe, WorkRequest
from mkeyspec.repro import calls
from mkeyspec.repro.c.numbers import number
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import pieces_of

if TYPE_CHECKING:
    from mkeyspec.repro.c.language import C
    from mkeyspec.repro.program import Program

Raw = list[list[str]]
"""Of the raw WQEs of a section, in order: what sets the bytes of them that a device gives."""


def _raw_bytes(language: C, step: plan.Post) -> Raw:
    """The live bytes of its raw WQEs, which are set when it is posted."""
    found: Raw = []
    for wr in step.requests:
        if isinstance(wr, plan.RawWqe):
            lines, at = [], 0
            for piece in pieces_of(wr.wqe):
                if not isinstance(piece, ByteString):
                    lines.append(language.part(f"wqe + {at}", piece) + ";")
                at += piece.length
            found.append(lines)
    return found


def post(program: Program, language: C, call: calls.Post, step: plan.Post | None) -> None:
    """Post a section; `result` is what ibv_wr_complete returned."""
    raw = [] if step is None else _raw_bytes(language, step)
    end, other = f"{call.pair}.{call.side}", ""
    if program.pairs.get(call.pair) == "ud":
        other = f"{call.pair}.{'peer' if call.side == 'owner' else 'owner'}"
    lines = [*_runs(program, language, call, end, other, iter(raw))]
    for name in ("ibv", "mlx5"):
        if any(re.search(rf"\b{name}\b", text) for text in lines):
            program.line(f"{name} = {end}.{name};")
    for text in lines:
        program.line(text)


def _runs(
    program: Program, language: C, call: calls.Post, end: str, other: str, raw: Iterator[list[str]]
) -> Iterator[str]:
    """A LOCAL_INV by ibv_post_send is in no section: what is before and after it are sections of their own."""
    run: list[WorkRequest] = []
    first = True

    def section() -> Iterator[str]:
        yield "ibv_wr_start(ibv);"
        for request in run:
            live = next(raw, []) if isinstance(request, RawWqe) else []
            yield from language.requests.lines(request, end, other, live)
        yield "ibv_wr_abort(ibv);" if call.abort else "result = ibv_wr_complete(ibv);"

    for request in call.requests:
        if not (isinstance(request, LocalInv) and request.by_post_send):
            run.append(request)
            continue
        if run:
            yield from section() if first else _where_all_went(section())
            first = False
        rkey = number(request.rkey)
        inv = f"post_local_inv({end}.qp, {program.wr_id(request.wr_id)}, {number(request.flags)}, {rkey})"
        yield f"result = {inv};" if first else f"result = result ? result : {inv};"
        run, first = [], False
    if run or first:
        yield from section() if first else _where_all_went(section())


def _where_all_went(lines: Iterator[str]) -> Iterator[str]:
    yield "if (!result) {"
    yield from (f"\t{text}" for text in lines)
    yield "}"
