"""Rows without a near miss: which of them say the same of a statement, and what these statements have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mkeyspec.report.record import Result

_REFUSED = re.compile(r"`(?P<kind>\w+)[^`]*` (was rejected at (?P<phase>\w+) with (?P<reason>\w+))")
_COMPLETED = re.compile(r"`(?P<kind>\w+)[^`]*` completed with (?P<reason>\w+), and should succeed")
_ACCEPTED = re.compile(
    r"`(?P<kind>\w+)[^`]*` was accepted, and should be rejected at (?P<phase>\w+) with (?P<reason>\w+)"
)
_NAMED = re.compile(r"`(\w+) [^`]*`")
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_SOURCE = re.compile(r" *\d+ \| (.*)")
_WORD = re.compile(r"[a-z_][a-z_0-9]+")

_ANYWHERE = ("MKS2103", "MKS2104", "MKS2105", "MKS2106", "MKS2202")
"""Guards, bytes that nobody named, what `mkey_check` says, an error that is left over: the names of buffers and keys
are the case's, and say nothing of a cause."""
_OF_KEYS = ("MKS2106", "MKS2202")
_BUFFER = re.compile(r"`\w+`")
_TURN = re.compile(r" \(in turn [^)]*\)\Z")
_ONE_BYTE = re.compile(r"\b1 byte\b")

_POSTED = ("complete", "completion", "post")
"""Phases of work requests. One that stands alone has a statement of its own, several are a `post`."""
_SHARED = 4
"""Words that are named."""


def said(result: Result) -> str:
    """What rows of one cause have in common: code and message, with N for each number. Of a statement: its kind, not
    what it is called; where it was refused, and with what."""
    refused = _REFUSED.match(result.message)
    if refused:
        kind = "" if refused["phase"] in _POSTED else f"`{refused['kind']}` "
        return f"{kind}rejected at {refused['phase']} with {refused['reason']}"
    completed = _COMPLETED.match(result.message)
    if completed:
        return f"rejected at completion with {completed['reason']}"
    if result.code in _ANYWHERE:
        message = _ONE_BYTE.sub("1 bytes", _TURN.sub("", _BUFFER.sub("a buffer", result.message)))
        if result.code in _OF_KEYS:
            message = message.replace("a buffer", "a key")
        return f"{result.code} {_NUMBER.sub('N', message)}"
    message = _NUMBER.sub("N", _NAMED.sub(r"`\1`", result.message) if is_of_step(result) else result.message)
    return " ".join(filter(None, (result.code, message))) or result.verdict


def is_of_all(result: Result) -> bool:
    """Whether it says the same whatever requirement the row verifies: all but bytes that differ."""
    return is_of_step(result) or result.code in _ANYWHERE


def refusal(result: Result) -> tuple[str, str, str] | None:
    """Of a statement that was refused, and should not be: its kind, the phase and the errno."""
    found = _REFUSED.match(result.message)
    if found is None or result.code != "MKS2001":
        return None
    return found["kind"], found["phase"], found["reason"]


def missing_refusal(result: Result) -> tuple[str, str, str] | None:
    """The same of a statement that was accepted, and should be refused."""
    found = _ACCEPTED.match(result.message)
    return (found["kind"], found["phase"], found["reason"]) if found is not None else None


def is_of_step(result: Result) -> bool:
    """Whether it tells of a statement, whatever the case is about."""
    return result.code.startswith("MKS200")


def title_of(results: Sequence[Result]) -> str:
    """The same, with the codes, the kinds of statement, and the words that the statements have in common."""
    what = said(results[0])
    if not is_of_step(results[0]):
        return what
    found = [match for one in results if (match := _REFUSED.match(one.message) or _COMPLETED.match(one.message))]
    kinds = list(dict.fromkeys(match["kind"] for match in found))
    if found:
        codes = ", ".join(dict.fromkeys(one.code for one in results))
        named = "" if what.startswith("`") else f"{', '.join(f'`{kind}`' for kind in kinds)} "
        what = f"{codes} {named}{what}"
    return f"{what}{_in_common(results, kinds)}"


def _in_common(results: Sequence[Result], kinds: Sequence[str]) -> str:
    """The words of all statements that are shown whole, if there are several statements."""
    statements = {(result.id.partition("::")[0], result.line): _statement(result.text) for result in results}
    words = [_WORD.findall(text) for text in statements.values()]
    whole = [_WORD.findall(text) for text in statements.values() if text and not text.endswith("{")]
    if len({tuple(one) for one in whole}) < 2:
        return ""
    shared = [word for word in dict.fromkeys(whole[0]) if word not in kinds and all(word in one for one in whole)]
    if not shared:
        return ""
    named = ", ".join(f"`{word}`" for word in shared[:_SHARED])
    have = sum(all(word in one for word in shared) for one in words)
    number = "all statements" if have == len(words) else f"{have} of {len(words)} statements"
    return f"; {number} have {named}"


def _statement(text: str) -> str:
    """The source that a failure shows, without comments."""
    lines: list[str] = []
    for line in text.splitlines()[1:]:
        source = _SOURCE.fullmatch(line)
        if source:
            lines.append(source[1].partition("#")[0].rstrip())
        elif lines and not line.lstrip().startswith("|"):
            break
    return " ".join(lines)
