"""Drift: which requirements have sentences that a newer man page no longer contains.

The ledger keeps no sentence of a page, only the number of its words and a hash of them. A page is
read as words alone, so that the same page as text, as roff's output or as Markdown gives the same
sequence; a sentence is found wherever a run of that many words has its hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from mkeyspec.requirements.ledger import Requirement

_WORD = re.compile(r"[a-z0-9_]+")
_HYPHENATED = re.compile("(?<=[a-z])[\u00ad\u2010-]\n\\s*(?=[a-z])")
"""A word that the formatter broke at the end of a line."""


@dataclass(frozen=True, slots=True)
class Drift:
    """`lost` of the `sentences` sentences of an entry are no longer in the page."""

    requirement: Requirement
    lost: int

    @property
    def sentences(self) -> int:
        return len(self.requirement.sentences)


def words(page: str) -> list[str]:
    """The words of a page, lower case, without punctuation and markup."""
    return _WORD.findall(_HYPHENATED.sub("", page.lower()))


def mark(sentence: str) -> str:
    """The form in which the ledger stores a sentence: "18:f4cd64f70f2f"."""
    found = words(sentence)
    return f"{len(found)}:{_hash(found)}"


def sentences(text: str) -> list[str]:
    """The paragraphs of a text; each counts as one sentence."""
    return [one for one in re.split(r"\n\s*\n", text) if words(one)]


def drift(page: str, requirements: Iterable[Requirement]) -> list[Drift]:
    """The entries of `requirements` of which a sentence is missing in the text `page`, in their order."""
    sequence = words(page)
    runs: dict[int, frozenset[str]] = {}
    found = []
    for requirement in requirements:
        lost = 0
        for sentence in requirement.sentences:
            length = int(sentence.split(":")[0])
            if length not in runs:
                last = len(sequence) - length
                runs[length] = frozenset(_hash(sequence[at : at + length]) for at in range(last + 1))
            lost += sentence.split(":")[1] not in runs[length]
        if lost:
            found.append(Drift(requirement, lost))
    return found


def _hash(sequence: list[str]) -> str:
    return hashlib.sha256(" ".join(sequence).encode()).hexdigest()[:12]
