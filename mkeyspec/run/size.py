"""How large a row is, so that a report can show the simplest of several."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.run.case_state import CaseState
from mkeyspec.value.layout import Layout


def size_of(state: CaseState) -> dict[str, int]:
    """`requests` of the statements that ran, the most `entries` of a layout, `bytes` of all buffers."""
    requests, entries = 0, 0
    for step in state.taken:
        match step:
            case plan.Post():
                requests += len(step.requests)
                for wr in step.requests:
                    layout: Layout | None = None
                    match wr:
                        case plan.Configure():
                            layout = wr.layout_given()
                        case plan.MrList() | plan.MrInterleaved():
                            layout = wr.layout
                        case _:
                            pass
                    entries = max(entries, len(layout.targets()) if layout is not None else 0)
            case plan.Transmit() | plan.Receive():
                requests += 1
            case _:
                pass
    return {"requests": requests, "entries": entries, "bytes": sum(one.length for one in state.all_buffers())}
