"""Resetting a QP pair, and what a judged failure makes of its QPs."""

from __future__ import annotations

from mkeyspec.plan import At
from mkeyspec.run import leftovers
from mkeyspec.run.bench import Bench
from mkeyspec.run.endpoint import End, Pair
from mkeyspec.run.verdict import Failure


def reset(bench: Bench, pair: Pair, at: At, failed: str, refused: End | None = None) -> list[Failure]:
    """Bring the pair to rest, judge what is left, and connect it anew. `failed`: the failure that was claimed of it,
    or "" if a section was refused at the end `refused` and the QPs are as they were."""
    pair.failed = failed
    failures = leftovers.settle(bench, pair, reset=at, refused=refused)
    if failed:
        fail_qps(bench, pair)
    bench.look_for_events()
    pair.renew(bench.device.reconnect(pair.handle))
    return failures


def fail_qps(bench: Bench, pair: Pair) -> None:
    """A failure of these QPs is judged: their own error events follow from it, unless they came before."""
    bench.look_for_events()
    handles = {pair.handle.owner.handle, pair.handle.peer.handle}
    for entry in bench.events[bench.seen_events :]:
        if entry.event.qp is not None and entry.event.qp.handle in handles:
            entry.of_failure = True
    bench.failed_qps.update(handles)
