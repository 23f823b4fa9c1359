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
_MEMBER = re.compile(
    r"the completion of `(?P<kind>\w+)[^`]*` has another (?P<member>\w+): (?P<got>.*), not (?P<want>.*)\Z"
)
_LISTED = re.compile(r"`(?P<kind>\w+)[^`]*` (?P<how>completed otherwise than listed: .*)\Z")
_CAME = re.compile(r"completed otherwise than listed: (\d+) of (\d+) completions came")
_EQUAL = re.compile(r"(?P<name>.+) is (?P<got>\S+( \(0x[0-9a-f]+\))?), not == (?P<want>.*)\Z")
_WHOLE = re.compile(r"(\d+)( \(0x[0-9a-f]+\))?")
_NAMED = re.compile(r"`(\w+) [^`]*`")
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_SOURCE = re.compile(r" *\d+ \| (.*)")
_WORD = re.compile(r"[a-z_][a-z_0-9]+")

_OF_VALUES = ("MKS2105", "MKS2109", "MKS2110", "MKS2120")
"""Numbers of a statement. Where they are the same in all rows, they are shown."""
_ANYWHERE = ("MKS2103", "MKS2104", "MKS2105", "MKS2106", "MKS2202")
"""Guards, bytes that no statement named, what `mkey_check` says, an error that is left over: the names of buffers and
keys are the case's, and say nothing of a cause."""
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
    plain = _TURN.sub("", result.message)
    refused = _REFUSED.match(plain)
    if refused:
        kind = "" if refused["phase"] in _POSTED else f"`{refused['kind']}` "
        return f"{kind}rejected at {refused['phase']} with {refused['reason']}"
    completed = _COMPLETED.match(plain)
    if completed:
        return f"rejected at completion with {completed['reason']}"
    other = _MEMBER.match(plain)
    if other:
        return f"{result.code} another {other['member']}"
    listed = _LISTED.match(plain)
    if listed:
        return f"{result.code} {_NUMBER.sub('N', listed['how'])}"
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
    first = results[0]
    if not is_of_step(first):
        return _values(results) if first.code in _OF_VALUES else said(first)
    members, lists = _matches((_MEMBER,), results), _matches((_LISTED,), results)
    found = members or lists or _matches((_REFUSED, _COMPLETED), results)
    kinds = list(dict.fromkeys(match["kind"] for match in found))
    codes = ", ".join(dict.fromkeys(one.code for one in results))
    named = ", ".join(f"`{kind}`" for kind in kinds)
    if members:
        what = f"{codes} the completion of {named} has another {members[0]['member']}{_by_how_much(members)}"
    elif lists:
        what = f"{codes} {named} {_listed([match['how'] for match in lists])}"
    elif found:
        what = said(first)
        what = f"{codes} {what}" if what.startswith("`") else f"{codes} {named} {what}"
    else:
        what = said(first)
    return f"{what}{_in_common(results, kinds)}"


def _matches(patterns: Sequence[re.Pattern[str]], results: Sequence[Result]) -> list[re.Match[str]]:
    messages = [_TURN.sub("", one.message) for one in results]
    return [found for message in messages for one in patterns if (found := one.match(message))]


def _values(results: Sequence[Result]) -> str:
    """Of a number that is not the expected one."""
    first = results[0]
    if len({one.message for one in results}) == 1:
        return f"{first.code} {first.message}"
    equal = _matches((_EQUAL,), results)
    if len(equal) == len(results) and len({match["name"] for match in equal}) == 1:
        difference = _by_how_much(equal)
        if difference:
            return f"{first.code} {equal[0]['name']} is{difference.removeprefix(':')}"
    return said(first)


def _listed(hows: Sequence[str]) -> str:
    """How lists of completions differ: in the same way, by as many completions, or with N for each number."""
    if len(set(hows)) == 1:
        return hows[0]
    came = [_CAME.fullmatch(how) for how in hows]
    missing = {int(one[2]) - int(one[1]) if one else 0 for one in came}
    by = missing.pop() if len(missing) == 1 else 0
    if by:
        return f"completed otherwise than listed: {by} completion{'s' if by > 1 else ''} did not come"
    return _NUMBER.sub("N", hows[0])


def _by_how_much(members: Sequence[re.Match[str]]) -> str:
    """The values, or the difference, where all rows have the same one."""
    values = {(match["got"], match["want"]) for match in members}
    if len(values) == 1:
        return ": {}, not {}".format(*values.pop())
    numbers = [(_WHOLE.fullmatch(got), _WHOLE.fullmatch(want)) for got, want in values]
    differences = {int(got[1]) - int(want[1]) if got and want else 0 for got, want in numbers}
    by = differences.pop() if len(differences) == 1 else 0
    return f": {abs(by)} {'less' if by < 0 else 'more'} than expected" if by else ""


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
