"""A failed case as text: the location in the `.mks` file, the expected and the actual result, and the requirement.

The first line of each failure is `file:line:column: error[MKSnnnn]: …`, so that editors and CI can jump to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mkeyspec.device.profile.profile import Profile
from mkeyspec.lookslike.broken import broken_by
from mkeyspec.plan import At, Step
from mkeyspec.run.likeness import LABEL
from mkeyspec.run.source_text import KnownValues, SourceText
from mkeyspec.run.verdict import CaseInfo, Failure, Verdict

Statement = Callable[[str], "str | None"]
Values = Callable[[CaseInfo, At], "KnownValues | None"]
"""The values at a statement of a row."""
CallsOfStep = Callable[[CaseInfo, Sequence[Step], Profile, At], Sequence[str]]
"""What the statement of a row posts, in lines of C, by the steps of the row."""

_LABEL = 9
_SUSPECTS = 6


def no_values(case: CaseInfo, at: At) -> KnownValues | None:
    """For those who can't evaluate."""
    return None


def no_calls(case: CaseInfo, steps: Sequence[Step], profile: Profile, at: At) -> Sequence[str]:
    """For those who can't write C."""
    return ()


@dataclass(frozen=True, slots=True)
class OfStatements:
    """What is known of statements besides their text: the values at one, and what one posts, in lines of C."""

    values: Values = no_values
    calls: Callable[[At], Sequence[str]] = lambda at: ()


def render(
    case: CaseInfo,
    verdict: Verdict,
    statement: Statement,
    device: str = "",
    again: str = "",
    statements: OfStatements = OfStatements(),
) -> str:
    """The whole text of a failed case. `device`: what it ran on; `again`: the command that runs this row alone;
    `statements`: what is known of them."""
    source = SourceText(case.path)
    blocks = [_failure(case, failure, source, statement, statements) for failure in verdict.failures]
    tail: list[str] = []
    if case.title:
        tail.append(_detail("about", case.title))
    for id in case.verifies:
        tail.append(_detail("verifies", f"{id}: {statement(id) or 'no such entry in the ledger'}"))
    if verdict.known:
        tail.append(_detail("known", f"seen as listed: {', '.join(verdict.known)}"))
    if verdict.not_run:
        places = ", ".join(f"{at}" for at in verdict.not_run[:8])
        more = f" and {len(verdict.not_run) - 8} more" if len(verdict.not_run) > 8 else ""
        count = len(verdict.not_run)
        tail.append(_detail("not run", f"{count} statement{'s' if count > 1 else ''}: {places}{more}"))
    for failure in verdict.consequences:
        place = f"{failure.at}"
        tail.append(_detail("also", f"{place}  {failure.code} {failure.message}; it may follow from that"))
    for at, text in verdict.quiet:
        tail.append(_detail("quiet", f"{at}  {text}"))
    if verdict.unhealthy:
        tail.append(_detail("device", f"not healthy after this case: {verdict.unhealthy}"))
    for name, value in verdict.records.items():
        tail.append(_detail("record", f"{name} = {value}"))
    if device:
        tail.append(_detail("device", device))
    tail.append(_detail("case", case.id))
    if again:
        tail.append(_detail("again", again))
    codes = dict.fromkeys(failure.code for failure in verdict.failures)
    tail.extend(_detail("explain", f"mkeyspec explain {code}") for code in codes)
    if source.lines and verdict.failures:
        tail.append(_detail("", f"mkeyspec explain {case.source}:{verdict.failures[0].at.line}"))
    return "\n\n".join([*blocks, "\n".join(tail)])


def _failure(
    case: CaseInfo, failure: Failure, source: SourceText, statement: Statement, statements: OfStatements
) -> str:
    text = [f"{case.source}:{failure.at.line}:{failure.at.column}: error[{failure.code}]: {failure.message}"]
    text.extend(source.quoted(failure.at))
    label = "with"
    for line in source.values(failure.at, case.at, case.id, statements.values(case, failure.at)):
        text.append(_detail(label, line))
        label = ""
    text.extend(_detail(label, detail) for label, detail in _with_rule(case, failure, statement))
    text.extend(_suspects(failure, source))
    text.extend(_calls(failure, statements))
    return "\n".join(text)


def _with_rule(case: CaseInfo, failure: Failure, statement: Statement) -> list[tuple[str, str]]:
    """The details, and after what it looks like the rule that forbids that. A rule that the case verifies is quoted
    below, with the others."""
    details = list(failure.details)
    names = [name for name, _ in failure.looks_like if not name.startswith("bytes.")]
    rule = broken_by(names, case.verifies) if names else ""
    said = statement(rule) if rule else None
    labels = [label for label, _ in details]
    if said is not None and LABEL in labels:
        at = labels.index(LABEL) + 1
        while at < len(labels) and not labels[at]:
            at += 1
        details.insert(at, ("breaks", f"{rule}, quoted below" if rule in case.verifies else f"{rule}: {said}"))
    return details


def _suspects(failure: Failure, source: SourceText) -> Iterator[str]:
    """The last statements that may have caused it, each with its location and its first line."""
    label, places = failure.suspects
    if len(places) > _SUSPECTS:
        yield _detail(label, f"{len(places) - _SUSPECTS} statements before, and")
        label, places = "", places[-_SUSPECTS:]
    for at in places:
        yield _detail(label, f"{at}  {source.first_line(at)}".rstrip())
        label = ""


def _calls(failure: Failure, statements: OfStatements) -> Iterator[str]:
    """What the statement posts; of one that posts nothing, what the only statement posts that may have caused it."""
    places = failure.suspects[1]
    lines = statements.calls(failure.at) or (statements.calls(places[0]) if len(places) == 1 else ())
    for number, line in enumerate(lines):
        yield _detail("" if number else "in C", line)


def _detail(label: str, text: str) -> str:
    return f"    {label:<{_LABEL}} {text}".rstrip()
