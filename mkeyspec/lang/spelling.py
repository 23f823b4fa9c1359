"""Names that are not there: did you mean…?"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from mkeyspec.lang.diagnostic import Diagnostic, Fault
from mkeyspec.lang.tree import Span
from mkeyspec.lang.words import WORDS

CLOSE = 0.72
"""How alike two words must be (difflib's ratio) for one to be proposed for the other."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """"did you mean `crc32`?", or nothing."""
    candidates = list(known)
    close = get_close_matches(name, candidates, 1, CLOSE)
    if not close:
        lower = {candidate.replace("_", ""): candidate for candidate in candidates}
        alike = lower.get(name.replace("_", "").lower())
        close = [alike] if alike else []
    return f"did you mean `{close[0]}`?" if close else ""


def page_word(name: str, words: Iterable[str]) -> str:
    """The word of the language for an identifier of the pages; "" if there is none.

    `IBV_ACCESS_REMOTE_READ` is `remote_read`: the longest tail of it that is a word.
    """
    known = set(words)
    parts = name.lower().split("_")
    for i in range(len(parts)):
        tail = "_".join(parts[i:])
        if tail in known:
            return tail
    return ""


def unknown_name(name: str, span: Span, known: Iterable[str], more: Iterable[str] = ()) -> Fault:
    """MKS0201 for an identifier of the pages, MKS0202 for any other name without a meaning.

    `more`: words that may stand elsewhere in a sentence (flags of an mkey), to be proposed for the pages' names.
    """
    names = set(known)
    if name != name.lower():
        word = page_word(name, names | set(WORDS) | set(more))
        help = f"`{word}`" if word else ""
        return Fault(
            Diagnostic(
                "MKS0201",
                f"no `{name}`; page names are written without prefix, in lower case" + (f": {help}" if help else ""),
                span,
                help=help,
            )
        )
    guess = did_you_mean(name, names)
    return Fault(
        Diagnostic(
            "MKS0202",
            f"nothing is called `{name}`",
            span,
            help=guess or f'a word of your own is text: "{name}"',
        )
    )
