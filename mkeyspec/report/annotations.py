"""What went wrong, as annotations of a change: workflow commands of GitHub, or a code quality report of GitLab."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

from mkeyspec.report.reader import Run, case_of, file_of
from mkeyspec.report.record import WRONG, Result
from mkeyspec.report.rows import plain, results_of

_MOST = 10
"""GitHub shows ten errors of a step."""


def github_of(runs: Sequence[Run]) -> str:
    """One line each, `::error file=…,line=…,title=…::…`; docs.github.com, "Workflow commands"."""
    found = list(_wrong(runs))
    lines = []
    for place, (run, result) in enumerate(found):
        if place == _MOST - 1 and len(found) > _MOST:
            lines.append(f"::error title=mkeyspec::{len(found) - place} more went wrong")
            break
        title = _property(f"{result.id} {result.verdict}")
        text = _data(f"{result.code} {result.message}\n{result.text}".strip())
        lines.append(f"::error file={_property(file_of(result.id))},line={_line(run, result)},title={title}::{text}")
    return "".join(f"{line}\n" for line in lines)


def gitlab_of(runs: Sequence[Run]) -> str:
    """A JSON array; docs.gitlab.com, "Code Quality report format"."""
    issues = [
        {
            "description": plain(
                f"{result.id}: {' '.join(filter(None, (result.code, result.message))) or result.verdict}"
            ),
            "check_name": result.code or result.verdict,
            "fingerprint": hashlib.sha256(f"{result.id} {result.code}".encode(errors="replace")).hexdigest(),
            "severity": "critical" if result.verdict in ("error", "blocked", "lost") else "major",
            "location": {"path": file_of(result.id), "lines": {"begin": _line(run, result)}},
        }
        for run, result in _wrong(runs)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _wrong(runs: Sequence[Run]) -> Iterator[tuple[Run, Result]]:
    for run in runs:
        for result in results_of(run):
            if result.verdict in WRONG:
                yield run, result


def _line(run: Run, result: Result) -> int:
    case = run.cases.get(case_of(result.id))
    return result.line or (case.line if case is not None else 0) or 1


def _data(text: str) -> str:
    """What is not printed is written out: a log is shown on a terminal, and a message is the device's."""
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
