"""Suggestions for unknown names: did you mean…?"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from mkeyspec.diagnostics.diagnostic import Diagnostic, Fault
from mkeyspec.diagnostics.source import Span

CLOSE = 0.66
"""How alike two words must be (difflib's ratio) for one to be proposed for the other."""

MANY = 2_000
"""Words that are compared at most; of more, those that begin alike: each comparison takes microseconds."""

CALLED_OTHERWISE: dict[str, str] = {
    "rdma_write": "write",
    "rdma_write_with_imm": "write_imm",
    "rdma_read": "read",
    "send_with_imm": "send_imm",
    "send_with_inv": "send_inv",
    "atomic_fetch_and_add": "fetch_add",
    "true": "yes",
    "false": "no",
    "null": "none",
    "nil": "none",
    "len": "length",
    "sizeof": "length",
    "zero": "zeros",
    "one": "ones",
    "concat": "join",
    "crc16": "t10dif",
    "crc64": "crc64_xp10",
    "if_else": "pick",
    "permutations": "arrangements",
}
"""Names from verbs, C or Python that users write, with the names of this language."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "did you mean `crc32`?", or nothing."""
    candidates = list(known)
    if len(candidates) > MANY:
        candidates = [candidate for candidate in candidates if candidate[:1] == name[:1]][:MANY]
    other = CALLED_OTHERWISE.get(name)
    close = [other] if other in candidates else get_close_matches(name, candidates, 1, CLOSE)
    if not close:
        plain = {candidate.replace("_", ""): candidate for candidate in candidates}
        alike = plain.get(name.replace("_", "").lower())
        close = [alike] if alike else []
    return f"did you mean `{close[0]}`?" if close else ""


def id_meant(text: str, known: Iterable[str]) -> str:
    """As `did_you_mean`, of a code or id. Digits in another order come first, since that is a common typing error."""
    ids = sorted(known)
    swapped = [one for one in ids if sorted(one) == sorted(text)]
    return f"did you mean `{swapped[0]}`?" if swapped else did_you_mean(text, ids)


def unknown_name(name: str, span: Span, known: Iterable[str], or_text: bool = False) -> Fault:
    """MKS0202: nothing is called so. `or_text`: it may be meant as a word of the author's own."""
    guess = did_you_mean(name, sorted(known))
    if or_text and not guess:
        guess = f'a word of your own is text: "{name}"'
    return Fault(Diagnostic("MKS0202", f"nothing is called `{name}`", span, help=guess))
