"""The text of a failure in the colours of a terminal: its code, its labels, and what differs."""

from __future__ import annotations

import re

_RED, _YELLOW, _GREEN, _CYAN, _BOLD, _RESET = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"

_FIRST = re.compile(r"(?P<place>\S.*?:\d+(?::\d+)?: )?(?P<code>error(?:\[MKS\d{4}\])?:)(?P<message>.*)")
_MARKS = re.compile(r"[\s|│]*\^[\s^]*")
_LABEL = re.compile(r"(?P<margin> {4})(?P<label>looks like:|[a-z][a-z ]*?)(?P<space>  +| (?=\S))(?P<rest>.*)")
_BYTES = re.compile(r"(?P<head> +(?:\d+ +)?)(?P<word>expected|got)(?P<rest> .*)")
_WORDS = {"expected": _GREEN, "got": _RED}


def coloured(line: str) -> str:
    """One line of a failure with escape sequences; other lines are as they were."""
    if found := _FIRST.fullmatch(line):
        place = f"{_BOLD}{found['place']}{_RESET}" if found["place"] else ""
        return f"{place}{_BOLD}{_RED}{found['code']}{_RESET}{_BOLD}{found['message']}{_RESET}"
    if _MARKS.fullmatch(line):
        return f"{_RED}{line}{_RESET}"
    if found := _BYTES.fullmatch(line):
        return f"{found['head']}{_WORDS[found['word']]}{found['word']}{found['rest']}{_RESET}"
    if found := _LABEL.fullmatch(line):
        style = _BOLD + _YELLOW if found["label"] == "looks like:" else _CYAN
        rest = f"{style}{found['rest']}{_RESET}" if found["label"] == "looks like:" else found["rest"]
        return f"{found['margin']}{style}{found['label']}{_RESET}{found['space']}{rest}"
    return line
