"""A case on which three disagree, with the statements that it takes and no more."""

from __future__ import annotations

from mkeyspec.search.three import MODEL, Disagreement, Three
from mkeyspec.shrink.edits import parsed, statements
from mkeyspec.shrink.judge import Judge
from mkeyspec.shrink.shrink import Shrunk, shrink


def small(text: str, found: Disagreement, three: Three, seconds: float) -> Shrunk:
    """Edits are kept that fail where the case fails, and pass on the other. If both fail it, an edit may as well make
    the expectation wrong: then the text stays as it is."""
    if three.device is None or found.alone not in (MODEL, three.name):
        return Shrunk(text, statements(parsed(text)), 0, True)
    fails, passes = (three.model, three.device) if found.alone == MODEL else (three.device, three.model)
    return shrink(text, Judge(three.folder, fails, passes, found.code), seconds)
