"""The rows of a run, and the values in their ids."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mkeyspec.report.reader import Run
from mkeyspec.report.record import Result

_NOT_PRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def results_of(run: Run) -> Iterator[Result]:
    """With one for each row that was in flight when a run ended whose last line is missing, and one of `the process`
    for all that were not run."""
    yield from run.results.values()
    if run.end is None:
        for id in run.in_flight:
            if id not in run.results:
                text = "the run ended during this row"
                yield _lost(id, text)
    if run.cut_short and (run.not_run or not run.in_flight):
        yield _lost("the process", run.cut_short)


def _lost(id: str, text: str) -> Result:
    return Result(id, "lost", code="MKS2012", message=text, text=f"error[MKS2012]: {text}")


def parameters_of(id: str) -> list[tuple[str, str]]:
    """The `for` values in the id of a row: `crc=crc32,n=3`."""
    row = id.partition("::")[2].partition("[")[2].removesuffix("]")
    found: list[tuple[str, str]] = []
    depth, begin = 0, 0
    for place, character in enumerate(f"{row},"):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth <= 0:
            name, equals, value = row[begin:place].partition("=")
            if equals:
                found.append((name, value))
            begin = place + 1
    return found


def plain(text: str) -> str:
    """For a terminal: what is not printed is written as `\\x1b`."""
    return _NOT_PRINTED.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)
