"""Suggestions for unknown names: did you mean…?"""

from __future__ import annotations

import re
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
    "untouched": "unchanged",
    "unmodified": "unchanged",
    "same": "unchanged",
    "memset": "store",
    "atomic_add": "fetch_add",
    "atomic_cas": "compare_swap",
    "cas": "compare_swap",
    "cmp_swap": "compare_swap",
    "copy": "memcpy",
    "get": "read",
    "put": "write",
    "set": "store",
    "config": "configure",
    "setup": "configure",
    "transfer": "transmit",
    "xfer": "transmit",
    "free": "destroy",
    "delete": "destroy",
    "remove": "destroy",
    "close": "destroy",
    "register": "memory",
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
    "aes_xts": "xts_encrypt",
    "if_else": "pick",
    "wr_start": "post",
    "ibv_wr_start": "post",
    "assert_eq": "expect",
    "assert": "expect",
    "permutations": "arrangements",
}
"""Names from verbs, C or Python that users write, with the names of this language."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "did you mean `crc32`?", or nothing."""
    candidates = [one for one in known if one != name]
    if len(candidates) > MANY:
        candidates = [candidate for candidate in candidates if candidate[:1] == name[:1]][:MANY]
    other = CALLED_OTHERWISE.get(name)
    close = [other] if other in candidates else _same_word(name, candidates) or _close(name, candidates)
    if not close:
        plain = {candidate.replace("_", ""): candidate for candidate in candidates}
        alike = plain.get(name.replace("_", "").lower())
        close = [alike] if alike else _of_a_call(name, candidates)
    return f"did you mean `{close[0]}`?" if close else ""


def _close(name: str, candidates: list[str]) -> list[str]:
    """The most alike of `candidates`, unless it is another word that only shares letters; none for one letter."""
    if len(name) < 2:
        return []
    alike = get_close_matches(name, candidates, 4, CLOSE)
    return [one for one in alike if _contained(name, one) or _typing_errors(name, one) <= max(1, len(name) // 3)][:1]


def _abbreviated(parts: list[str], of: list[str]) -> bool:
    """Whether each of `parts` begins as its counterpart does, or is begun by it: `reset_sig` of `reset_signature`."""
    pairs = list(zip(parts, of, strict=False))
    return len(parts) == len(of) and all(len(a) > 2 and (a.startswith(b) or b.startswith(a)) for a, b in pairs)


_ENDING = re.compile(r"(?:ies|es|ed|s|d|y)$")


def _same_word(name: str, candidates: list[str]) -> list[str]:
    """A word of which `name` is another form: `tag` of `tags`, `completes` of `complete`."""
    stem = _ENDING.sub("", name)
    return [one for one in candidates if len(stem) > 2 and one != name and _ENDING.sub("", one) == stem][:1]


_OF_EVERY_CALL = frozenset(
    ["mlx5dv", "ibv", "wr", "qp", "ex", "create", "alloc", "init", "new", "make", "add", "set", "attr", "flags", "rdma"]
)
"""Parts of names in C that do not say which call it is."""

_OBJECTS = frozenset(["memory", "mkey", "qp", "dek", "pd", "dct"])


def _of_a_call(name: str, candidates: list[str]) -> list[str]:
    """The word that is part of a call's name: `layout` of `mlx5dv_wr_set_mkey_layout_list`, `dek` of `dek_create`.

    An object's word is meant only if it has no other part: `modify_qp` is no `qp`.
    """
    parts = name.split("_")
    meant = [part for part in parts if part not in _OF_EVERY_CALL]
    short = [one for one in candidates if meant and "_" in one and _abbreviated(meant, one.split("_"))]
    if len(short) == 1:
        return short
    found = [part for part in parts if len(part) > 1 and part in candidates and part not in _OBJECTS]
    if found:
        return found[-1:] if len(parts) > 1 else []
    holding = [one for one in candidates if len(name) > 2 and name in one.split("_")]
    if len(holding) == 1:
        return holding
    begun = [one for one in candidates if any(len(part) > 2 and one.startswith(part) for part in meant)]
    if len(begun) == 1 and len(parts) > 1:
        return begun
    objects = [part for part in parts if part in _OBJECTS and part in candidates]
    return objects if len(objects) == 1 and len(parts) > 1 and _OF_EVERY_CALL.issuperset({*parts} - {*objects}) else []


def _contained(name: str, other: str) -> bool:
    """Whether one is the beginning or the end of the other: `block_sig`, `entries` of `max_entries`."""
    short, long = sorted((name, other), key=len)
    return len(short) > 2 and (long.startswith(short) or long.endswith(short))


def _typing_errors(a: str, b: str) -> int:
    """How many letters are missing, too many, wrong, or changed with their neighbour; a wrong first letter of a short
    word counts twice."""
    above: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            cost = min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, above[j - 2] + 1)
            new.append(cost)
        above, row = row, new
    return row[-1] + (len(a) < 4 and a[0] != b[0])


def id_meant(text: str, known: Iterable[str]) -> str:
    """As `did_you_mean`, of a code or id. Digits in another order come first, since that is a common typing error."""
    ids = sorted(known)
    swapped = [one for one in ids if sorted(one) == sorted(text)]
    if swapped:
        return f"did you mean `{swapped[0]}`?"
    digits = "".join(filter(str.isdigit, text))
    if len(digits) > 2:
        return did_you_mean(text, ids)
    # A short number that no id has is not a typing error of another one.
    return did_you_mean(
        text, [one for one in ids if "".join(filter(str.isdigit, one)).lstrip("0") == digits.lstrip("0")]
    )


def unknown_name(name: str, span: Span, known: Iterable[str], or_text: bool = False, declare: str = "") -> Fault:
    """MKS0202: nothing is called so. `or_text`: it may be meant as a word of the author's own. `declare`: how such a
    name is declared."""
    guess = did_you_mean(name, sorted(known))
    if or_text and not guess:
        guess = f'a word of your own is text: "{name}"'
    if not guess and declare:
        guess = f"declare it above: {declare}"
    return Fault(Diagnostic("MKS0202", f"nothing is called `{name}`", span, help=guess))
