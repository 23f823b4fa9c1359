"""Rows that an earlier run with the same arguments had, and this one has not (LOST): no success, whatever else passed.

A run that failed, or that was cut short, does not say what it has lost; so the runs before it are looked at, too, back
to the last one in which nothing went wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mkeyspec.report.place import FILE, is_run_name, streams_in
from mkeyspec.report.reader import Run, Unusable, file_of, read

_LOOKED_AT = 30
"""Earlier runs that are looked at for one with the same arguments."""
_NOTHING_ELSE = frozenset({"-q", "-v", "-x"})
"""Options that select no rows."""


_OF_THE_CACHE = frozenset({"--lf", "--last-failed", "--sw", "--stepwise", "--sw-skip", "--stepwise-skip"})
"""Options by which pytest chooses the rows by what earlier runs found."""


def lost_rows(results: Path, project: Path) -> tuple[str, list[str]]:
    """The name of the run that had the first of them, and the ids of the rows. A row of a file that has changed since,
    or that is not there any more, is not lost; drawn cases and results that are kept elsewhere are not compared."""
    folder, unit = results.parent, ""
    if not is_run_name(folder.name) and is_run_name(folder.parent.name):
        folder, unit = folder.parent, folder.name  # of a device of a lab
    if results.name != FILE or not is_run_name(folder.name):
        return "", []
    now = _run_at(results)
    if now is None or now.begin.seed:
        return "", []
    if _is_balanced(now) or _by_earlier_runs(now):
        return "", []
    lost: dict[str, str] = {}
    """Ids of rows, each with the run that had it last."""
    for before in _like(now, streams_in(folder.parent, unit)):
        if _is_shard(now) and _files(before) != _files(now):
            continue
        had = [id for id, one in before.results.items() if one.verdict != "skipped" and id not in now.results]
        same = [id for id in had if "::" in id and _is_the_same(file_of(id), before, now, project)]
        lost = dict.fromkeys(same, before.begin.run) | lost
    return next(iter(lost.values()), ""), [*lost]


def _is_shard(run: Run) -> bool:
    """Rows go to shards in turns: those of another file may now be in another shard."""
    return any(option.startswith("--shard") for option in run.begin.options)


def _is_balanced(run: Run) -> bool:
    """Rows go to shards by what they took, in a file that may be another one now."""
    return any(option.startswith("--balance") for option in run.begin.options)


def _by_earlier_runs(run: Run) -> bool:
    """pytest chooses the rows by what earlier runs found."""
    return any(option.partition("=")[0] in _OF_THE_CACHE for option in run.begin.options)


def _files(run: Run) -> dict[str, str]:
    return {file: suite.sha256 for file, suite in run.suites.items()}


def _like(now: Run, streams: Sequence[Path]) -> Iterator[Run]:
    """The runs before this one that ended by themselves and had the same arguments, the last one first, up to one in
    which nothing went wrong: what is gone since before that one was told then."""
    wanted = _selection(now)
    own = now.path.resolve()
    for path in [path for path in reversed(streams) if path.resolve() < own][:_LOOKED_AT]:
        run = _run_at(path)
        if run is not None and run.end is not None and _selection(run) == wanted:
            yield run
            if run.end.exit == 0:
                return


def _selection(run: Run) -> tuple[str, ...]:
    of = run.begin.judged.rpartition(", of ")[2]  # the run that a bundle was kept in: one of another run has other rows
    return (run.begin.device, of, *(option for option in run.begin.options if option not in _NOTHING_ELSE))


def _is_the_same(file: str, before: Run, now: Run, project: Path) -> bool:
    old, new = before.suites.get(file), now.suites.get(file)
    if old is None or not (project / file).is_file():
        return False
    return new is None or old.sha256 == new.sha256


def _run_at(path: Path) -> Run | None:
    try:
        return read(path)
    except Unusable:
        return None
