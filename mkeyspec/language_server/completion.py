"""What may be written at a place: of the tables that the compiler reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from mkeyspec.compiler.eval.access import BUT_MEMBERS, LIVE_MEMBERS
from mkeyspec.compiler.eval.builtins import DOCS, WORDS
from mkeyspec.compiler.eval.builtins import KINDS as WORD_KINDS
from mkeyspec.compiler.eval.describe import KIND_NAMES
from mkeyspec.compiler.eval.functions.table import FUNCTIONS
from mkeyspec.compiler.eval.values import Word
from mkeyspec.compiler.forms import WORDS as FORMS
from mkeyspec.compiler.statements.shape import Shape, Slot
from mkeyspec.compiler.warning_levels import warning_codes
from mkeyspec.diagnostics.codes import CODES
from mkeyspec.language_server.context import Context, context_at
from mkeyspec.language_server.declared import Declaration, declarations_before
from mkeyspec.language_server.document import Document
from mkeyspec.language_server.explained import about_function, about_shape, about_word
from mkeyspec.requirements.ledger import departures
from mkeyspec.syntax.labels import LEVELS

Kind = Literal["keyword", "verb", "field", "modifier", "function", "word", "name", "member", "id", "code", "file"]


@dataclass(frozen=True, slots=True)
class Item:
    """`text` takes the place of [start, end) of the text. `detail` is one line, `about` Markdown; `first`: what is
    meant most likely here."""

    label: str
    kind: Kind
    start: int
    end: int
    detail: str = ""
    about: str = ""
    first: bool = False


_HEAD = ("mks", "suite", "use", "allow", "needs", "tags", "level", "let", "setup", "case")
_CASE_HEAD = ("verifies", "needs", "allow", "covering", "isolated", "tags", "level", "setup")
_BODY = ("let", "for", "where", "if", "expect", "peer", "case")
_VALUE_ENDS = frozenset({"NAME", "INT", "STRING", "HEX", "ASCII", "RPAR", "RSQB", "ERRNO"})
_IS_WORD = re.compile(r"\w+")

Found = tuple[str, Kind, str, str, bool]
"""Label, kind, detail, about, first."""


def completions(document: Document, offset: int) -> list[Item]:
    """The items for an offset, in the order in which they should be shown; each label once."""
    context = context_at(document, offset)
    if context is None:
        return []
    end = offset
    word = _IS_WORD.match(document.text.value, offset)
    if word is not None and context.quoted is None:
        end = word.end()
    items: dict[str, Item] = {}
    for label, kind, detail, about, first in _found(document, context, offset):
        if label not in items:
            items[label] = Item(label, kind, context.start, end, detail, about, first)
    return sorted(items.values(), key=lambda item: not item.first)


def _found(document: Document, context: Context, offset: int) -> Iterator[Found]:
    if context.quoted is not None:
        yield from _files(document, context)
        return
    words, last = context.words, context.last
    head = words[0].type if words else ""
    if not words or (len(words) == 1 and head == "PEER"):
        yield from _beginnings(context, peer=bool(words))
    elif head == "VERIFIES":
        for one in document.place.requirements.values():
            yield one.id, "id", one.title, f"{one.statement}\n\n{one.page}", False
    elif last == "KNOWN":
        for departure in departures().values():
            if departure.id.startswith(("X-DIFF", "X-BUG")):
                yield departure.id, "id", departure.statement, "", False
    elif head == "ALLOW" or (head == "NAME" and words[0].value == "allow"):
        for code in sorted(warning_codes()):
            yield code, "code", CODES[code], "", False
    elif head == "NAME" and words[0].value == "level":
        for level in LEVELS:
            yield level, "word", "of a case", "", False
    elif head == "CASE" or (len(words) == 1 and head == "LET") or (head == "FOR" and not _has(words, "IN")):
        return  # a new name
    elif last == "DOT":
        yield from _members(document, words, offset)
    elif last == "BUT":
        for what, members in BUT_MEMBERS.items():
            for member in members:
                yield member, "member", f"of {what}", "", False
        for member in context.shape.but if context.shape is not None else ():
            yield member, "member", f"of `{context.verb}`", "", True
    elif last == "REJECTED" or (last == "NAME" and words[-1].value == "at" and _before(words) == "REJECTED"):
        yield from _phases(context, last)
    elif last == "COMPLETES":
        yield "in any order", "keyword", "completions in any order", "", False
    else:
        yield from _inside(document, context, offset)


def _beginnings(context: Context, peer: bool) -> Iterator[Found]:
    if context.place is None:
        for word in _HEAD:
            yield word, "keyword", FORMS.get(word, ""), "", False
        return
    for shape in context.place.shapes.values():
        if not peer or shape.peer:
            yield shape.name, "verb" if context.is_body else "field", shape.example, about_shape(shape), True
    if context.is_body and not peer:
        for word in (*_BODY, *_CASE_HEAD):
            yield word, "keyword", FORMS.get(word, ""), "", False
    elif not peer:
        yield "if", "keyword", FORMS["if"], "", False


def _phases(context: Context, last: str) -> Iterator[Found]:
    for phase in context.shape.phases if context.shape is not None else ():
        label = f"at {phase}" if last == "REJECTED" else phase
        yield label, "keyword", f"`{context.verb}` may be rejected there", "", True


def _inside(document: Document, context: Context, offset: int) -> Iterator[Found]:
    """In a statement: what may follow a value, or a value."""
    shape, last = context.shape, context.last
    plain = context.depth == 0
    if (
        plain
        and shape is not None
        and last in _VALUE_ENDS | {"RBRACE"}
        and (len(context.words) > 1 or not shape.operand)
    ):
        yield from _after_value(shape, context)
        return
    if plain and shape is not None and last == "COMMA" and context.words[0].type in ("NAME", "PEER"):
        for name, slot in shape.modifiers.items():
            yield name, "modifier", "" if slot is None else slot.what, "", True
        if shape.but:
            yield "but", "keyword", "sets a member wrong on purpose", "", False
    if context.call is not None:
        function = FUNCTIONS.get(context.call.function)
        for parameter in function.parameters if function is not None and not context.call.keyword else ():
            if not parameter.several:
                yield f"{parameter.name}=", "modifier", f"of `{context.call.function}`", "", False
    if last in _VALUE_ENDS and plain and shape is None:
        for word in ("every", "and", "or", "in", "not in", "but", "when", "known"):
            yield word, "keyword", FORMS.get(word, ""), "", False
    yield from _values(document, context, offset)


def _after_value(shape: Shape, context: Context) -> Iterator[Found]:
    said = {word.value for word in context.words}
    for preposition, slot in shape.phrases.items():
        if preposition not in said:
            yield preposition, "keyword", slot.what, "", True
    if shape.phases and context.is_body:
        yield "rejected", "keyword", FORMS["rejected"], "", False
        yield "accepted", "keyword", FORMS["accepted"], "", False
    if shape.completes and context.is_body:
        yield "completes", "keyword", FORMS["completes"], "", False
    if shape.known and context.is_body:
        yield "known", "keyword", FORMS["known"], "", False
    if shape.branch:
        yield "when", "keyword", "when accepted LABEL, or when rejected LABEL", "", False
    for word in ("every", "but"):
        yield word, "keyword", "", "", False


def _values(document: Document, context: Context, offset: int) -> Iterator[Found]:
    wanted = _slot(context)
    for one in declarations_before(document, offset):
        if one.kind in ("setup", "case"):
            continue
        yield one.name, "name", one.line, "", _fits(one, wanted)
    for function in FUNCTIONS.values():
        yield function.name, "function", str(function), about_function(function), False
    for name in WORDS:
        kind, meaning = DOCS[name]
        detail = meaning or KIND_NAMES.get(kind, WORD_KINDS.get(kind, ""))
        yield name, "word", detail, about_word(name), _word_fits(name, wanted, context)


def _slot(context: Context) -> Slot | None:
    """What is wanted after the last word: of the operand, of a preposition, or of a modifier."""
    shape = context.shape
    if shape is None:
        return None
    word = context.words[-1]
    if word.type == "PREP":
        return shape.phrases.get(word.value)
    if word.value == shape.name:
        return shape.operand
    for before in reversed(context.words):
        if before.value in shape.modifiers:
            return shape.modifiers[before.value]
        if before.type == "PREP":
            return shape.phrases.get(before.value)
    return shape.operand


def _fits(one: Declaration, wanted: Slot | None) -> bool:
    if wanted is None:
        return one.kind in ("let", "for")
    what = wanted.what
    if one.kind == "memory":
        return "buffer" in what or "bytes" in what
    return any(name in what.split() for name in (one.kind,)) or f"an {one.kind}" in what


def _word_fits(name: str, wanted: Slot | None, context: Context) -> bool:
    word = WORDS[name]
    if wanted is None or not isinstance(word, Word):
        return False
    kind = KIND_NAMES.get(word.kind, "")
    if word.kind == "op" and context.verb in ("transmit", "receive"):
        return "by" in {one.value for one in context.words[-1:]} and name in _OPS[context.verb]
    return name in _IS_WORD.findall(wanted.what) or (bool(kind) and (kind in wanted.what or wanted.what in kind))


def _operations() -> dict[str, frozenset[str]]:
    from mkeyspec.compiler.eval.builtins import RECEIVE, TRANSMIT

    return {"transmit": frozenset(TRANSMIT), "receive": frozenset(RECEIVE)}


_OPS = _operations()


def _members(document: Document, words: Iterable[object], offset: int) -> Iterator[Found]:
    before = list(words)[-2:-1]
    name = getattr(before[0], "value", "") if before else ""
    if name == "device":
        for member in LIVE_MEMBERS["device"]:
            yield member, "member", "a number that the device reports", "", True
        return
    for one in declarations_before(document, offset):
        if one.name == name:
            for member in one.members:
                yield member, "member", f"of {one.kind} `{name}`", "", True
    for member in ("block", "signature", "length", "start", "end", "wire"):
        yield member, "member", "", "", False


def _files(document: Document, context: Context) -> Iterator[Found]:
    """The files that `use "…"` may name."""
    if not (context.words and context.words[0].value == "use"):
        return
    folder = document.place.path.parent
    above, _, _ = (context.quoted or "").rpartition("/")
    try:
        found = sorted((folder / above).iterdir()) if above else sorted(folder.iterdir())
    except (OSError, ValueError):
        return
    prefix = f"{above}/" if above else ""
    for path in found[:500]:
        if path.suffix == ".mks" and path != document.place.path:
            yield f"{prefix}{path.name}", "file", "", "", True
        elif path.is_dir() and not path.name.startswith("."):
            yield f"{prefix}{path.name}/", "file", "a folder", "", False
    if above in ("", "..") or above.endswith("/.."):
        yield f"{prefix}../", "file", "the folder above", "", False


def _has(words: Iterable[object], kind: str) -> bool:
    return any(getattr(word, "type", "") == kind for word in words)


def _before(words: tuple[object, ...]) -> str:
    return str(getattr(words[-2], "type", "")) if len(words) > 1 else ""
